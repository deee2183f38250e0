/** What the host does to the GPU: work of its own, collecting, waiting for the interpreter, allocating. */
import { formatDuration, plural } from '../../base/units.js';
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import { graphCoverage } from '../gpu/graph-coverage.js';
import { kernelsPerStep } from '../gpu/kernels-per-step.js';
import { allocations } from '../host/allocations.js';
import { gc } from '../host/gc.js';
import { gil } from '../host/gil.js';
import { launchOverhead } from '../host/launch-overhead.js';
import { launchStalls } from '../host/launch-stalls.js';
import { waitsByPhase } from '../host/waits-by-phase.js';
import { type CauseSet, hostBlockers } from '../host-code/host-blockers.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { windowIdle } from '../inference/window-idle.js';
import { formatMean, perStep } from '../words.js';
import { budgetEvidence, idleFinding } from './budget-evidence.js';
import { codeOf, namedCode, triggeredIn } from './code-evidence.js';
import type { Finding } from './finding.js';
import { asFarAsHidden, asFarAsKnown, asFarAsShown } from './host-promise.js';
import { hostWorkInside, insideForward } from './host-work.js';
import { perPhaseStep, perWindow, type Rule, type RuleInput } from './rule.js';
import { graphShare, hostWorkOfLaunches } from './rules-launch.js';

interface Place {
  readonly id: 'host-work-in-step' | 'exposed-host-work';
  readonly ns: number;
  readonly where: string;
  readonly causes: CauseSet;
}

/** Host work by where it is: inside forward passes and between them, each as one finding where it is worth one. */
function places(input: RuleInput, total: PhaseBudget, hostNs: number, inGraphs: boolean): readonly Place[] {
  // A speculative step holds several forward passes: its layers do not tell inside from between.
  const insideNs = total.phase === 'speculative' ? 0 : hostWorkInside(input, total);
  // Replaying the step as a graph removes it together with the launches: that finding speaks for both.
  const stallsNs = insideNs - hostWorkOfLaunches(input, total);
  const betweenNs = hostNs - insideNs;
  const isWorth = (ns: number) => ns >= input.policy.hostShareOfWall * total.wallNs;
  const inside: Place = {
    id: 'host-work-in-step',
    ns: stallsNs,
    where: ' inside the forward pass',
    causes: 'host-work-inside',
  };
  const between = inGraphs ? ' between graph replays' : '';
  if (!isWorth(insideNs))
    return [
      {
        id: 'exposed-host-work',
        ns: hostNs,
        where: between,
        causes: inGraphs ? 'host-work-and-launches' : 'host-work',
      },
    ];
  return [
    inside,
    {
      id: 'exposed-host-work' as const,
      ns: betweenNs,
      where: between || ' between forward passes',
      causes: inGraphs ? ('host-work-and-launches-between' as const) : ('host-work-between' as const),
    },
  ].filter(({ ns }) => isWorth(ns));
}

/** Findings that say what the same time is. */
const BETTER_KNOWN = new Set([
  'cpu-contention',
  'core-migrations',
  'lost-cpu',
  'held-up',
  'graph-captured-again',
]);

const exposedHostWork: Rule = {
  id: 'exposed-host-work',
  about: 'host work the GPU waits for, between or inside forward passes',
  uses: [graphCoverage, windowIdle, kernelsPerStep, launchOverhead, launchStalls, hostBlockers, waitsByPhase],
  look(input) {
    const { policy, phases } = input;
    return phases.flatMap((total): Finding[] => {
      // With graphs, launching is one call: what the GPU waits for between replays is the host's turn.
      const inGraphs = graphShare(input, total) >= 0.5;
      const causes = inGraphs ? [...HOST_CAUSES, 'launch-bound'] : HOST_CAUSES;
      const inside = insideForward(input, total);
      // Gaps inside a replay while its one call is still at it are the price of tracing nodes, not of host work.
      const fed = inGraphs
        ? Math.max(0, (inside['launch-bound'] ?? 0) - (total.recordingByCause?.['launch-bound'] ?? 0))
        : 0;
      const parts = causes
        .map(
          cause => [cause, (total.idleByCause[cause] ?? 0) - (cause === 'launch-bound' ? fed : 0)] as const,
        )
        .filter(([, ns]) => ns > 0);
      const hostNs = parts.reduce((sum, [, ns]) => sum + ns, 0);
      const idleNs = total.idleNs - fed;
      if (hostNs < policy.hostShareOfWall * total.wallNs || hostNs < policy.hostShareOfIdle * idleNs)
        return [];
      parts.sort((a, b) => b[1] - a[1]);
      const label = (id: string) => idleCauses.find(cause => cause.id === id)?.label ?? id;
      const split = parts
        .slice(0, 3)
        .map(([cause, ns]) => `${label(cause)} ${formatDuration(perWindow(total, ns))}`);
      return places(input, total, hostNs, inGraphs).map(({ id, ns, where, causes }) => {
        const code = codeOf(input, total, causes);
        const found = idleFinding(
          id,
          input,
          total,
          ns,
          `The GPU waits ${formatDuration(perWindow(total, ns))} ${perPhaseStep(total.phase)} for host work${where}`,
          [budgetEvidence(total, ns, ns === hostNs ? split.join(', ') : `host work${where}`)],
          // Recorded stacks lengthen exactly this, and a whole trace holds the program's start too.
          input.program.hasStacks || total.phase === null ? 'possible' : 'likely',
        );
        // Code that is known has advice of its own, which removes it; overlapping only hides it.
        const isHidden = id === 'exposed-host-work' && !code?.words.advice.length;
        const hidden = isHidden ? asFarAsHidden(input, total, found) : found;
        return namedCode(asFarAsShown(input, asFarAsKnown(input, total, hidden), code), code);
      });
    });
  },
  alsoGives: ['host-work-in-step'],
  // A thread without a CPU does no work: whoever has its CPU is the reason. A capture is work with a name.
  yieldsTo: (others, own) =>
    others.some(({ id, costNs }) => BETTER_KNOWN.has(id) && (costNs ?? 0) >= (own.costNs ?? 0) / 2),
};

