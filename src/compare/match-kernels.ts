/**
 * What became of every kernel of a step: it ran again, another took its place, several became one (or one several),
 * it was removed, or it is new. Anchors are kernels both steps have; what lies between two anchors belongs together.
 *
 *   a   norm | mul mul add cast mul | gemm        5 kernels became 1
 *   b   norm | fused                | gemm
 */
import { parseFunctionName } from '../catalog/kernels/function-name.js';
import { isMangled } from '../catalog/kernels/mangled-name.js';
import type { KernelFacts, SequenceItem } from '../run/run.js';
import type { SideMeans } from '../run/side-means.js';
import { alignSequences, type Pair, type Token } from './align-sequences.js';

export type LinkKind = 'same' | 'replaced' | 'regrouped' | 'removed' | 'added';

/** How much of a part takes this way. */
export interface Share {
  readonly part: string;
  count: number;
  weight: number;
}

export interface Link {
  readonly kind: LinkKind;
  readonly from: readonly Share[];
  readonly to: readonly Share[];
  /** How often in the step. */
  times: number;
}

/** More kernels than these between two anchors are another program, not a fusion. */
const LARGEST_GROUP = 32;
/** Kernels of these families do the work itself: they are exchanged for one another, and seldom fused away. */
const STEADFAST = new Set(['gemm', 'attention', 'convolution', 'moe-dispatch', 'moe-combine']);

/** `spellingsDiffer`: two profilers may write one name in two ways, so the same short name is the same kernel. */
export function matchKernels(from: SideMeans, to: SideMeans, spellingsDiffer: boolean): Link[] {
  // Communication is counted where it is exposed, by itself.
  const a = from.sequence.filter(isCompute);
  const b = to.sequence.filter(isCompute);
  const nameOf = matchingNames(from.kernels, to.kernels, spellingsDiffer);
  const tokens = (sequence: readonly SequenceItem[], { kernels }: SideMeans): Token[] =>
    sequence.map(({ part, place }) => {
      const kernel = kernels.get(part)!;
      return { part, shortName: nameOf(kernel), family: kernel.family, variant: kernel.variant, place };
    });
  const [tokensA, tokensB] = [tokens(a, from), tokens(b, to)];
  const pairs = alignSequences(tokensA, tokensB);
  const links = new LinkBook(a, b);
  const isAnchor = ([i, j]: Pair) =>
    tokensA[i].part === tokensB[j].part ||
    tokensA[i].shortName === tokensB[j].shortName ||
    tokensA[i].family === 'attention';
  const isSame = (x: Token, y: Token) =>
    x.part === y.part || (spellingsDiffer && x.shortName === y.shortName && x.family === y.family);
  let [i, j] = [0, 0];
  let between: Pair[] = [];
  for (const pair of [...pairs, [a.length, b.length] as const]) {
    const ends = pair[0] === a.length && pair[1] === b.length;
    if (!ends && !isAnchor(pair)) {
      between.push(pair);
      continue;
    }
    settle([i, pair[0]], [j, pair[1]], between);
    between = [];
    [i, j] = [pair[0] + 1, pair[1] + 1];
    if (!ends)
      links.add(isSame(tokensA[pair[0]], tokensB[pair[1]]) ? 'same' : 'replaced', [pair[0]], [pair[1]]);
  }
  return links.finish(from, to, spellingsDiffer ? nameOf : undefined);

  /** What lies between two anchors. */
  function settle(
    [fromA, toA]: readonly [number, number],
    [fromB, toB]: readonly [number, number],
    inside: readonly Pair[],
  ): void {
    const countOf = (list: readonly Token[], begin: number, end: number, family: string) =>
      list.slice(begin, end).reduce((sum, token) => sum + Number(token.family === family), 0);
    const evenly = (family: string) =>
      countOf(tokensA, fromA, toA, family) === countOf(tokensB, fromB, toB, family);
    const isLarge = toA - fromA > LARGEST_GROUP || toB - fromB > LARGEST_GROUP;
    const paired = toA - fromA === toB - fromB && inside.length === toA - fromA;
    const fixed = inside.filter(([x]) => {
      const { family } = tokensA[x];
      return paired || isLarge || (STEADFAST.has(family) && evenly(family));
    });
    let [x, y] = [fromA, fromB];
    for (const [nextX, nextY] of [...fixed, [toA, toB] as const]) {
      const own = indexes(x, nextX);
      const other = indexes(y, nextY);
      if (own.length > 0 && other.length > 0 && !isLarge)
        links.add(own.length === 1 && other.length === 1 ? 'replaced' : 'regrouped', own, other);
      else {
        for (const index of own) links.add('removed', [index], []);
        for (const index of other) links.add('added', [], [index]);
      }
      if (nextX < toA || nextY < toB) links.add('replaced', [nextX], [nextY]);
      [x, y] = [nextX + 1, nextY + 1];
    }
  }
}

