/**
 * Which kernel of one step corresponds to which of the other: the alignment with the best sum of likeness, in order.
 *
 *   a   norm  gemm_x  mul  mul  add  attention
 *   b   norm  gemm_y  fused          attention
 *
 * Cost is bounded: very long sequences are cut into pieces of the same relative place, each aligned on its own.
 */
export interface Token {
  /** One spelling of the kernel's name. */
  readonly part: string;
  readonly shortName: string;
  readonly family: string;
  readonly variant: string;
  /** Part of the layer; empty where not known. */
  readonly place: string;
}

export type Pair = readonly [from: number, to: number];

const SAME_NAME = 100;
const SAME_SHORT_NAME = 60;
const SAME_FAMILY = 8;
/** On top of the family's own likeness. */
const SAME_KIND_AND_PLACE = 8;
/** What every layer has once or a few times holds a step together, whatever its kernels are called. */
const FAMILY_LIKENESS: Readonly<Record<string, number>> = {
  attention: 80,
  'moe-router': 40,
  'moe-dispatch': 40,
  'moe-combine': 40,
  gemm: 24,
  convolution: 24,
};
/** What follows a match directly is likelier to be one. */
const CONTINUES = 1;
/** Pairs of kernels looked at, in all. */
const MOST_CELLS = 12_000_000;

export function alignSequences(from: readonly Token[], to: readonly Token[]): Pair[] {
  // The same question the other way around must have the same answer, ties included.
  const key = (tokens: readonly Token[]) => tokens.map(token => token.part).join('\n');
  if (key(from) > key(to)) return alignSequences(to, from).map(([a, b]) => [b, a]);
  const [a, b] = numbered(from, to);
  const pairs: Pair[] = [];
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && a.name[head] === b.name[head]) pairs.push([head, head++]);
  let tail = 0;
  const last = (length: number) => length - 1 - tail;
  while (tail < shorter - head && a.name[last(from.length)] === b.name[last(to.length)]) tail++;
  const n = from.length - head - tail;
  const m = to.length - head - tail;
  const pieces = Math.max(1, Math.ceil((n * m) / MOST_CELLS));
  for (let piece = 0; piece < pieces; piece++) {
    const cut = (length: number, at: number) => head + Math.floor((length * at) / pieces);
    pairs.push(...best(a, b, [cut(n, piece), cut(n, piece + 1)], [cut(m, piece), cut(m, piece + 1)]));
  }
  for (let k = tail; k > 0; k--) pairs.push([from.length - k, to.length - k]);
  return pairs;
}

/** Names as numbers that mean the same on both sides. */
interface Numbered {
  readonly name: Int32Array;
  readonly short: Int32Array;
  readonly kind: Int32Array;
  readonly family: Int32Array;
  /** What it counts that two kernels are of this family. */
  readonly likeness: Int32Array;
}

function numbered(from: readonly Token[], to: readonly Token[]): [Numbered, Numbered] {
  const numbers = new Map<string, number>();
  const number = (text: string) => {
    const known = numbers.get(text) ?? numbers.size;
    numbers.set(text, known);
    return known;
  };
  const read = (tokens: readonly Token[]): Numbered => ({
    name: Int32Array.from(tokens, token => number(`n${token.part}`)),
    short: Int32Array.from(tokens, token => number(`s${token.shortName}`)),
    kind: Int32Array.from(tokens, token => number(`k${token.family}|${token.variant}|${token.place}`)),
    family: Int32Array.from(tokens, token => number(`f${token.family}`)),
    likeness: Int32Array.from(tokens, token => FAMILY_LIKENESS[token.family] ?? SAME_FAMILY),
  });
  return [read(from), read(to)];
}

const UP = 1;
const LEFT = 2;
const MATCH = 3;

function best(
  a: Numbered,
  b: Numbered,
  [fromA, toA]: readonly [number, number],
  [fromB, toB]: readonly [number, number],
): Pair[] {
  const n = toA - fromA;
  const m = toB - fromB;
  if (n === 0 || m === 0) return [];
  const width = m + 1;
  const step = new Uint8Array((n + 1) * width);
  let before = new Int32Array(width);
  let row = new Int32Array(width);
  for (let i = 1; i <= n; i++) {
    const x = fromA + i - 1;
    for (let j = 1; j <= m; j++) {
      const y = fromB + j - 1;
      let score = before[j];
      let way = UP;
      if (row[j - 1] > score) {
        score = row[j - 1];
        way = LEFT;
      }
      const likeness =
        a.name[x] === b.name[y]
          ? SAME_NAME
          : a.family[x] !== b.family[y]
            ? 0
            : Math.max(
                a.short[x] === b.short[y] ? SAME_SHORT_NAME : 0,
                a.likeness[x] + (a.kind[x] === b.kind[y] ? SAME_KIND_AND_PLACE : 0),
              );
      if (likeness > 0) {
        const follows = step[(i - 1) * width + j - 1] === MATCH ? CONTINUES : 0;
        const matched = before[j - 1] + likeness + follows;
        if (matched >= score) {
          score = matched;
          way = MATCH;
        }
      }
      row[j] = score;
      step[i * width + j] = way;
    }
    [before, row] = [row, before];
  }
  const pairs: Pair[] = [];
  for (let i = n, j = m; i > 0 && j > 0; ) {
    const way = step[i * width + j];
    if (way === MATCH) pairs.push([fromA + --i, fromB + --j]);
    else if (way === UP) i--;
    else j--;
  }
  return pairs.reverse();
}
