/** What the host does to the GPU: launching, waiting, collecting, allocating, copying. */
import { formatBytes, formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import { graphCoverage } from '../gpu/graph-coverage.js';
import { kernelsPerStep } from '../gpu/kernels-per-step.js';
import { memoryOperations } from '../gpu/memory-operations.js';
import { allocations } from '../host/allocations.js';
import { gc } from '../host/gc.js';
import { gil } from '../host/gil.js';
import { launchOverhead } from '../host/launch-overhead.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import type { Finding } from './finding.js';
import {
  anyOf,
  costing,
  finding,
  perWindow,
  phaseName,
  type Rule,
  type RuleInput,
  stepWord,
} from './rule.js';

/** Share of a phase's GPU time that runs from graphs; 0 where it cannot be told. */
function coverage({ useIfRecorded }: RuleInput, { phase }: PhaseBudget): number {
  return useIfRecorded(graphCoverage)?.rows.find(row => row.phase === phase)?.timeShare ?? 0;
}

/** A finding about one cause of idle: all of it would go. */
function idleFinding(
  id: string,
  input: RuleInput,
  total: PhaseBudget,
  causeNs: number,
  claim: string,
  evidence: Finding['evidence'],
  confidence: Finding['confidence'] = 'likely',
): Finding {
  const costNs = perWindow(total, causeNs);
  return finding(id, input, {
    claim,
    ...costing(total, costNs, 'the idle time of this cause would go, everything else stays'),
    confidence,
    evidence,
    confirm: `stepscope analyze FILE --only idle-gaps${total.phase ? ` --phase ${total.phase}` : ''}`,
  });
}

const budgetEvidence = (total: PhaseBudget, causeNs: number, what: string): Finding['evidence'][number] => ({
  text: `${formatDuration(perWindow(total, causeNs))} of ${formatDuration(perWindow(total, total.wallNs))} per step: ${what}`,
  numerator: causeNs,
  denominator: total.wallNs,
  unit: 'ns',
  analysis: 'step-budget',
});

const launchOverheadRule: Rule = {
  id: 'launch-overhead',
  about: 'many short kernels launched one by one while the GPU waits, without CUDA graphs',
  uses: [graphCoverage, kernelsPerStep, launchOverhead],
  look(input) {
    const { policy, phases, useIfRecorded } = input;
    return phases.flatMap((total): Finding[] => {
      const boundNs = total.idleByCause['launch-bound'] ?? 0;
      const covered = coverage(input, total);
      if (boundNs < policy.launchShare * total.wallNs || covered >= 0.5) return [];
      const counts = useIfRecorded(kernelsPerStep)?.rows.find(row => row.phase === total.phase);
      const calls = useIfRecorded(launchOverhead)?.rows.find(
        row => row.phase === total.phase && /LaunchKernel/.test(row.call),
      );
      const kernels = counts?.kernels ?? 0;
      const wallNs = perWindow(total, total.wallNs);
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      const otherIdleNs = perWindow(total, total.idleNs - boundNs);
      // With a graph the host launches once: node after node on the GPU, and one launch that grows with the nodes.
      const withGraph =
        busyNs + otherIdleNs + kernels * (policy.graphNodeGapNs + policy.graphLaunchPerNodeNs);
      const savedNs = Math.max(0, wallNs - withGraph);
      const isDecode = total.phase !== 'prefill';
      return [
        finding(isDecode ? 'launch-overhead' : 'prefill-launches', input, {
          claim: `${formatCount(Math.round(kernels))} kernels launched one by one${isDecode && covered < 0.05 ? ', no CUDA graphs' : ''} in ${phaseName(total.phase)}`,
          ...costing(
            total,
            perWindow(total, boundNs),
            `step as one graph: GPU work ${formatDuration(busyNs)}, other idle ${formatDuration(otherIdleNs)}, ${policy.graphNodeGapNs + policy.graphLaunchPerNodeNs} ns per node`,
            savedNs,
          ),
          confidence: isDecode ? 'certain' : 'possible',
          evidence: [
            ...(calls
              ? [
                  {
                    text: `${calls.call} takes ${formatDuration(calls.medianNs)}, kernels run ${formatDuration(counts?.meanKernelNs ?? Number.NaN)} on average; ${formatShare(covered)} of GPU time is in graphs`,
                    numerator: calls.totalNs,
                    denominator: total.wallNs,
                    unit: 'ns' as const,
                    analysis: 'launch-overhead',
                    rows: [calls.key],
                  },
                ]
              : []),
            budgetEvidence(total, boundNs, 'the GPU waits for launches'),
          ],
          confirm: 'stepscope analyze FILE --only launch-overhead,graph-coverage',
        }),
      ];
    });
  },
};

const HOST_CAUSES = [
  'host-code',
  'sampling',
  'scheduling',
  'request-handling',
  'input-preparation',
  'os-call',
];

const exposedHostWork: Rule = {
  id: 'exposed-host-work',
  about: 'host work between steps that the GPU waits for',
  uses: [graphCoverage],
  look(input) {
    const { policy, phases } = input;
    return phases.flatMap((total): Finding[] => {
      // With graphs, launching is one call: what the GPU waits for between replays is the host's turn.
      const inGraphs = coverage(input, total) >= 0.5;
      const causes = inGraphs ? [...HOST_CAUSES, 'launch-bound'] : HOST_CAUSES;
      const parts = causes
        .map(cause => [cause, total.idleByCause[cause] ?? 0] as const)
        .filter(([, ns]) => ns > 0);
      const hostNs = parts.reduce((sum, [, ns]) => sum + ns, 0);
      if (hostNs < policy.hostShareOfWall * total.wallNs || hostNs < policy.hostShareOfIdle * total.idleNs)
        return [];
      parts.sort((a, b) => b[1] - a[1]);
      const label = (id: string) => idleCauses.find(cause => cause.id === id)?.label ?? id;
      const split = parts
        .slice(0, 3)
        .map(([cause, ns]) => `${label(cause)} ${formatDuration(perWindow(total, ns))}`);
      return [
        idleFinding(
          'exposed-host-work',
          input,
          total,
          hostNs,
          `The GPU waits ${formatDuration(perWindow(total, hostNs))} per ${stepWord(total.phase)} for host work${inGraphs ? ' between graph replays' : ''}`,
          [budgetEvidence(total, hostNs, split.join(', '))],
        ),
      ];
    });
  },
};

const syncInDecode: Rule = {
  id: 'sync-in-decode',
  about: 'calls in the loop that wait for the GPU',
  uses: [],
  look(input) {
    return input.phases.flatMap((total): Finding[] => {
      const ns = total.idleByCause.synchronisation ?? 0;
      if (ns < input.policy.syncShare * total.wallNs) return [];
      const claim = `Results are read back synchronously in ${phaseName(total.phase)}`;
      return [
        idleFinding('sync-in-decode', input, total, ns, claim, [
          budgetEvidence(total, ns, 'waking up after waiting for the GPU'),
        ]),
      ];
    });
  },
};

const garbageCollection: Rule = {
  id: 'garbage-collection',
  about: 'Python garbage collections that the GPU waits for',
  uses: [gc],
  look(input) {
    const { rows } = input.use(gc);
    return input.phases.flatMap((total): Finding[] => {
      const ns = total.idleByCause['garbage-collection'] ?? 0;
      if (ns < input.policy.gcShare * total.wallNs) return [];
      const longest = rows.reduce((most, row) => Math.max(most, row.longestNs), 0);
      const count = rows.reduce((sum, row) => sum + row.countPerStep, 0);
      return [
        idleFinding(
          'garbage-collection',
          input,
          total,
          ns,
          `Python collects garbage while the GPU waits: ${formatDuration(perWindow(total, ns))} per step`,
          [
            budgetEvidence(
              total,
              ns,
              `${count < 10 ? count.toFixed(1) : formatCount(Math.round(count))} collections per step, the longest ${formatDuration(longest)}`,
            ),
            { text: 'collections by generation', analysis: 'gc', rows: rows.map(row => row.key) },
          ],
          'certain',
        ),
      ];
    });
  },
};

const gilContention: Rule = {
  id: 'gil-contention',
  about: 'the launching thread waits for the Python GIL',
  uses: [gil],
  look(input) {
    const { rows } = input.use(gil);
    return input.phases.flatMap((total): Finding[] => {
      const ns = total.idleByCause.gil ?? 0;
      if (ns < input.policy.gilShare * total.wallNs) return [];
      const waiting = rows.find(row => row.runsSteps);
      const holder = [...rows].filter(row => !row.runsSteps).sort((a, b) => b.holdNs - a.holdNs)[0];
      const held = holder
        ? `; thread ${holder.thread} (${holder.tid}) holds it for ${formatDuration(holder.holdNs)}`
        : '';
      return [
        idleFinding(
          'gil-contention',
          input,
          total,
          ns,
          `The step thread waits for the GIL while the GPU is idle: ${formatDuration(perWindow(total, ns))} per step`,
          [
            budgetEvidence(total, ns, `${plural(waiting?.waits ?? 0, 'wait')}${held}`),
            { text: 'waits and holds by thread', analysis: 'gil', rows: rows.map(row => row.key) },
          ],
          'certain',
        ),
      ];
    });
  },
};

const steadyAllocations: Rule = {
  id: 'steady-allocations',
  about: 'memory is allocated or freed while serving',
  uses: [allocations],
  look(input) {
    const { rows } = input.use(allocations);
    const [total] = input.phases;
    if (!total || rows.length === 0) return [];
    const spentNs = rows.reduce((sum, row) => sum + row.totalNs, 0);
    const idleNs = input.phases.reduce((sum, phase) => sum + (phase.idleByCause.allocation ?? 0), 0);
    const wallNs = input.phases.reduce((sum, phase) => sum + phase.wallNs, 0);
    if (spentNs < input.policy.allocationShare * wallNs) return [];
    const count = rows.reduce((sum, row) => sum + row.countPerStep, 0);
    return [
      idleFinding(
        'steady-allocations',
        input,
        total,
        idleNs,
        `Memory is allocated in the loop: ${formatCount(Number(count.toFixed(1)))} calls per step`,
        [
          {
            text: `${formatDuration(spentNs)} in ${rows.map(row => row.call).join(', ')}; the GPU is idle in ${formatDuration(idleNs)} of it`,
            numerator: spentNs,
            denominator: wallNs,
            unit: 'ns',
            analysis: 'allocations',
            rows: rows.map(row => row.key),
          },
        ],
      ),
    ];
  },
};

const hostCopies: Rule = {
  id: 'pageable-copies',
  about: 'copies through pageable memory, and many tiny copies from the host',
  yieldsTo: anyOf('tiny-copies'),
  uses: [memoryOperations],
  look(input) {
    const { rows } = input.use(memoryOperations);
    return input.phases.flatMap((total): Finding[] => {
      const own = rows.filter(row => row.phase === total.phase);
      const pageable = own.filter(row => row.operation === 'Host-to-Device' && row.from === 'Pageable');
      const tiny = own.filter(
        row => row.operation === 'Host-to-Device' && row.medianBytes < input.policy.tinyCopyBytes,
      );
      const tinyCount = tiny.reduce((sum, row) => sum + row.countPerStep, 0);
      const cost = (list: typeof own) => list.reduce((sum, row) => sum + row.totalNs, 0);
      const claim = (id: string, text: string, list: typeof own) =>
        finding(id, input, {
          claim: text,
          ...costing(
            total,
            perWindow(total, cost(list)),
            'the time of these copies on the GPU would be hidden; what the host waits for them is counted elsewhere',
          ),
          confidence: 'possible',
          evidence: list.map(row => ({
            text: `${formatCount(Number(row.countPerStep.toFixed(1)))} per step from ${row.from ?? 'host'} memory, ${formatBytes(row.medianBytes)} each`,
            numerator: row.bytes,
            denominator: row.count,
            unit: 'bytes' as const,
            analysis: 'memory-operations',
            rows: [row.key],
          })),
          confirm: 'stepscope analyze FILE --only memory-operations',
        });
      const pageableCount = pageable.reduce((sum, row) => sum + row.countPerStep, 0);
      return [
        ...(tinyCount >= input.policy.tinyCopiesPerStep
          ? [
              claim(
                'tiny-copies',
                `${formatCount(Math.round(tinyCount))} tiny copies to the GPU per step of ${phaseName(total.phase)}`,
                tiny,
              ),
            ]
          : []),
        ...(pageableCount >= 1
          ? [
              claim(
                'pageable-copies',
                `Inputs are copied from pageable memory in ${phaseName(total.phase)}: the host waits for each`,
                pageable,
              ),
            ]
          : []),
      ];
    });
  },
};

export const hostRules: readonly Rule[] = [
  launchOverheadRule,
  exposedHostWork,
  syncInDecode,
  garbageCollection,
  gilContention,
  steadyAllocations,
  hostCopies,
];
