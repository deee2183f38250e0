/**
 * The one source of random numbers: the same seed gives the same numbers on every machine and every day, so that
 * results of resampling, drawn prompts and tests do not change by themselves.
 */
export type Random = () => number;

/** Mulberry32: 32 bits of state, from 0 up to but not 1. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Whole numbers from 0 up to but not `below`. */
export function randomNumbers(seed: number): (below: number) => number {
  const random = seededRandom(seed);
  return below => Math.floor(random() * below);
}

/** A stream of its own for each purpose, so that drawing one more length does not move every arrival after it. */
export const randomStream = (seed: number, ...purpose: readonly (string | number)[]): Random =>
  seededRandom(hash(`${seed}/${purpose.join('/')}`));

/** FNV-1a with a final mix: neighbouring seeds must not give neighbouring streams. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** Exponentially distributed with mean 1: the gaps of a Poisson process. */
export const exponential = (random: Random): number => -Math.log(1 - random());

/** Mean 0, deviation 1 (Box and Muller); one of the pair is thrown away. 1 - random is never 0. */
export const standardNormal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Fisher and Yates: every order equally likely. */
export function shuffle(values: Float64Array, random: Random): void {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const swap = values[i];
    values[i] = values[j];
    values[j] = swap;
  }
}
