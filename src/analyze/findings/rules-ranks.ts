/** What only several ranks show: who makes the others wait in collectives, and who starts late. */
import { NONE } from '../../base/column.js';
import { formatDuration, formatShare, plural } from '../../base/units.js';
import type { Phase } from '../../catalog/phases.js';
import { graphMode } from '../../model/graph-mode.js';
import { clockUncertainty } from '../comm/align-clocks.js';
import { clockLine } from '../comm/describe-ranks.js';
import { type LateArrival, lateArrivals } from '../comm/late-arrivals.js';
import { lateCauseLabel, mainCause } from '../comm/late-words.js';
import { rankPace } from '../comm/rank-pace.js';
import { rankSkew } from '../comm/rank-skew.js';
import { type StageWait, stageWaits } from '../comm/stage-waits.js';
import { stragglerIn } from '../comm/straggler.js';
import { workFamilies } from '../gpu/work-families.js';
import { stepsOf } from '../inference/steps.js';
import { perStep } from '../words.js';
import type { Evidence, Finding } from './finding.js';
import { costing, finding, perWindow, type Rule, type RuleInput } from './rule.js';

/** A rank whose kernels all take this much longer has a slower GPU, not more work. */
const SLOWER_GPU = 1.02;

const waitingForSlowestRank: Rule = {
  id: 'waiting-for-slowest-rank',
  about: 'ranks that wait in collectives for the last one to arrive',
  uses: [lateArrivals, stageWaits, stepsOf, rankPace, workFamilies],
  look(input) {
    const late = input.useIfRecorded(lateArrivals);
    if (!late) return [];
    const { waits } = late;
    const steps = input.useIfRecorded(stepsOf)?.steps ?? [];
    const pace = input.use(rankPace);
    const uncertainNs = clockUncertainty(waits.alignment);
    return input.phases.flatMap((total): Finding[] => {
      const all = late.arrivals.filter(
        ({ step }) => total.phase === null || (step !== NONE && steps[step].facts.phase === total.phase),
      );
      // When profilers began is no wait of the run.
      const own = all.filter(arrival => !arrival.first);
      const sum = (list: readonly LateArrival[]) => list.reduce((ns, { waitedNs }) => ns + waitedNs, 0);
      const { collectives } = waitingOf(input, total.phase);
      const exposedNs = (total.communicationWaitingNs ?? 0) * collectives * (sum(own) / sum(all) || 0);
      if (!(exposedNs > 0 && exposedNs >= input.policy.rankSkew * total.wallNs)) return [];
      // Below what is known of the clocks a wait is not measured.
      if (sum(own) / own.length <= uncertainNs) return [];
      const costNs = perWindow(total, exposedNs);
      // The budget counts the first collective, too: two figures for one wait need a reason.
      const startNs = perWindow(total, (total.communicationWaitingNs ?? 0) * collectives - exposedNs);
      const start =
        formatDuration(costNs) === formatDuration(costNs + startNs)
          ? ''
          : `; ${formatDuration(startNs)} more in the first collective shows only when each profiler began`;
      const straggler = stragglerIn(waits, own)!;
      const mine = own.filter(({ rank }) => waits.calls.ranks[rank].rank === straggler.rank);
      const main = mainCause(mine);
      const place = mine[0]?.rank ?? 0;
      const isSlowGpu = pace[place] >= SLOWER_GPU && main?.cause === 'compute';
      const why = isSlowGpu
        ? `all of its kernels take ${formatShare(pace[place] - 1)} longer than on the other ranks`
        : main && causeWords(main.cause, main.kernel);
      const isOne = straggler.kind === 'persistent';
      const who = `rank ${straggler.rank ?? '?'} causes ${formatShare(straggler.share)} of it`;
      const aloneNs = Math.min(costNs, straggler.aloneNs / Math.max(1, total.steps));
      const evidence: Evidence[] = [
        {
          text: `${formatDuration(costNs)} of ${formatDuration(perWindow(total, total.communicationExposedNs))} exposed communication ${perStep(total.phase)} is before the last rank arrives${start}`,
          numerator: exposedNs,
          denominator: total.communicationExposedNs,
          unit: 'ns',
          analysis: 'step-budget',
        },
        {
          text: `rank ${straggler.rank ?? '?'} is last in ${plural(mine.length, 'collective')} of ${own.length}${why ? `: ${why}` : ''}`,
          numerator: mine.length,
          denominator: own.length,
          analysis: 'rank-skew',
          rows: [`rank:${straggler.rank ?? place}`],
        },
        { text: clockLine(waits), analysis: 'rank-skew' },
      ];
      return [
        finding('waiting-for-slowest-rank', input, {
          claim: `Ranks wait ${formatDuration(costNs)} ${perStep(total.phase)} for the last one to arrive; ${isOne ? who : `no rank is always last (${who})`}`,
          ...(isOne
            ? costing(
                total,
                costNs,
                `if rank ${straggler.rank ?? '?'} arrived with the rank before it; all of it only if every rank arrived at the mean`,
                aloneNs,
              )
            : costing(total, costNs, 'if every rank arrived at the mean of the ranks: an upper bound')),
          confidence: isOne && (main?.cause === 'compute' || isSlowGpu) ? 'likely' : 'possible',
          evidence,
          confirm: 'stepscope analyze FILE --only rank-skew,rank-waits,collectives',
        }),
      ];
    });

    function causeWords(cause: LateArrival['cause'], kernel: number): string {
      const label = lateCauseLabel(cause);
      return kernel === NONE
        ? label
        : `${label}, most of all ${input.use(workFamilies).classOf(kernel).shortName}`;
    }
  },
};

