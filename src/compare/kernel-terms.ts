/** The terms of compute: each kernel's whole nanoseconds split over what became of its launches. */
import { familyLook } from '../analyze/names-and-colors.js';
import { plural } from '../base/units.js';
import { families } from '../catalog/kernels/families.js';
import { splitByWeight } from '../run/apportion.js';
import type { SideMeans } from '../run/side-means.js';
import { type Link, type LinkKind, matchKernels, type Share } from './match-kernels.js';
import { byChange, rowSide, sumsOf, type Term, type TermRow, termRow } from './term-rows.js';

/** Per kernel family: what ran again, what was exchanged, regrouped, removed and added. */
export function kernelTerms(from: SideMeans, to: SideMeans, spellingsDiffer: boolean): Term[] {
  const links = matchKernels(from, to, spellingsDiffer);
  const ours = distribute(from, links, 'from');
  const theirs = distribute(to, links, 'to');
  const groups = new Map<string, { kind: LinkKind; family: string; links: Link[] }>();
  for (const link of links) {
    const family = familyOfLink(link, from, to);
    const own = link.kind === 'regrouped' ? `/${hashOf(groupName(link))}` : '';
    const key = `compute/${family}/${link.kind}${own}`;
    const known = groups.get(key);
    if (known) known.links.push(link);
    else groups.set(key, { kind: link.kind, family, links: [link] });
  }
  return [...groups].map(([key, { kind, family, links: own }]): Term => {
    const rows = own.flatMap(link => rowsOf(link, ours.get(link)!, theirs.get(link)!, from, to));
    const sums = sumsOf(rows);
    const label = `${familyLook(family).label}: ${kindWords(kind, own, sums.changeNs)}`;
    return { key, kind, of: family, label, color: familyLook(family).color, ...sums, rows: byChange(rows) };
  });
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

/** Names of a dozen kernels are no key anyone wants to read. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
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
