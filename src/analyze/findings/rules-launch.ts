/** Launching: kernels one by one, calls that stall, and graphs that leave a part of decode outside. */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import { adviceOn } from '../../catalog/advice.js';
import { graphCoverage } from '../gpu/graph-coverage.js';
import { type GraphGaps, graphGaps } from '../gpu/graph-gaps.js';
import { kernelsPerStep } from '../gpu/kernels-per-step.js';
import { blockingCalls } from '../host/blocking-calls.js';
import { launchOverhead } from '../host/launch-overhead.js';
import { type LaunchStall, launchStalls } from '../host/launch-stalls.js';
import { hostBlockers } from '../host-code/host-blockers.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { iterations } from '../inference/iterations.js';
import { stepsOf } from '../inference/steps.js';
import { windowIdle } from '../inference/window-idle.js';
import { graphWord, type ProfiledProgram } from '../program.js';
import { formatMean } from '../words.js';
import { budgetEvidence } from './budget-evidence.js';
import { triggeredIn } from './code-evidence.js';
import type { Finding } from './finding.js';
import { hostStallsInside, hostWorkInside, insideForward } from './host-work.js';
import { anyOf, capital, costing, finding, perWindow, phaseName, type Rule, type RuleInput } from './rule.js';

/** Share of a phase's GPU time that runs from graphs; 0 where it cannot be told. */
export function graphShare({ useIfRecorded }: RuleInput, { phase }: PhaseBudget): number {
  return useIfRecorded(graphCoverage)?.rows.find(row => row.phase === phase)?.timeShare ?? 0;
}

const stallsOf = ({ useIfRecorded }: RuleInput, { phase }: PhaseBudget): readonly LaunchStall[] =>
  (useIfRecorded(launchStalls) ?? []).filter(stall => stall.phase === phase);

const idleIn = (stalls: readonly LaunchStall[]) => stalls.reduce((sum, { idleNs }) => sum + idleNs, 0);

/** Kernels launched one by one, per step; in all where there are no steps. */
function launchedKernels({ useIfRecorded }: RuleInput, { phase }: PhaseBudget): number {
  const counted = useIfRecorded(kernelsPerStep)?.rows.find(row => row.phase === phase);
  if (counted) return counted.kernels;
  const rows = (useIfRecorded(launchOverhead)?.rows ?? []).filter(row => row.phase === phase);
  return rows
    .filter(row => /LaunchKernel/.test(row.call))
    .reduce((sum, row) => sum + (phase === null ? row.calls : row.callsPerStep), 0);
}

/** Steps told by repeating kernels may be single layers: then the step has several times the launches. */
const mayBeLayers = ({ useIfRecorded }: RuleInput) => useIfRecorded(stepsOf)?.method === 'kernel-sequence';
const FEW_LAUNCHES = 3;

/** Idle time that many calls cause, one kernel each; 0 where launching is not what holds the phase up. */
function launchBoundNs(input: RuleInput, total: PhaseBudget): number {
  // One call that stalls is another matter than many calls.
  const boundNs = Math.max(0, (total.idleByCause['launch-bound'] ?? 0) - idleIn(stallsOf(input, total)));
  const { policy, program } = input;
  const isOurs =
    !program.capturesGraph &&
    boundNs >= policy.launchShare * total.wallNs &&
    graphShare(input, total) < 0.5 &&
    launchedKernels(input, total) >= (mayBeLayers(input) ? FEW_LAUNCHES : policy.manyLaunches);
  return isOurs ? boundNs : 0;
}

/**
 * Host work inside forward passes that goes with the launches, as far as launching holds the phase up: a replay leaves
 * none of it. Single places that hold the host up longer than all launches are the cause, and no part of another.
 */
export function hostWorkOfLaunches(input: RuleInput, total: PhaseBudget): number {
  const boundNs = launchBoundNs(input, total);
  if (boundNs === 0) return 0;
  const insideNs = hostWorkInside(input, total);
  const stallsNs = hostStallsInside(input, total, launchedKernels(input, total));
  return stallsNs > boundNs + insideNs - stallsNs ? insideNs - stallsNs : insideNs;
}

/** The part of the launch-bound idle time that lies inside forward passes; all of it where the file does not show them. */
function launchesInside(input: RuleInput, total: PhaseBudget, boundNs: number): number {
  const profiledNs = insideForward(input, total)['launch-bound'];
  const all = total.idleByCause['launch-bound'] ?? 0;
  if (profiledNs === undefined || all === 0) return boundNs;
  const inside = profiledNs / (all + (total.recordingByCause?.['launch-bound'] ?? 0));
  return boundNs * Math.min(1, inside);
}

