/** What only shows across steps and ranks: graphs that miss some, prefill in the way, slow steps, waiting for others. */

import { formatDuration, formatShare, plural } from '../../base/units.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import { medianOf, summarize } from '../../stats/summary.js';
import { iterations } from '../inference/iterations.js';
import { stepBudget } from '../inference/step-budget.js';
import { stepsOf } from '../inference/steps.js';
import { perStep } from '../words.js';
import type { Finding } from './finding.js';
import { capital, costing, finding, perWindow, phaseName, type Rule } from './rule.js';

const exposedCommunication: Rule = {
  id: 'exposed-communication',
  about: 'communication that compute does not hide',
  uses: [],
  look(input) {
    return input.phases.flatMap((total): Finding[] => {
      // Waiting for a late rank is another finding: hiding or fusing transfers does not shorten it.
      const waitingNs = total.communicationWaitingNs ?? 0;
      const ns = total.communicationExposedNs - waitingNs;
      if (ns < input.policy.exposedCommunication * total.wallNs) return [];
      const all = total.communicationExposedNs + total.communicationHiddenNs;
      const costNs = perWindow(total, ns);
      const { distributed, ranks } = input.profile.capture;
      // A kernel that reduces over ranks runs until the last of them came; without the others the two are one.
      const isPart = (distributed?.worldSize ?? 1) > Math.max(1, ranks.length);
      const what = isPart ? 'communication or other ranks' : 'communication';
      return [
        finding('exposed-communication', input, {
          claim: `${capital(phaseName(total.phase))} waits for ${what}: ${formatDuration(costNs)} ${perStep(total.phase)} is exposed`,
          ...costing(
            total,
            costNs,
            waitingNs > 0
              ? 'if compute hides all of it: an upper bound; waiting for late ranks is not in it'
              : 'if compute hides all of it: an upper bound; part of it may be waiting for a late rank',
          ),
          // Most of it may be the time until the other ranks came, which nothing on this rank shortens.
          ...(isPart ? { gain: null } : {}),
          confidence: 'possible',
          evidence: [
            {
              text: `${formatDuration(costNs)} of ${formatDuration(perWindow(total, all))} communication ${perStep(total.phase)} is exposed${waitingNs > 0 ? ' and transfers' : ''}`,
              numerator: ns,
              denominator: all,
              unit: 'ns',
              analysis: 'step-budget',
            },
          ],
          confirm: 'stepscope analyze FILE --only rank-skew,stream-overlap',
        }),
      ];
    });
  },
};

const prefillBlocksDecode: Rule = {
  id: 'prefill-blocks-decode',
  about: 'prefill steps that make decoding requests wait',
  uses: [iterations],
  look(input) {
    const rows = input.use(iterations).rows.filter(row => row.selected);
    const walls = (phases: readonly string[]) =>
      rows.filter(row => phases.includes(row.phase)).map(row => row.wallNs);
    const decode = walls(['decode', 'speculative']);
    const prefill = rows.filter(row => row.phase === 'prefill' || row.phase === 'mixed');
    if (decode.length === 0 || prefill.length === 0) return [];
    const typical = summarize(Float64Array.from(decode)).median;
    // Only prefill that comes between decode steps keeps anyone waiting.
    const first = rows.findIndex(row => row.phase === 'decode' || row.phase === 'speculative');
    const last = rows.findLastIndex(row => row.phase === 'decode' || row.phase === 'speculative');
    const between = prefill.filter(row => rows.indexOf(row) > first && rows.indexOf(row) < last);
    const blocking = between.filter(row => row.wallNs >= input.policy.prefillBlocks * typical);
    if (blocking.length === 0) return [];
    const longest = blocking.reduce((most, row) => Math.max(most, row.wallNs), 0);
    const extra = blocking.reduce((sum, row) => sum + row.wallNs - typical, 0);
    const wallNs = rows.reduce((sum, row) => sum + row.wallNs, 0);
    return [
      finding('prefill-blocks-decode', input, {
        claim: `Decoding requests wait up to ${formatDuration(longest)} behind prefill, ${(longest / typical).toFixed(1)} times a decode step`,
        phase: 'prefill',
        costNs: extra / rows.length,
        costShare: extra / wallNs,
        gain: null,
        confidence: 'likely',
        evidence: [
          {
            text: `${plural(blocking.length, 'prefill step')} between decode steps of ${formatDuration(typical)}`,
            numerator: extra,
            denominator: wallNs,
            unit: 'ns',
            analysis: 'iterations',
            rows: blocking.slice(0, 10).map(row => row.key),
          },
        ],
        confirm: 'stepscope steps FILE',
      }),
    ];
  },
};

/** Steps of one kind launch the same kernels, but for some variants. */
const OTHER_WORK = 0.1;
const MORE_COMPUTE = 'more compute';