const garbageCollection: Rule = {
  id: 'garbage-collection',
  about: 'Python garbage collections the GPU waits for',
  uses: [gc, hostBlockers],
  look(input) {
    // Stacks show collections too, without their number and generation.
    const rows = input.useIfRecorded(gc)?.rows ?? [];
    const seen = input.phases.some(total => (total.idleByCause['garbage-collection'] ?? 0) > 0);
    if (!seen) input.use(gc);
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
          `The GPU waits for Python garbage collection: ${formatDuration(perWindow(total, ns))} ${perStep(total.phase)}`,
          [
            budgetEvidence(
              total,
              ns,
              rows.length === 0
                ? 'garbage collection'
                : `${formatMean(count)} collections ${perStep(total.phase)}, the longest ${formatDuration(longest)}`,
            ),
            ...triggeredIn(input, total, 'garbage-collection'),
            ...(rows.length === 0
              ? []
              : [{ text: 'collections by generation', analysis: 'gc', rows: rows.map(row => row.key) }]),
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
  uses: [gil, hostBlockers],
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
          `The step thread waits for the GIL while the GPU is idle: ${formatDuration(perWindow(total, ns))} ${perStep(total.phase)}`,
          [
            budgetEvidence(total, ns, `${plural(waiting?.waits ?? 0, 'wait')}${held}`),
            ...triggeredIn(input, total, 'gil'),
            {
              text: `${plural(rows.length, 'thread')} share the GIL`,
              analysis: 'gil',
              rows: rows.map(row => row.key),
            },
          ],
          'certain',
        ),
      ];
    });
  },
};

const keepInPool: Finding['advice'][number] = {
  engine: 'any',
  text: 'keep freed memory in the pool (cudaMemPoolAttrReleaseThreshold), allocate fewer and larger pieces, and reuse them from step to step',
};

const steadyAllocations: Rule = {
  id: 'steady-allocations',
  about: 'memory is allocated or freed while serving',
  uses: [allocations, hostBlockers],
  look(input) {
    const { rows } = input.use(allocations);
    const idleIn = (phase: (typeof input.phases)[number]) => phase.idleByCause.allocation ?? 0;
    const [total] = [...input.phases].sort((a, b) => idleIn(b) - idleIn(a));
    if (!total || rows.length === 0) return [];
    const spentNs = rows.reduce((sum, row) => sum + row.totalNs, 0);
    const idleNs = idleIn(total);
    const wallNs = input.phases.reduce((sum, phase) => sum + phase.wallNs, 0);
    if (spentNs < input.policy.allocationShare * wallNs) return [];
    const count = rows.reduce((sum, row) => sum + row.countPerStep, 0);
    const windows = input.phases.reduce((sum, phase) => sum + phase.windows, 0);
    const inEach = (ns: number) =>
      total.phase === null ? formatDuration(ns) : `${formatDuration(ns / windows)} per step`;
    const found = idleFinding(
      'steady-allocations',
      input,
      total,
      idleNs,
      total.phase === null
        ? `Memory is allocated and freed while the GPU waits: ${plural(Math.round(count), 'call')}`
        : `Memory is allocated in the loop: ${formatMean(count)} ${formatMean(count) === '1' ? 'call' : 'calls'} per step`,
      [
        {
          text: `${inEach(spentNs)} in ${rows.map(row => row.call).join(', ')}; the GPU is idle for ${inEach(idleNs)} of it`,
          numerator: spentNs,
          denominator: wallNs,
          unit: 'ns',
          analysis: 'allocations',
          rows: rows.map(row => row.key),
        },
        ...triggeredIn(input, total, 'allocation'),
      ],
    );
    // Memory of a stream's pool is no matter of the framework's allocator.
    const isPooled = /Async$/.test(rows[0].call);
    return [isPooled ? { ...found, advice: [keepInPool] } : found];
  },
};

export const hostRules: readonly Rule[] = [
  exposedHostWork,
  garbageCollection,
  gilContention,
  steadyAllocations,
];
