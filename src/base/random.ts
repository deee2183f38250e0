/** Random numbers that are the same on every machine and every day: results of resampling must not change by themselves. */

/** Mulberry32: 32 bits of state, from 0 up to but not 1. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Fisher and Yates: every order equally likely. */
export function shuffle(values: Float64Array, random: () => number): void {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const swap = values[i];
    values[i] = values[j];
    values[j] = swap;
  }
}
