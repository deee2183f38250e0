/** The answer in sentences: how uneven, what it costs, what the ceiling is, what would fix it. */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import type { FixPlan, MoeAnswer } from '../answer.js';

export const ratio = (value: number): string => (Number.isNaN(value) ? '–' : `${value.toFixed(2)}×`);
const gain = (value: number): string =>
  `${value < 0 ? '−' : '+'}${Math.abs(value * 100).toFixed(value < 0.1 ? 1 : 0)}%`;

/** Below this the busiest GPU is hardly busier. */
const EVEN = 1.1;
const STRONG = 1.5;
/** Layers further apart than whole steps by this have different slowest ranks. */
const CHANGING = 0.05;

export function answerLines(answer: MoeAnswer): string[] {
  return [
    headline(answer),
    howUneven(answer),
    cost(answer),
    ...bounds(answer),
    ceiling(answer),
    ...fix(answer),
  ];
}

function headline(answer: MoeAnswer): string {
  const {
    verdict,
    hostBound,
    ceiling: { stepGain },
    shareForBottleneck,
    basis,
  } = answer;
  const mark =
    basis !== 'inferred'
      ? ''
      : answer.timeline
        ? ' (from the timelines of the ranks)'
        : ' (inferred from time per rank)';
  if (hostBound)
    return `No${mark}: the GPU waits ${formatShare(answer.measured!.idleShare)} of a step for the host, so busy experts do not limit the step.`;
  // An upper bound can say no for certain, but yes only for the case that it is reached.
  if (verdict === 'yes' && isUpperBound(answer))
    return `Yes${mark}, if expert time grows with tokens as assumed: even routing would give up to ${gain(stepGain!)} steps per second.`;
  if (verdict === 'yes')
    return `Yes${mark}: routing imbalance is the bottleneck; even routing would give ${gain(stepGain!)} steps per second.`;
  if (verdict === 'no' && stepGain !== null)
    return `No${mark}: perfectly even routing would give only ${gain(stepGain)} steps per second, not more than 10%.`;
  if (verdict === 'no')
    return `No${mark}: even if steps consisted only of experts, even routing would gain less than 10%.`;
  if (answer.timeline && shareForBottleneck === null)
    return `It depends${mark}: even experts would give about ${gain(stepGain!)} steps per second, and up to ${gain(answer.timeline.gainInterval[1])} if every wait behind experts went away.`;
  return `It depends${mark}: routing is the bottleneck where experts take more than ${formatShare(shareForBottleneck!)} of a step.`;
}

/** Counted or logged tokens, but no measured time to go with them. */
const isUpperBound = ({ time, basis }: MoeAnswer) => time.basis === 'assumed' && basis !== 'inferred';

function howUneven({ gpuImbalance, machine, layers, basis, logged, timeline, measured }: MoeAnswer): string {
  const word = gpuImbalance < EVEN ? 'Even' : gpuImbalance < STRONG ? 'Uneven' : 'Very uneven';
  const who = Number.isNaN(machine.gpus)
    ? 'The busiest GPU'
    : `the busiest of ${plural(machine.gpus, 'GPU')}`;
  if (basis === 'inferred' && timeline) {
    const { layersPerStep, steps } = timeline.balance;
    const seen = `${plural(Math.round(layersPerStep), 'layer')} × ${plural(steps, 'step')}`;
    const summed = measured!.inferred!.maxOverMean;
    const changes =
      gpuImbalance - summed > CHANGING
        ? `; summed over a step it is only ${ratio(summed)}: the slowest rank changes from layer to layer`
        : '';
    return `${word}: ${who} takes ${ratio(gpuImbalance)} the mean time in the grouped GEMMs of a layer (${seen})${changes}.`;
  }
  if (basis === 'inferred')
    return `${word}: ${who} takes ${ratio(gpuImbalance)} the mean time in grouped GEMMs (inferred; tokens were not counted).`;
  if (logged)
    return `${word}: ${who} has ${ratio(gpuImbalance)} the mean by ${plural(logged.points, 'line')} of ${logged.engine}’s log, ${ratio(logged.worst)} at worst.`;
  const worst = layers.reduce(
    (most, layer) => (layer.perIteration.mean > most.perIteration.mean ? layer : most),
    layers[0],
  );
  const [top] = worst.hottest;
  return `${word}: ${who} gets ${ratio(gpuImbalance)} the mean per layer and iteration; in layer ${worst.layer}, the worst, expert ${top.expert} alone gets ${formatShare(top.share)} of the tokens.`;
}