const isCompute = ({ part }: { readonly part: string }) => part.startsWith('kernel:');

const indexes = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k);

/**
 * The name to match a kernel by where its full name does not do: the short one. A symbol that one profiler could not
 * demangle has only the function and the number type in common with what the other made of it.
 */
function matchingNames(
  from: ReadonlyMap<string, KernelFacts>,
  to: ReadonlyMap<string, KernelFacts>,
  spellingsDiffer: boolean,
): (kernel: KernelFacts) => string {
  if (!spellingsDiffer) return ({ shortName }) => shortName;
  const functionOf = ({ name }: KernelFacts) => parseFunctionName(name).qualified;
  const mangled = [...from.values(), ...to.values()].filter(({ name }) => isMangled(name)).map(functionOf);
  const known = new Set(mangled);
  const names = new Map<KernelFacts, string>();
  return kernel => {
    let name = names.get(kernel);
    if (name === undefined) {
      const own = functionOf(kernel);
      name = known.has(own) ? `${own} ${kernel.dtype}` : kernel.shortName;
      names.set(kernel, name);
    }
    return name;
  };
}

/** Equal links of all layers are one. */
class LinkBook {
  private readonly links = new Map<string, Link>();

  constructor(
    private readonly a: readonly SequenceItem[],
    private readonly b: readonly SequenceItem[],
  ) {}

  add(kind: LinkKind, from: readonly number[], to: readonly number[]): void {
    const shares = (items: readonly SequenceItem[], at: readonly number[]) =>
      at.map(index => ({ part: items[index].part, count: 1, weight: items[index].ns }));
    this.put(kind, shares(this.a, from), shares(this.b, to));
  }

  /** What the alignment left over on both sides under one name ran at another place; so did rare kernels. */
  finish(from: SideMeans, to: SideMeans, nameOf: ((kernel: KernelFacts) => string) | undefined): Link[] {
    this.undoExchanges(from, to);
    this.addUnseen('removed', from);
    this.addUnseen('added', to);
    const left = (kind: LinkKind, name: (link: Link) => string) => {
      const found = new Map<string, Link[]>();
      for (const link of this.links.values())
        if (link.kind === kind) found.set(name(link), [...(found.get(name(link)) ?? []), link]);
      return found;
    };
    const side = (link: Link) => link.from[0] ?? link.to[0];
    const byPart = (link: Link) => side(link).part;
    const byName = (link: Link) => {
      const kernel = (link.from.length > 0 ? from : to).kernels.get(side(link).part)!;
      return `${kernel.family}|${nameOf!(kernel)}`;
    };
    for (const name of nameOf ? [byPart, byName] : [byPart]) {
      const added = left('added', name);
      for (const [key, gone] of left('removed', name)) {
        const came = added.get(key) ?? [];
        // In order of name on both sides, so that the other direction pairs the same.
        const inOrder = (links: readonly Link[]) =>
          [...links].sort((x, y) => (byPart(x) < byPart(y) ? -1 : 1));
        const [first, second] = [inOrder(gone), inOrder(came)];
        for (let k = 0; k < Math.min(first.length, second.length); k++) this.join(first[k], second[k]);
      }
    }
    return [...this.links.values()];
  }