/** Of a phase's waiting: the part in collectives, the part for messages of a single rank, and those waits. */
function waitingOf(input: RuleInput, phase: Phase | null) {
  const steps = input.useIfRecorded(stepsOf)?.steps ?? [];
  const isOf = ({ step }: { readonly step: number }) =>
    phase === null || (step !== NONE && steps[step].facts.phase === phase);
  const late = input.useIfRecorded(lateArrivals);
  const stages = (input.useIfRecorded(stageWaits) ?? []).filter(isOf);
  const transfersNs = stages.reduce((sum, { ns }) => sum + ns, 0);
  let collectivesNs = 0;
  for (const arrival of late?.arrivals ?? [])
    if (isOf(arrival))
      for (const call of arrival.collective.calls) collectivesNs += late!.waits.waitingNs[call];
  const all = collectivesNs + transfersNs;
  return {
    collectives: all > 0 ? collectivesNs / all : 0,
    transfers: all > 0 ? transfersNs / all : 0,
    stages,
  };
}

const pipelineWaiting: Rule = {
  id: 'pipeline-waiting',
  about: 'pipeline stages that wait for the message of another stage',
  uses: [lateArrivals, stageWaits, stepsOf],
  look(input) {
    return input.phases.flatMap((total): Finding[] => {
      const { transfers, stages } = waitingOf(input, total.phase);
      const exposedNs = (total.communicationWaitingNs ?? 0) * transfers;
      if (!(exposedNs > 0 && exposedNs >= input.policy.rankSkew * total.wallNs)) return [];
      const costNs = perWindow(total, exposedNs);
      const byPair = new Map<string, { waits: StageWait; ns: number; count: number }>();
      for (const wait of stages) {
        const pair = `${wait.waits}/${wait.for}`;
        const own = byPair.get(pair) ?? { waits: wait, ns: 0, count: 0 };
        own.ns += wait.ns;
        own.count++;
        byPair.set(pair, own);
      }
      const [most] = [...byPair.values()].sort((a, b) => b.ns - a.ns);
      const allNs = stages.reduce((sum, { ns }) => sum + ns, 0);
      return [
        finding('pipeline-waiting', input, {
          claim: `Pipeline stages wait ${formatDuration(costNs)} ${perStep(total.phase)} for the message of another stage; rank ${most.waits.waits} waits longest, for rank ${most.waits.for}`,
          ...costing(
            total,
            costNs,
            'if another batch filled all of it: an upper bound, as the first stage always works alone at first',
          ),
          confidence: 'possible',
          evidence: [
            {
              text: `${formatDuration(costNs)} of ${formatDuration(perWindow(total, total.communicationExposedNs))} exposed communication ${perStep(total.phase)} is before the message is sent`,
              numerator: exposedNs,
              denominator: total.communicationExposedNs,
              unit: 'ns',
              analysis: 'step-budget',
            },
            {
              text: `rank ${most.waits.waits} waits for rank ${most.waits.for} in ${plural(most.count, 'message')}: ${formatShare(most.ns / allNs)} of all waiting between stages`,
              numerator: most.ns,
              denominator: allNs,
              unit: 'ns',
              analysis: 'collectives',
            },
          ],
          confirm: 'stepscope analyze rank*.json.gz --only collectives,step-budget',
        }),
      ];
    });
  },
};

/** Steps in which a rank must be seen before it can be called late. */
const FEWEST_TO_BE_LATE = 3;

const rankSkewRule: Rule = {
  id: 'rank-skew',
  about: 'a rank that starts late and makes the others wait',
  uses: [rankSkew],
  look(input) {
    const { rows, summary, waits } = input.use(rankSkew);
    const [total] = input.phases;
    const skewNs = summary?.medianStartSkewNs as number | null;
    // Waits that were measured say it better than starts.
    if (!total || skewNs === null || waits) return [];
    const wallNs = perWindow(total, total.wallNs);
    if (skewNs < input.policy.rankSkew * wallNs) return [];
    // Profilers of ranks begin at different times: a first step tells that, and so does more than a step.
    if (rows.every(row => row.steps < FEWEST_TO_BE_LATE) || skewNs >= wallNs) return [];
    // Ranks that never talk in a step (copies of one server) do not wait for each other.
    const talks = graphMode(input.profile) === 'blocks' || rows.some(row => (row.communicationNs ?? 0) > 0);
    if (!talks) return [];
    const latest = [...rows].sort((a, b) => b.lastToStart - a.lastToStart)[0];
    return [
      finding('rank-skew', input, {
        claim: `Ranks start a step ${formatDuration(skewNs)} apart; rank ${latest.rank ?? '?'} is last in ${latest.lastToStart} of ${plural(latest.steps, 'step')}`,
        ...costing(total, skewNs, 'if the first rank did not wait for the last: an upper bound'),
        confidence: 'possible',
        evidence: [
          {
            text: 'median over steps of last start minus first start',
            numerator: skewNs,
            denominator: wallNs,
            unit: 'ns',
            analysis: 'rank-skew',
            rows: [latest.key],
          },
        ],
        confirm: 'stepscope analyze FILE --only rank-skew',
      }),
    ];
  },
};

export const rankRules: readonly Rule[] = [waitingForSlowestRank, pipelineWaiting, rankSkewRule];