const launchOverheadRule: Rule = {
  id: 'launch-overhead',
  about: 'many short kernels launched one by one while the GPU waits, without graphs',
  uses: [
    graphCoverage,
    windowIdle,
    kernelsPerStep,
    launchOverhead,
    launchStalls,
    hostBlockers,
    blockingCalls,
    stepsOf,
  ],
  look(input) {
    const { policy, phases, useIfRecorded, program } = input;
    return phases.flatMap((total): Finding[] => {
      const boundNs = launchBoundNs(input, total);
      if (boundNs === 0) return [];
      const covered = graphShare(input, total);
      const kernels = launchedKernels(input, total);
      const calls = useIfRecorded(launchOverhead)?.rows.find(
        row => row.phase === total.phase && /LaunchKernel/.test(row.call),
      );
      const meanKernelNs = useIfRecorded(kernelsPerStep)?.rows.find(
        row => row.phase === total.phase,
      )?.meanKernelNs;
      const wallNs = perWindow(total, total.wallNs);
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      const insideNs = hostWorkOfLaunches(input, total);
      // Engines leave the launches before and behind the forward pass (inputs, sampling) outside their graphs.
      const removableNs = launchesInside(input, total, boundNs);
      const otherIdleNs = perWindow(total, total.idleNs - removableNs - insideNs);
      // With a graph the host launches once: node after node on the GPU, and one launch that grows with the nodes.
      const withGraph =
        busyNs + otherIdleNs + kernels * (policy.graphNodeGapNs + policy.graphLaunchPerNodeNs);
      const savedNs = Math.max(0, wallNs - withGraph);
      const isPrefill = total.phase === 'prefill';
      const without = !isPrefill && covered < 0.05 ? `, no ${graphWord(program.isAmd)}` : '';
      const waits = waitsInStep(input);
      const found = finding(isPrefill ? 'prefill-launches' : 'launch-overhead', input, {
        claim: `${capital(phaseName(total.phase))} is launch-bound: ${formatCount(Math.round(kernels))} kernel launches${without}`,
        ...costing(
          total,
          perWindow(total, boundNs + insideNs),
          `if the forward pass runs as one graph: GPU work ${formatDuration(busyNs)}, other idle time ${formatDuration(otherIdleNs)}, ${formatDuration(policy.graphNodeGapNs + policy.graphLaunchPerNodeNs)} per node`,
          savedNs,
        ),
        // A decode step is known to repeat; whether anything else can be replayed, a profile does not show. The gain is
        // a prediction, never certain.
        confidence: total.phase === 'decode' && waits === 0 ? 'likely' : 'possible',
        evidence: [
          ...(calls
            ? [
                {
                  text: `${formatShare(covered)} of GPU time is in graphs; kernels run ${formatDuration(meanKernelNs ?? calls.operationMeanNs)} on average, ${calls.call} takes ${formatDuration(calls.medianNs)}`,
                  numerator: calls.totalNs,
                  denominator: total.wallNs,
                  unit: 'ns' as const,
                  analysis: 'launch-overhead',
                  rows: [calls.key],
                },
              ]
            : []),
          budgetEvidence(total, boundNs, 'the GPU waits for launches'),
          ...(insideNs > 0
            ? [budgetEvidence(total, insideNs, 'the GPU waits for host code between the launches of a step')]
            : []),
          ...triggeredIn(input, total, 'host-work-and-launches'),
        ],
        confirm: 'stepscope analyze FILE --only launch-overhead,graph-coverage',
      });
      const advice = adviceIn(total.phase, found.advice, program);
      return [{ ...found, advice: waits === 0 ? advice : [removeFirst(waits, program), ...advice] }];
    });
  },
};

/** Calls that wait for the GPU inside steps, where there are so many that they lie between the layers. */
function waitsInStep({ useIfRecorded, policy }: RuleInput): number {
  const perStep = useIfRecorded(blockingCalls)?.avoidable.perStep ?? 0;
  return perStep >= policy.blockingPerStep ? perStep : 0;
}

/** A batch with prompts in it needs what prefill needs: graphs of decode cover only steps in which all decode. */
function adviceIn(
  phase: PhaseBudget['phase'],
  own: Finding['advice'],
  program: RuleInput['program'],
): Finding['advice'] {
  if (phase === 'mixed') return adviceOn('prefill-launches', program);
  return phase === 'unknown' ? ofEitherPhase(own, program) : own;
}

/** An engine has other settings for prefill than for decode: where nothing shows which it is, both are named. */
function ofEitherPhase(decode: Finding['advice'], program: ProfiledProgram): Finding['advice'] {
  const [own] = decode.filter(({ engine }) => engine === program.engine);
  const [prefill] = adviceOn('prefill-launches', program);
  if (!own || !prefill) return decode;
  return [{ ...own, text: `if these are decode steps: ${own.text}; if they are prefill: ${prefill.text}` }];
}

