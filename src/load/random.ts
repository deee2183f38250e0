/**
 * Random numbers that a seed repeats on any machine (mulberry32). Each purpose takes a stream of its own, so that
 * drawing one more length does not move every arrival after it.
 */
export type Random = () => number;

export function randomStream(seed: number, ...purpose: readonly (string | number)[]): Random {
  let state = hash(`${seed}/${purpose.join('/')}`);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

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

/** Mean 0, deviation 1 (Box and Muller); one of the pair is thrown away, lengths are not drawn often. */
export const standardNormal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
