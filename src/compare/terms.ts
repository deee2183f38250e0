/**
 * The change of a step's time as a sum: per kernel family the same kernels, those exchanged, regrouped, removed and
 * added; exposed communication; exposed copies; idle per cause. Every term carries the rows it is made of.
 */
import { busyParts, causeLook, causeOrder, familyLook, type Look } from '../analyze/names-and-colors.js';
import { plural } from '../base/units.js';
import { families } from '../catalog/kernels/families.js';
import { splitByWeight } from './apportion.js';
import { type Link, type LinkKind, matchKernels, type Share } from './match-kernels.js';
import { REPLAY } from './run-facts.js';
import type { SideMeans } from './side-means.js';

export type TermKind = LinkKind | 'hidden' | 'communication' | 'copies' | 'idle';

export interface RowSide {
  readonly kernel: string;
  readonly name: string;
  /** Launches per step. */
  readonly count: number;
  /** Whole nanoseconds of the step that are its own. */
  readonly ns: number;
}

export interface TermRow {
  readonly from: RowSide | null;
  readonly to: RowSide | null;
  readonly changeNs: number;
}

export interface Term {
  readonly key: string;
  readonly kind: TermKind;
  /** Kernel family or idle cause; empty where it is neither. */
  readonly of: string;
  readonly label: string;
  readonly color: string;
  readonly fromNs: number;
  readonly toNs: number;
  readonly changeNs: number;
  /** Launches per step; null where there is nothing to count. */
  readonly fromCount: number | null;
  readonly toCount: number | null;
  readonly rows: readonly TermRow[];
}

const kindOrder: readonly TermKind[] = [
  'same',
  'replaced',
  'regrouped',
  'removed',
  'added',
  'hidden',
  'communication',
  'copies',
  'idle',
];

export function termsOf(from: SideMeans, to: SideMeans, spellingsDiffer: boolean): Term[] {
  const terms = [
    ...computeTerms(from, to, spellingsDiffer),
    ...joinedTerm('comm:', 'communication', busyParts.communication, from, to),
    ...joinedTerm('copy:', 'copies', busyParts.copies, from, to),
    ...idleTerms(from, to),
  ];
  const familyOrder = families.map(({ id }) => id as string);
  const place = ({ kind, of }: Term) =>
    kind === 'idle'
      ? causeOrder.indexOf(of)
      : kind === 'communication' || kind === 'copies'
        ? 0
        : familyOrder.indexOf(of);
  const group = ({ kind }: Term) => Math.max(0, kindOrder.indexOf(kind) - kindOrder.indexOf('hidden'));
  return terms.sort(
    (a, b) =>
      group(a) - group(b) ||
      place(a) - place(b) ||
      kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind) ||
      (a.key < b.key ? -1 : 1),
  );
}

function computeTerms(from: SideMeans, to: SideMeans, spellingsDiffer: boolean): Term[] {
  const fromHidden = from.parts.has(REPLAY);
  const toHidden = to.parts.has(REPLAY);
  // What a replay hides on one side cannot be told apart on the other.
  if (fromHidden !== toHidden) return hiddenTerm(from, to);
  const links = matchKernels(from, to, spellingsDiffer);
  const ours = distribute(from, links, 'from');
  const theirs = distribute(to, links, 'to');
  const groups = new Map<string, { kind: LinkKind; family: string; links: Link[] }>();
  for (const link of links) {
    const family = familyOfLink(link, from, to);
    const own = link.kind === 'regrouped' ? `/${groupName(link)}` : '';
    const key = `compute/${family}/${link.kind}${own}`;
    const known = groups.get(key);
    if (known) known.links.push(link);
    else groups.set(key, { kind: link.kind, family, links: [link] });
  }
  const terms = [...groups].map(([key, { kind, family, links: own }]): Term => {
    const rows = own.flatMap(link => rowsOf(link, ours.get(link)!, theirs.get(link)!, from, to));
    const sums = sumsOf(rows);
    const label = `${familyLook(family).label}: ${kindWords(kind, own, sums.changeNs)}`;
    return { key, kind, of: family, label, color: familyLook(family).color, ...sums, rows: byChange(rows) };
  });
  return [...terms, ...joinedTerm(REPLAY, 'same', replays, from, to)];
}

const replays: Look = { id: 'graph-replay', label: 'graph replays (kernels not recorded)', color: '#6f7f89' };

/** One term for all compute: what runs inside replays, and between their kernels, was recorded on one side only. */
function hiddenTerm(from: SideMeans, to: SideMeans): Term[] {
  const look: Look = {
    id: '',
    label: 'compute and graph replays (kernels hidden on one side)',
    color: '#6f7f89',
  };
  const isCompute = (part: string) => part.startsWith('kernel:') || part === REPLAY;
  return joinedTerm(isCompute, 'hidden', look, from, to);
}

/** Whole nanoseconds of every part, split over the ways its launches took. */
function distribute(side: SideMeans, links: readonly Link[], which: 'from' | 'to'): Map<Link, number[]> {
  const shares = new Map<string, { link: Link; at: number; share: Share }[]>();
  const result = new Map<Link, number[]>();
  for (const link of links) {
    result.set(
      link,
      link[which].map(() => 0),
    );
    link[which].forEach((share, at) => {
      const known = shares.get(share.part);
      if (known) known.push({ link, at, share });
      else shares.set(share.part, [{ link, at, share }]);
    });
  }
  for (const [part, own] of shares) {
    // In an order that does not depend on which side is called the first.
    own.sort((x, y) => (groupName(x.link) < groupName(y.link) ? -1 : 1));
    const ns = splitByWeight(
      side.parts.get(part)?.ns ?? 0,
      own.map(({ share }) => share.weight),
    );
    own.forEach(({ link, at }, k) => {
      result.get(link)![at] = ns[k];
    });
  }
  return result;
}

