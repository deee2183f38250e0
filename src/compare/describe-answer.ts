/** The answer of a comparison in sentences: what changed by how much, whether that is measurable, and why. */
import type { StatementBlock } from '../analyze/block.js';
import { phaseLook } from '../analyze/names-and-colors.js';
import { formatChange, formatCount, formatDuration, formatShare, plural } from '../base/units.js';
import { TRACED_EVENT_NS } from '../catalog/tracing-cost.js';
import { REPLAY } from '../run/run.js';
import type { Sameness } from '../run/sameness.js';
import { effectOf, isBroken, otherWork } from './comparability.js';
import type { Comparison, PhaseComparison } from './compare-configurations.js';
import type { Term } from './term-rows.js';
import { undisturbedSteps } from './undisturbed-steps.js';

/** A term is part of the reason from this share of the change on. */
const MATTERS = 0.1;
const MOST_REASONS = 3;
/** What is left of a part that is as good as gone. */
const GONE = 0.1;
/** From this ratio on, times say more than percent. */
const TIMES = 1.5;
/** From this share on a change is told as a ratio. */
const MANY_TIMES = 10;
/** Kernels under the same name make up this share: the same kernels ran. */
const ALL_THE_SAME = 0.99;
/** The profiler's own cost is mentioned from this share of the change on. */
const TELLING_COST = 0.05;
/** Checks that say whether steps of both sides had the same to do. */
const WORK_OF_STEPS: ReadonlySet<string> = new Set(['batch', 'contextTokens', 'tokens', 'launchSizes']);
/** Steps without the profiler are shown beside the profiled ones from this share of a step on. */
const TELLING_PROFILER = 0.02;

export function comparisonAnswer(comparison: Comparison): StatementBlock {
  const [main, ...others] = comparison.phases;
  return {
    kind: 'statement',
    id: 'answer',
    title: 'Answer',
    lines: [
      ...broken(comparison),
      ...outcome(comparison, main),
      ...reasons(main),
      ...others.map(phase => [...outcome(comparison, phase), ...reasons(phase)].join(' ')),
      ...doubts(comparison, main),
    ],
  };
}

/** Said before any figure. */
const broken = ({ from, to }: Comparison): string[] =>
  [from, to]
    .filter(isBroken)
    .map(({ name }) => `${name} is cut off or damaged: its figures cover only the readable part.`);

const phaseWords = ({ phase }: PhaseComparison): string =>
  phase === null ? 'over the whole trace' : phase === 'unknown' ? 'per step' : `in ${phaseLook(phase).label}`;

/** The headline, short enough to be one, and the change with its interval. */
function outcome(comparison: Comparison, phase: PhaseComparison): string[] {
  const { to, threshold, phases } = comparison;
  // Both sides are held against each other once, not for each phase.
  const isMain = phase === phases[0];
  const { from: ours, to: theirs, changeNs, changeShare, interval, verdict } = phase;
  const where = phaseWords(phase);
  const per = phase.phase === null ? 'in total' : 'per step';
  const times = `${formatDuration(ours.wallNs)} → ${formatDuration(theirs.wallNs)} ${per}`;
  const range = interval
    ? `, 95% confidence interval ${formatChange(Math.round(interval[0]))} to ${formatChange(Math.round(interval[1]))}`
    : '';
  const change = `The change is ${formatChange(changeNs)} (${signedShare(changeShare)})${range}.`;
  switch (verdict) {
    case 'identical':
      return [
        `The two runs are identical ${where}: ${formatDuration(ours.wallNs)} ${per}, and every term is 0.`,
      ];
    case 'not-measurable':
      // The steps do differ, and the profilers may be all of it.
      if (interval && (interval[0] > 0 || interval[1] < 0))
        return [
          `Cannot tell ${where}: ${times}, which ${phase.tracingFloorNs === undefined ? 'recording alone' : 'the two profilers alone'} may cause.`,
          change,
        ];
      return [`No measurable difference ${where}: ${times}.`, change];
    case 'below-threshold':
      return [
        `The difference ${where} is below the threshold of ${Number((threshold * 100).toFixed(2))}%: ${times}.`,
        change,
      ];
    case 'unknown': {
      const much = `${formatDuration(Math.abs(changeNs))} ${changeNs > 0 ? 'longer' : 'less'}`;
      const why = phase.phase === null ? 'with only one trace on a side' : 'with only one step on a side';
      return [
        `${to.name} takes ${much} ${where}, but ${why} the noise is unknown: ${times} (${signedShare(changeShare)}).`,
      ];
    }
    default: {
      return [
        ...(isMain ? notLikeForLike(comparison) : []),
        `${to.name} ${speed(ours.wallNs, theirs.wallNs)} ${where}: ${times}.`,
        change,
        ...(isMain ? unknownBatch(comparison, phase) : []),
      ];
    }
  }
}