  /**
   * Libraries choose kernels by length, so steps of one run differ. Where the typical steps differ only in that, and
   * both kernels run as often on both sides over all steps, neither took the other's place.
   */
  private undoExchanges(from: SideMeans, to: SideMeans): void {
    for (const link of [...this.links.values()]) {
      if (link.kind !== 'replaced') continue;
      const [[old], [fresh]] = [link.from, link.to];
      if (!runsAlike(old.part, from, to) || !runsAlike(fresh.part, from, to)) continue;
      this.links.delete(keyOf(link));
      this.addToSame('from', old, to);
      this.addToSame('to', fresh, from);
    }
  }

  private addToSame(which: 'from' | 'to', share: Share, other: SideMeans): void {
    const known = [...this.links.values()].find(
      ({ kind, [which]: own }) => kind === 'same' && own[0].part === share.part,
    );
    if (known) {
      known[which][0].count += share.count;
      known[which][0].weight += share.weight;
      return;
    }
    const { count, spentNs } = other.parts.get(share.part)!;
    const theirs = [{ part: share.part, count, weight: spentNs }];
    this.put('same', which === 'from' ? [share] : theirs, which === 'from' ? theirs : [share]);
  }

  private join(gone: Link, came: Link): void {
    this.links.delete(keyOf(gone));
    this.links.delete(keyOf(came));
    this.put('same', gone.from, came.to, Math.max(gone.times, came.times));
  }

  private addUnseen(kind: 'removed' | 'added', side: SideMeans): void {
    const seen = new Set(
      [...this.links.values()].flatMap(link =>
        (kind === 'removed' ? link.from : link.to).map(({ part }) => part),
      ),
    );
    for (const [part, { count, spentNs }] of side.parts) {
      if (!isCompute({ part }) || seen.has(part)) continue;
      const share = [{ part, count, weight: spentNs }];
      this.put(kind, kind === 'removed' ? share : [], kind === 'removed' ? [] : share);
    }
  }

  private put(kind: LinkKind, from: readonly Share[], to: readonly Share[], times = 1): void {
    const link: Link = { kind, from: joined(from), to: joined(to), times };
    const known = this.links.get(keyOf(link));
    if (!known) {
      this.links.set(keyOf(link), link);
      return;
    }
    known.times += times;
    for (const side of ['from', 'to'] as const)
      link[side].forEach((share, k) => {
        known[side][k].count += share.count;
        known[side][k].weight += share.weight;
      });
  }
}

/** How far the mean number of launches of two runs may differ by the steps that happened to be captured. */
const ALIKE = 0.1;

function runsAlike(part: string, from: SideMeans, to: SideMeans): boolean {
  const [a, b] = [from, to].map(side => side.parts.get(part)?.count ?? 0);
  return a > 0 && b > 0 && Math.abs(a - b) <= ALIKE * Math.max(a, b);
}

/** One share per kernel, in order of name. */
function joined(shares: readonly Share[]): Share[] {
  const byPart = new Map<string, Share>();
  for (const share of shares) {
    const known = byPart.get(share.part);
    if (known) {
      known.count += share.count;
      known.weight += share.weight;
    } else byPart.set(share.part, { ...share });
  }
  return [...byPart.values()].sort((x, y) => (x.part < y.part ? -1 : 1));
}

/** Groups of the same kernels in other numbers are other groups. */
function keyOf({ kind, from, to, times }: Link): string {
  const list = (shares: readonly Share[]) =>
    shares.map(({ part, count }) => (kind === 'regrouped' ? `${part}*${count / times}` : part)).join('+');
  return `${kind}|${list(from)}|${list(to)}`;
}