/** While a graph is captured nothing may wait for the GPU: the advice to capture one would not work. */
const removeFirst = (waits: number, { isAmd }: ProfiledProgram): Finding['advice'][number] => ({
  engine: 'any',
  text: `first remove the ${formatMean(waits)} waits for the GPU in each step: with them the step cannot be captured as a ${graphWord(isAmd).replace(/s$/, '')}`,
});

const launchStall: Rule = {
  id: 'launch-stall',
  about: 'single launch calls that take far longer than the others while the GPU waits',
  uses: [launchStalls],
  yieldsTo: anyOf('held-up'),
  look(input) {
    return input.phases.flatMap((total): Finding[] => {
      const stalls = stallsOf(input, total).filter(({ idleNs }) => idleNs > 0);
      const ns = idleIn(stalls);
      if (stalls.length === 0 || ns < input.policy.stallShare * total.wallNs) return [];
      const [longest] = stalls;
      return [
        finding('launch-stall', input, {
          claim: `${longest.call} stalls for ${formatDuration(longest.ns)}${stalls.length > 1 ? ` (and ${plural(stalls.length - 1, 'more stall')})` : ''} while the GPU waits`,
          ...costing(
            total,
            perWindow(total, ns),
            'if these calls return as fast as other calls of the same function',
          ),
          confidence: 'likely',
          evidence: [
            {
              ...budgetEvidence(total, ns, `the GPU waits for ${plural(stalls.length, 'launch call')}`),
              window: { startNs: longest.startNs, endNs: longest.startNs + longest.ns },
            },
          ],
          confirm: 'stepscope analyze FILE --only launch-overhead',
        }),
      ];
    });
  },
};

const partialGraphs: Rule = {
  id: 'partial-graphs',
  about: 'decode steps, or some of their layers, that run outside graphs',
  uses: [graphCoverage, graphGaps, iterations],
  look(input) {
    const gaps = input.use(graphGaps);
    return input.use(graphCoverage).rows.flatMap((row): Finding[] => {
      const total = input.phases.find(candidate => candidate.phase === row.phase);
      const own = gaps.find(candidate => candidate.phase === row.phase);
      if (!total || !own || row.phase !== 'decode' || row.timeShare < 0.05) return [];
      const wordy = wordsOf(own, input);
      if (!wordy) return [];
      const boundNs = perWindow(total, total.idleByCause['launch-bound'] ?? 0);
      const [costNs, how] =
        wordy.id === 'partial-graphs'
          ? [idleWithoutGraph(input), 'if steps without a graph were idle no longer than steps with one']
          : [
              boundNs * (1 - row.timeShare),
              'launch-bound idle time, scaled by the share that runs outside graphs',
            ];
      return [
        finding(wordy.id, input, {
          claim: wordy.claim,
          ...costing(total, costNs, how),
          confidence: 'likely',
          evidence: [
            {
              text: `${formatDuration(row.gpuInGraphsNs)} of ${formatDuration(row.gpuNs)} GPU time in ${plural(row.graphLaunches, 'launch', 'launches')}`,
              numerator: row.gpuInGraphsNs,
              denominator: row.gpuNs,
              unit: 'ns',
              analysis: 'graph-coverage',
              rows: [row.key],
            },
          ],
          confirm: 'stepscope steps FILE --sequence',
        }),
      ];
    });
  },
};

/** What decode steps without a graph are idle longer than those with one, per step of both kinds. */
function idleWithoutGraph(input: RuleInput): number {
  const rows = input.use(iterations).rows.filter(row => row.selected && row.phase === 'decode');
  const idle = (list: typeof rows) => list.reduce((sum, row) => sum + row.wallNs - row.gpuBusyNs, 0);
  const without = rows.filter(row => row.graphLaunches === 0);
  const usual = idle(rows.filter(row => row.graphLaunches > 0)) / (rows.length - without.length);
  return Math.max(0, idle(without) - without.length * usual) / rows.length;
}

/** Which of the two it is; undefined where every step replays its graph and only its edges run outside. */
function wordsOf(
  { steps, stepsWithoutGraph, layerKernels, layerKernelsOutside }: GraphGaps,
  { policy, program }: RuleInput,
): { id: string; claim: string } | undefined {
  const graphs = graphWord(program.isAmd);
  if (stepsWithoutGraph > policy.graphGap * steps && stepsWithoutGraph < steps)
    return {
      id: 'partial-graphs',
      claim: `${formatCount(stepsWithoutGraph)} of ${plural(steps, 'decode step')} run without ${graphs}`,
    };
  if (layerKernels === 0 || layerKernelsOutside <= policy.graphGap * layerKernels) return undefined;
  return {
    id: 'graphs-in-pieces',
    claim: `${formatShare(layerKernelsOutside / layerKernels)} of the layers’ kernels run outside ${graphs} in decode`,
  };
}

export const launchRules: readonly Rule[] = [launchOverheadRule, launchStall, partialGraphs];