/** Before any word about which is faster. */
function notLikeForLike(comparison: Comparison): string[] {
  const other = otherWork(comparison);
  if (!other) return [];
  return [`${other.isGuess ? 'Possibly not' : 'Not'} comparable: ${other.reasons.join(', and ')}.`];
}

/** What neither markers nor launches say, the reader must know. */
function unknownBatch(comparison: Comparison, { phase }: PhaseComparison): string[] {
  const isSaid = ({ id, status }: Sameness) =>
    (WORK_OF_STEPS.has(id) && status !== 'unknown') || id === 'mixes';
  if (phase === null || comparison.checks.some(isSaid)) return [];
  return ['The batch is not recorded: this holds only if both sides ran the same load.'];
}

const signedShare = (share: number): string =>
  share >= MANY_TIMES
    ? `×${(1 + share).toFixed(1)}`
    : `${share > 0 ? '+' : share < 0 ? '−' : ''}${formatShare(Math.abs(share))}`;

function speed(before: number, after: number): string {
  const ratio = Math.max(before, after) / Math.max(1, Math.min(before, after));
  if (ratio >= TIMES) return `is ${ratio.toFixed(1)} times as ${after < before ? 'fast' : 'slow'}`;
  // Not "28.7% faster", which some read as the gain in throughput.
  const share = formatShare(Math.abs(after - before) / before);
  return `takes ${share} ${after < before ? 'less time' : 'longer'}`;
}

function reasons(phase: PhaseComparison): string[] {
  const { changeNs, terms, verdict } = phase;
  if (verdict === 'identical') return [];
  const largest = terms
    .filter(term => Math.abs(term.changeNs) >= MATTERS * Math.abs(changeNs) && term.changeNs !== 0)
    .sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs))
    .slice(0, MOST_REASONS);
  const parts = largest.map(term => reason(term));
  const same = sameKernels(phase);
  if (verdict === 'not-measurable' || verdict === 'below-threshold') return same ? [`${capital(same)}.`] : [];
  if (same) parts.push(same);
  return [...(parts.length > 0 ? [`${capital(parts.join('; '))}.`] : []), ...onTheGpu(phase)];
}

/** Where waiting decides, what the change did to the work itself would go unseen. */
function onTheGpu({ terms, changeNs, figures }: PhaseComparison): string[] {
  const idle = terms.reduce((sum, { kind, changeNs: ns }) => sum + (kind === 'idle' ? ns : 0), 0);
  if (Math.abs(idle) < Math.abs(changeNs) / 2) return [];
  const { from, to } = figures.find(({ id }) => id === 'gpu-busy') as { from: number; to: number };
  if (from === 0 || from === to) return [];
  const [most] = terms
    .filter(({ kind }) => kind !== 'idle')
    .sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs));
  const what = most.changeNs === 0 ? '' : `; mostly ${most.label} ${formatChange(most.changeNs)}`;
  return [
    `GPU work: ${formatDuration(from)} → ${formatDuration(to)} (${signedShare((to - from) / from)}${what}).`,
  ];
}