/** The family most of its time is in, on both sides together. */
function familyOfLink({ from, to }: Link, ours: SideMeans, theirs: SideMeans): string {
  const spent = new Map<string, number>();
  const add = (shares: readonly Share[], { kernels }: SideMeans) => {
    for (const { part, weight } of shares) {
      const { family } = kernels.get(part)!;
      spent.set(family, (spent.get(family) ?? 0) + weight);
    }
  };
  add(from, ours);
  add(to, theirs);
  const order = families.map(({ id }) => id as string);
  return [...spent].sort((a, b) => b[1] - a[1] || order.indexOf(a[0]) - order.indexOf(b[0]))[0][0];
}

const countOf = (shares: readonly Share[]) => shares.reduce((sum, { count }) => sum + count, 0);

/** Stable whichever side comes first: the names of both in order. */
function groupName({ from, to, times }: Link): string {
  const side = (shares: readonly Share[]) =>
    shares.map(({ part, count }) => `${part}*${count / times}`).join('+');
  return [side(from), side(to)].sort().join(' / ');
}

function kindWords(kind: LinkKind, links: readonly Link[], changeNs: number): string {
  if (kind === 'same')
    return changeNs === 0 ? 'same kernels' : `same kernels ${changeNs > 0 ? 'slower' : 'faster'}`;
  if (kind === 'replaced') return 'replaced by other kernels';
  if (kind !== 'regrouped') return `kernels ${kind}`;
  const [{ from, to, times }] = links;
  const repeated = times > 1 ? `, ${times} times` : '';
  return `${plural(countOf(from) / times, 'kernel')} became ${countOf(to) / times}${repeated}`;
}

function rowsOf(
  link: Link,
  fromNs: readonly number[],
  toNs: readonly number[],
  from: SideMeans,
  to: SideMeans,
): TermRow[] {
  const sides = (shares: readonly Share[], ns: readonly number[], side: SideMeans) =>
    shares.map((share, at) => rowSide(side, share.part, countShare(side, share), ns[at]));
  const ours = sides(link.from, fromNs, from);
  const theirs = sides(link.to, toNs, to);
  if (link.kind === 'regrouped')
    return [...ours.map(side => termRow(side, null)), ...theirs.map(side => termRow(null, side))];
  return [termRow(ours[0] ?? null, theirs[0] ?? null)];
}

/** Launches per step of a part that go this way: those of the typical step, in proportion to the mean. */
function countShare(side: SideMeans, share: Share): number {
  const inStep = side.sequence.length > 0 ? (sequenceCounts(side).get(share.part) ?? 0) : 0;
  const mean = side.parts.get(share.part)?.count ?? 0;
  return inStep > 0 ? (mean * share.count) / inStep : mean;
}

const counted = new WeakMap<SideMeans, Map<string, number>>();

function sequenceCounts(side: SideMeans): Map<string, number> {
  let counts = counted.get(side);
  if (!counts) {
    counts = new Map();
    for (const { part } of side.sequence) counts.set(part, (counts.get(part) ?? 0) + 1);
    counted.set(side, counts);
  }
  return counts;
}

function rowSide({ kernels }: SideMeans, part: string, count: number, ns: number): RowSide {
  const plain = part === REPLAY ? 'graph replay' : part.slice(part.indexOf(':') + 1);
  const { shortName = plain, name = plain } = kernels.get(part) ?? {};
  return { kernel: shortName, name, count, ns };
}

const termRow = (from: RowSide | null, to: RowSide | null): TermRow => ({
  from,
  to,
  changeNs: (to?.ns ?? 0) - (from?.ns ?? 0),
});

const byChange = (rows: readonly TermRow[]) =>
  [...rows].sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs));

function sumsOf(rows: readonly TermRow[]) {
  const sum = (of: (row: TermRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    fromNs: sum(row => row.from?.ns ?? 0),
    toNs: sum(row => row.to?.ns ?? 0),
    changeNs: sum(row => row.changeNs),
    fromCount: sum(row => row.from?.count ?? 0),
    toCount: sum(row => row.to?.count ?? 0),
  };
}

/** All parts whose name begins so, joined by name. */
function joinedTerm(
  wanted: string | ((part: string) => boolean),
  kind: TermKind,
  { id, label, color }: Look,
  from: SideMeans,
  to: SideMeans,
): Term[] {
  const isWanted = typeof wanted === 'string' ? (part: string) => part.startsWith(wanted) : wanted;
  const names = [...new Set([...from.parts.keys(), ...to.parts.keys()])].filter(isWanted).sort();
  if (names.length === 0) return [];
  const side = (means: SideMeans, part: string) => {
    const known = means.parts.get(part);
    return known ? rowSide(means, part, known.count, known.ns) : null;
  };
  const rows = names.map(name => termRow(side(from, name), side(to, name)));
  return [{ key: kind, kind, of: id, label, color, ...sumsOf(rows), rows: byChange(rows) }];
}

function idleTerms(from: SideMeans, to: SideMeans): Term[] {
  const causes = [...new Set([...from.parts.keys(), ...to.parts.keys()])].filter(part =>
    part.startsWith('idle:'),
  );
  return causes.map(part => {
    const { id, label, color } = causeLook(part.slice(5));
    const [fromNs, toNs] = [from.parts.get(part)?.ns ?? 0, to.parts.get(part)?.ns ?? 0];
    return {
      key: `idle/${id}`,
      kind: 'idle' as const,
      of: id,
      label: `idle: ${label}`,
      color,
      fromNs,
      toNs,
      changeNs: toNs - fromNs,
      fromCount: null,
      toCount: null,
      rows: [],
    };
  });
}
