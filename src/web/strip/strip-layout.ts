/**
 * How steps become bars: one bar each while there is room, else one bar for several steps in a row that shows the
 * slowest of them, so that no stall is ever averaged away. Some of the steps may be in view, and each phase has its own
 * scale: a decode step beside a prefill ten times as long would be a line.
 */
import { thresholds } from '../../catalog/policy.js';
import type { StepSpan } from '../../timeline/spans.js';
import type { StepsDocument } from '../../timeline/wire.js';
import { median } from './median.js';

/** Narrower bars cannot be told apart. */
const LEAST_PITCH = 2;
/** Three steps on a wide screen should look like bars, not like walls. */
const MOST_PITCH = 96;
/** A warm-up this many times the slowest steady step would flatten all others. */
const FLATTENS = 2.5;
const ROOM_ABOVE = 1.15;

export interface StripLayout {
  /** Pixels from bar to bar. */
  readonly pitch: number;
  readonly gap: number;
  /** Steps behind one bar. */
  readonly perBar: number;
  /** Per bar: the step whose time it shows. */
  readonly slowest: readonly number[];
  /** The first step in view. */
  readonly first: number;
  /** One after the last step in view. */
  readonly end: number;
}

export const wallOf = (steps: StepsDocument, step: number): number => steps.wallNs[step];

export function stripLayout(
  steps: StepsDocument,
  width: number,
  inView: StepSpan = { first: 0, last: steps.length - 1 },
): StripLayout {
  const [begin, end] = [inView.first, inView.last + 1];
  const room = Math.max(1, Math.floor(width / LEAST_PITCH));
  const perBar = Math.max(1, Math.ceil((end - begin) / room));
  const slowest: number[] = [];
  for (let first = begin; first < end; first += perBar) {
    let most = first;
    for (let i = first + 1; i < Math.min(first + perBar, end); i++)
      if (wallOf(steps, i) > wallOf(steps, most)) most = i;
    slowest.push(most);
  }
  const pitch = Math.min(MOST_PITCH, width / Math.max(1, slowest.length));
  return { pitch, gap: pitch >= 8 ? 2 : pitch >= 4 ? 1 : 0, perBar, slowest, first: begin, end };
}

/** The bar under a place, or -1 beyond the last one. */
export function barAt({ pitch, slowest }: StripLayout, x: number): number {
  const bar = Math.floor(x / pitch);
  return bar >= 0 && bar < slowest.length ? bar : -1;
}

/** The steps behind bars `from` to `to`. */
export function stepsOfBars({ perBar, first, end }: StripLayout, from: number, to: number): StepSpan {
  const [low, high] = from <= to ? [from, to] : [to, from];
  return { first: first + low * perBar, last: Math.min(end, first + (high + 1) * perBar) - 1 };
}

/** Where a moment is on the strip, in pixels: within its step by its share of it. Beyond the bars: at their ends. */
export function placeOfTime({ startNs, endNs }: StepsDocument, layout: StripLayout, ns: number): number {
  const { first, end, pitch, perBar } = layout;
  let [low, high] = [first, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (startNs[middle] <= ns) low = middle + 1;
    else high = middle;
  }
  const step = low - 1;
  if (step < first) return 0;
  const length = endNs[step] - startNs[step];
  const part = length > 0 ? Math.min(1, (ns - startNs[step]) / length) : 1;
  return ((step - first + part) * pitch) / perBar;
}

/** The steps in view after zooming by a factor around a place of the strip. */
export function zoomSteps({ first, last }: StepSpan, length: number, part: number, factor: number): StepSpan {
  const count = last - first + 1;
  const next = Math.max(Math.min(8, length), Math.min(length, Math.round(count * factor)));
  const from = Math.round(first + part * count - part * next);
  const begin = Math.max(0, Math.min(length - next, from));
  return { first: begin, last: begin + next - 1 };
}

interface PhaseScale {
  /** The time at the top. */
  readonly topNs: number;
  /** Steps that are longer than the strip is high. */
  readonly cut: number;
}

/** Per phase; profiles beside each other share it. */
export function stripScale(all: readonly StepsDocument[]): ReadonlyMap<number, PhaseScale> {
  const seen = new Map<number, { most: number; steady: number }>();
  for (const steps of all)
    for (let i = 0; i < steps.length; i++) {
      const wall = wallOf(steps, i);
      const own = seen.get(steps.phase[i]) ?? { most: 0, steady: 0 };
      own.most = Math.max(own.most, wall);
      if (steps.state[i] === 'steady') own.steady = Math.max(own.steady, wall);
      seen.set(steps.phase[i], own);
    }
  const top = ({ most, steady }: { most: number; steady: number }) =>
    steady > 0 && most > FLATTENS * steady ? ROOM_ABOVE * steady : most;
  const scales = new Map([...seen].map(([phase, own]) => [phase, { topNs: top(own), cut: 0 }]));
  for (const steps of all)
    for (let i = 0; i < steps.length; i++) {
      const scale = scales.get(steps.phase[i])!;
      if (wallOf(steps, i) > scale.topNs) scale.cut++;
    }
  return scales;
}

/** This many times the usual distance from the median is unusual; and as long as findings call slow it must be too. */
const UNUSUAL = 5;
const LONGER = thresholds.jitter.value;
/** Of fewer steps nobody can say what is usual. */
const ENOUGH = 8;

/** Steady steps that take unusually long for their phase. */
export function outliers(steps: StepsDocument): ReadonlySet<number> {
  const found = new Set<number>();
  for (const phase of new Set(steps.phase)) {
    const own = steps.phase.flatMap((one, i) => (one === phase && steps.state[i] === 'steady' ? [i] : []));
    if (own.length < ENOUGH) continue;
    const middle = median(own.map(i => wallOf(steps, i)));
    const usual = median(own.map(i => Math.abs(wallOf(steps, i) - middle)));
    for (const i of own) {
      const wall = wallOf(steps, i);
      if (wall > middle + UNUSUAL * usual && wall > LONGER * middle) found.add(i);
    }
  }
  return found;
}

/** Every how many steps a number is written, so that numbers `width` pixels wide do not touch. */
export function labelStride(pitchPerStep: number, width: number): number {
  const least = width / pitchPerStep;
  for (let unit = 1; ; unit *= 10)
    for (const round of [1, 2, 5]) if (round * unit >= least) return round * unit;
}
