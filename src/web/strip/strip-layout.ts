/**
 * How steps become bars: one bar each while there is room, else one bar for several steps in a row that shows the
 * slowest of them, so that no stall is ever averaged away.
 */
import type { StepsDocument } from '../../timeline/wire.js';

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
}

export const wallOf = (steps: StepsDocument, step: number): number =>
  Math.max(0, steps.endNs[step] - steps.startNs[step]);

export function stripLayout(steps: StepsDocument, width: number): StripLayout {
  const room = Math.max(1, Math.floor(width / LEAST_PITCH));
  const perBar = Math.max(1, Math.ceil(steps.length / room));
  const slowest: number[] = [];
  for (let first = 0; first < steps.length; first += perBar) {
    let most = first;
    for (let i = first + 1; i < Math.min(first + perBar, steps.length); i++)
      if (wallOf(steps, i) > wallOf(steps, most)) most = i;
    slowest.push(most);
  }
  const pitch = Math.min(MOST_PITCH, width / Math.max(1, slowest.length));
  return { pitch, gap: pitch >= 8 ? 2 : pitch >= 4 ? 1 : 0, perBar, slowest };
}

/** The step under a place, or -1 beyond the last bar. */
export function barAt({ pitch, slowest }: StripLayout, x: number): number {
  const bar = Math.floor(x / pitch);
  return bar >= 0 && bar < slowest.length ? bar : -1;
}

/** The steps behind bars `from` to `to`. */
export function stepsOfBars({ perBar }: StripLayout, steps: number, from: number, to: number) {
  const [low, high] = from <= to ? [from, to] : [to, from];
  return { first: low * perBar, last: Math.min(steps, (high + 1) * perBar) - 1 };
}

interface StripScale {
  /** The time at the top. */
  readonly topNs: number;
  /** Steps that are longer than the strip is high. */
  readonly cut: number;
}

/** Profiles beside each other share one scale. */
export function stripScale(all: readonly StepsDocument[]): StripScale {
  let most = 0;
  let steady = 0;
  for (const steps of all)
    for (let i = 0; i < steps.length; i++) {
      const wall = wallOf(steps, i);
      most = Math.max(most, wall);
      if (steps.state[i] === 'steady') steady = Math.max(steady, wall);
    }
  const topNs = steady > 0 && most > FLATTENS * steady ? ROOM_ABOVE * steady : most;
  let cut = 0;
  for (const steps of all) for (let i = 0; i < steps.length; i++) cut += Number(wallOf(steps, i) > topNs);
  return { topNs, cut };
}

/** Every how many steps a number is written, so that numbers `width` pixels wide do not touch. */
export function labelStride(pitchPerStep: number, width: number): number {
  const least = width / pitchPerStep;
  for (let unit = 1; ; unit *= 10)
    for (const round of [1, 2, 5]) if (round * unit >= least) return round * unit;
}