function reason({ kind, label, fromNs, toNs, changeNs }: Term): string {
  const name = kind === 'idle' ? `${label.slice('idle: '.length)} idle` : label;
  const figures = `${formatDuration(fromNs)} → ${formatDuration(toNs)}`;
  const isWaiting = kind === 'idle' || kind === 'communication' || kind === 'waiting' || kind === 'copies';
  if (!isWaiting) return `${name} ${formatChange(changeNs)} (${figures})`;
  if (fromNs > 0 && toNs === 0) return `${name} disappeared (${formatDuration(fromNs)})`;
  if (fromNs > 0 && toNs < GONE * fromNs) return `${name} nearly disappeared: ${figures}`;
  if (fromNs === 0) return `${name} is new (${formatDuration(toNs)})`;
  return `${name} ${formatChange(changeNs)} (${figures})`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `the same 1,016 kernels ran` */
function sameKernels({ terms, from, to }: PhaseComparison): string | undefined {
  const count = (side: typeof from) =>
    [...side.parts].reduce((sum, [part, mean]) => sum + (part.startsWith('kernel:') ? mean.count : 0), 0);
  const [ours, theirs] = [count(from), count(to)];
  const same = terms.reduce(
    (sum, { kind, fromCount, toCount }) =>
      sum + (kind === 'same' ? Math.min(fromCount ?? 0, toCount ?? 0) : 0),
    0,
  );
  const most = Math.max(ours, theirs);
  // Kernels inside replays recorded as blocks were not seen.
  if (from.parts.has(REPLAY) || to.parts.has(REPLAY)) return undefined;
  if (most === 0 || same < ALL_THE_SAME * most) return undefined;
  const shown = (value: number) => formatCount(Math.round(value));
  return Math.round(ours) === Math.round(theirs)
    ? `the same ${plural(Math.round(same), 'kernel')} ran`
    : `the same kernels ran (${shown(ours)} and ${shown(theirs)} per step)`;
}

function doubts(comparison: Comparison, main: PhaseComparison): string[] {
  const { from, to, phases, runsMeasured, checks } = comparison;
  const lines: string[] = [];
  if (main.verdict === 'identical') return lines;
  lines.push(...withoutProfilers(main));
  if (main.tracingFloorNs !== undefined) {
    const cost = `The two profilers have different host overhead, up to ${formatDuration(main.tracingFloorNs)} per step here`;
    const busy = main.figures.find(({ id }) => id === 'gpu-busy') as { from: number; to: number };
    const share = (busy.to - busy.from) / Math.max(1, busy.from);
    const onGpu = `GPU work alone changes ${formatDuration(busy.from)} → ${formatDuration(busy.to)} (${signedShare(share)})`;
    lines.push(main.verdict === 'not-measurable' ? `${cost}; ${onGpu}.` : `${cost}.`);
  } else lines.push(...tracingCost(main));
  const noise = phases.find(phase => phase.noiseFloorNs !== undefined)?.noiseFloorNs;
  lines.push(
    runsMeasured && noise !== undefined
      ? `The interval includes run-to-run noise: ±${formatDuration(noise)} from ${plural(from.runs.length, 'run')} and ${plural(to.runs.length, 'run')}.`
      : 'Run-to-run noise was not measured: there is one run per side, and host time varies between runs (give repeats as NAME=FILE,FILE).',
  );
  const saidFirst = main.verdict === 'faster' || main.verdict === 'slower' ? otherWork(comparison)?.ids : [];
  const reservations = checks.filter(
    check => effectOf(check) === 'weakens' && check.id !== 'files' && !saidFirst?.includes(check.id),
  );
  if (reservations.length > 0)
    lines.push(
      `Caveats: ${reservations.map(({ label, values: [a, b], why }) => `${label} ${a} vs ${b} (${why})`).join('; ')}.`,
    );
  return lines;
}

/** What the change is when nobody looks, where a profiler is part of it. */
function withoutProfilers({ figures, from, to }: PhaseComparison): string[] {
  const steps = undisturbedSteps(figures);
  if (!steps) return [];
  const { from: before, to: after } = steps;
  const added = Math.max(1 - before.ns / from.wallNs, 1 - after.ns / to.wallNs);
  if (added < TELLING_PROFILER) return [];
  const how = before.how === after.how ? before.how : `${before.how} and ${after.how}`;
  const change = signedShare((after.ns - before.ns) / before.ns);
  return [
    `Without the profiler: ${formatDuration(before.ns)} → ${formatDuration(after.ns)} per step (${change}, ${how}).`,
  ];
}

/** Where one side has far more to write down, part of what the GPU waits longer is the writing. */
function tracingCost({ figures, terms, changeNs }: PhaseComparison): string[] {
  const events = figures.find(({ id }) => id === 'host-events');
  if (!events || events.from === null || events.to === null) return [];
  const idleNs = terms.reduce((sum, { kind, changeNs: ns }) => sum + (kind === 'idle' ? ns : 0), 0);
  const costNs = (events.to - events.from) * TRACED_EVENT_NS;
  // It shows as waiting, and cannot explain a change in the other direction.
  if (Math.sign(costNs) !== Math.sign(changeNs) || Math.sign(costNs) !== Math.sign(idleNs)) return [];
  const mostNs = Math.min(...[costNs, idleNs, changeNs].map(Math.abs));
  if (mostNs < TELLING_COST * Math.abs(changeNs)) return [];
  const count = (value: number) => formatCount(Math.round(value));
  return [
    `Up to about ${formatDuration(mostNs)} of it may be profiler overhead: it recorded ${count(events.from)} host events per step before and ${count(events.to)} after.`,
  ];
}