const stepJitter: Rule = {
  id: 'step-jitter',
  about: 'steps much slower than the others, with their cause',
  uses: [iterations, stepBudget, stepsOf],
  look(input) {
    const [first, ...rest] = input.use(iterations).rows;
    const rows = [first, ...rest].filter(row => row?.selected);
    const budgets = input.use(stepBudget).rows;
    return input.phases.flatMap((total): Finding[] => {
      const own = rows.filter(row => row.phase === total.phase);
      if (own.length < 8) return [];
      const sorted = own.map(row => row.wallNs).sort((a, b) => a - b);
      const median = sorted[sorted.length >> 1];
      const usual = medianOf(Float64Array.from(own, row => row.kernels ?? 0));
      // The first one recorded has the profiler's start in it, and a remark of its own. A step with other kernels (a
      // prompt, an encoder) is another kind of step, not a slow one.
      const slow = own.filter(
        row =>
          row.wallNs > input.policy.jitter * median &&
          row !== first &&
          Math.abs((row.kernels ?? usual) - usual) <= OTHER_WORK * usual,
      );
      if (slow.length === 0 || slow.length > own.length / 4) return [];
      const lostNs = slow.reduce((sum, row) => sum + row.wallNs - median, 0);
      const cause = slowCause(slow.map(row => row.key));
      // The same kernels over more tokens: a prompt among steps whose phase nobody knows.
      if (total.phase === 'unknown' && cause === MORE_COMPUTE) return [];
      return [
        finding('step-jitter', input, {
          claim: `${plural(slow.length, 'step')} of ${own.length} ${slow.length === 1 ? 'takes' : 'take'} over ${input.policy.jitter} times the median of ${formatDuration(median)}${cause ? `: ${cause}` : ''}`,
          ...costing(total, lostNs / own.length, 'if these steps took the median time'),
          confidence: input.use(stepsOf)?.confidence === 'guess' ? 'possible' : 'likely',
          evidence: [
            {
              text: `iterations ${slow
                .slice(0, 6)
                .map(row => row.iteration)
                .join(', ')}${slow.length > 6 ? ' …' : ''}`,
              numerator: slow.length,
              denominator: own.length,
              unit: 'steps',
              analysis: 'iterations',
              rows: slow.slice(0, 20).map(row => row.key),
            },
          ],
          confirm: `stepscope analyze FILE --iterations ${slow[0].iteration} --only step-budget,idle-gaps`,
        }),
      ];
    });

    /** The part of the budget that grew most against the other steps. */
    function slowCause(keys: readonly string[]): string | undefined {
      const isSlow = (key: string) => keys.includes(key.split('/')[0]);
      const mean = (slow: boolean, of: (row: (typeof budgets)[number]) => number) => {
        const list = budgets.filter(row => isSlow(row.key) === slow);
        return list.length === 0 ? 0 : list.reduce((sum, row) => sum + of(row), 0) / list.length;
      };
      const parts: [string, (row: (typeof budgets)[number]) => number][] = [
        [MORE_COMPUTE, row => row.computeNs],
        ['more exposed communication', row => row.communicationExposedNs],
        ['more copies', row => row.copyExposedNs],
        ...idleCauses.map(({ id, label }): [string, (row: (typeof budgets)[number]) => number] => [
          label,
          row => row.idleByCause[id] ?? 0,
        ]),
      ];
      const grown = parts.map(([label, of]) => ({ label, ns: mean(true, of) - mean(false, of) }));
      grown.sort((a, b) => b.ns - a.ns);
      return grown[0].ns > 0 ? grown[0].label : undefined;
    }
  },
};

const graphPadding: Rule = {
  id: 'graph-padding',
  about: 'batches padded to the size of a captured graph',
  uses: [stepsOf, iterations],
  look(input) {
    const steps = input.use(stepsOf)?.steps ?? [];
    const padded = steps.flatMap(({ facts }) =>
      facts.paddedRequests !== undefined && facts.generationRequests !== undefined ? [facts] : [],
    );
    const [total] = input.phases;
    if (padded.length === 0 || !total) return [];
    const slots = padded.reduce((sum, facts) => sum + facts.paddedRequests!, 0);
    const waste =
      padded.reduce((sum, facts) => sum + facts.paddedRequests! - facts.generationRequests!, 0) / slots;
    if (waste < 0.1) return [];
    const busyNs = perWindow(total, total.computeNs) * waste;
    return [
      finding('graph-padding', input, {
        claim: `${formatShare(waste)} of the batch slots in replayed graphs are padding`,
        ...costing(
          total,
          busyNs,
          'if work scales with the batch: an upper bound, because small batches are bound by weight reads',
        ),
        confidence: 'possible',
        evidence: [
          {
            text: `${plural(padded.length, 'step')} with ${slots} slots`,
            numerator: waste * slots,
            denominator: slots,
            analysis: 'iterations',
          },
        ],
        confirm: 'stepscope steps FILE',
      }),
    ];
  },
};

export const stepRules: readonly Rule[] = [
  exposedCommunication,
  prefillBlocksDecode,
  stepJitter,
  graphPadding,
];