function cost({ lostShare, lostInterval, lostNs, time, expertShare, measured }: MoeAnswer): string {
  const between = Number.isNaN(lostInterval[0])
    ? ''
    : ` (95% ${formatShare(Math.max(0, lostInterval[0]))} to ${formatShare(lostInterval[1])})`;
  const ns = lostNs === null ? '' : `, ${formatDuration(lostNs)} per step`;
  const share =
    expertShare === null
      ? ''
      : `, which is ${formatShare(expertShare.share * lostShare)} of a step${expertShare.from === 'given' ? ' by the share given' : ''}`;
  const basis =
    time.basis === 'assumed' && !(measured && time.about.startsWith('inferred'))
      ? ` Assumption: ${time.about}.`
      : '';
  return `Waiting for it takes ${formatShare(lostShare)} of expert time${between}${ns}${share}.${basis}`;
}

/** What of it was measured, and what the timeline says beside counts. */
function bounds({ timeline, basis, ceiling: { stepGain } }: MoeAnswer): string[] {
  if (!timeline) return [];
  const { savedNs, lowNs, highNs } = timeline.balance;
  const [low, high] = timeline.gainInterval;
  if (basis === 'inferred')
    return [
      `Measured: ranks wait ${formatDuration(highNs)} per step behind their experts, an upper bound (${gain(high)}). Inferred: ${formatDuration(savedNs)} of it goes if each rank takes the mean time of its layer. Lower bound from totals over a step: ${formatDuration(lowNs)} (${gain(low)}).`,
    ];
  const timelineSays = `the timeline gives ${gain(timeline.stepGain)} steps per second, between ${gain(low)} and ${gain(high)}`;
  if (timeline.agrees === null) return [`For comparison, ${timelineSays}.`];
  return [
    timeline.agrees
      ? `Counts and timeline agree: ${timelineSays}; counts give ${gain(stepGain!)}.`
      : `Counts and timeline disagree: ${timelineSays}; counts give ${gain(stepGain!)}. Check that both are of one run and that --gpus is its number of GPUs.`,
  ];
}

function ceiling({ ceiling: { expertSpeedup, stepGain }, expertShare, hostBound }: MoeAnswer): string {
  const experts = `Ceiling: with perfect routing experts are ${ratio(expertSpeedup)} as fast`;
  if (stepGain === null || !expertShare)
    return `${experts}; for the gain in steps, give a profile of the run, or --expert-share 40%.`;
  const note = hostBound ? ', if nothing else limited the steps' : '';
  return `${experts}, steps ${gain(stepGain)} (experts are ${formatShare(expertShare.share)} of a step)${note}.`;
}

function fix({ plans, heldOut, basis, machine }: MoeAnswer): string[] {
  if (basis !== 'counted')
    return ['What would fix it: unknown without counts per expert; docs/moe.md shows how to record them.'];
  if (machine.gpus === 1)
    return ['One GPU holds all experts: there is nothing to place, and no GPU waits for another.'];
  const best = plans.reduce<FixPlan | undefined>(
    (most, fixed) => (most === undefined || fixed.plan.cost.ns < most.plan.cost.ns ? fixed : most),
    undefined,
  );
  if (!best || best.recovered <= 0.02)
    return ['What would fix it: no placement beats the current order of experts.'];
  const replicas = best.replicas > 0 ? ` with ${plural(best.replicas, 'replica')}` : '';
  const step = best.stepGain === null ? '' : `, ${gain(best.stepGain)} steps per second`;
  const where = heldOut ? 'on held-out iterations' : 'on the loads it was computed from, which flatters it';
  return [
    `What would fix it: placing experts (${best.plan.label}${replicas}) brings the busiest GPU to ${ratio(best.plan.cost.imbalance)} and recovers ${formatShare(best.recovered)} of the loss${step}, ${where}: stepscope moe place.`,
  ];
}

export function headerLine({ summary, source, machine, logged, measured }: MoeAnswer): string {
  const parts: string[] = [];
  if (source) parts.push(source.file, source.format);
  if (summary) {
    parts.push(
      `${plural(summary.layers.length, 'layer')} × ${plural(summary.experts, 'expert')}${summary.topK ? `, top ${summary.topK}` : ''}`,
    );
    parts.push(plural(summary.iterations, 'iteration'));
    if (summary.samples.length < summary.iterations)
      parts.push(`${formatCount(summary.samples.length)} evaluated in full`);
  }
  if (logged) parts.push(plural(logged.points, 'logged pass', 'logged passes'));
  if (!Number.isNaN(machine.gpus))
    parts.push(
      `${plural(machine.gpus, 'GPU')}${machine.from === 'assumed' ? ' assumed (--gpus N)' : machine.from === 'ranks' ? ' by the ranks' : ''}`,
    );
  if (measured) parts.push(`profile of ${plural(measured.steps, 'step')}`);
  return parts.join(' · ');
}
