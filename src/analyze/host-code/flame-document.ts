/**
 * The host's call tree as columns, for a flame graph: every call path once, with both weights. Where it would be too
 * large, the smallest nodes are added up, so that no time is lost.
 */
import type { Analyzer } from '../analysis.js';
import type { Look } from '../names-and-colors.js';
import { ROOT } from './call-paths.js';
import { childrenOf, totalsOf } from './call-tree.js';
import { flameGroups } from './flame-groups.js';
import { type HostWeight, hostSums } from './host-profile.js';
import { namedTime } from './named-share.js';
import { hintForNames } from './names-hint.js';

interface FlameName {
  readonly text: string;
  /** Of a Python function: file and line. */
  readonly file?: string;
  /** Index into groups. */
  readonly group: number;
}

interface FlameWeight {
  /** What means are taken over. */
  readonly windows: number;
  /** By node: in the node itself, and the calls behind it and what it calls. */
  readonly selfNs: readonly number[];
  readonly calls: readonly number[];
  /** How to record what has no name; null: nearly all has one, or nothing more can be recorded. */
  readonly hint: string | null;
}

export interface FlameDocument {
  /** Selected steps; 0: the whole trace. */
  readonly steps: number;
  readonly groups: readonly Look[];
  readonly names: readonly FlameName[];
  /** Callers before what they call. Node 0 is the root: parent and name are -1. */
  readonly parent: readonly number[];
  readonly name: readonly number[];
  readonly weights: { readonly [Weight in HostWeight]: FlameWeight };
}

/** A browser lays out so many in a few milliseconds. */
const MOST_NODES = 10_000;

export function flameDocument(analyzer: Analyzer, mostNodes = MOST_NODES): FlameDocument {
  const idle = hostSums(analyzer, 'idle');
  const time = hostSums(analyzer, 'time');
  const { paths } = idle;
  const totals = { idle: totalsOf(paths, idle.sums.selfNs), time: totalsOf(paths, time.sums.selfNs) };
  /** A node counts by the larger of its two shares; none has a larger one than its parent. */
  const sizes = totals.idle.map((ns, node) =>
    Math.max(shareOf(ns, totals.idle[ROOT]), shareOf(totals.time[node], totals.time[ROOT])),
  );
  const below = childrenOf(paths, sizes);
  const least = sizes.length > mostNodes ? sizes.slice().sort().at(-mostNodes)! : 0;

  const parent = [-1];
  const name = [-1];
  const columns = { idle: ownColumns(), time: ownColumns() };
  const names: { readonly painted: Parameters<typeof flameGroups>[0][number]; readonly text: string }[] = [];
  const nameSizes: number[] = [];
  const nameIndex = new Map<string | number, number>();
  const weights = [
    { into: columns.idle, sums: idle.sums, totals: totals.idle },
    { into: columns.time, sums: time.sums, totals: totals.time },
  ];
  const add = (above: number, index: number, size: number): void => {
    parent.push(above);
    name.push(index);
    nameSizes[index] = (nameSizes[index] ?? 0) + size;
  };
  const visit = (node: number, place: number): void => {
    const isLeaf = sizes[node] < least;
    for (const { into, sums, totals } of weights) {
      into.selfNs.push(isLeaf ? totals[node] : (sums.selfNs[node] ?? 0));
      into.calls.push(node === ROOT ? 0 : (sums.calls[node] ?? 0));
    }
    if (isLeaf) return;
    const small = below[node].filter(child => sizes[child] < least);
    // One small node under its own name is worth more than "1 smaller".
    const isFolded = small.length > 1;
    for (const child of below[node]) {
      if (isFolded && sizes[child] < least) continue;
      const host = paths.names[child]!;
      add(place, indexOf(paths.idOf(host), host, host.text), sizes[child]);
      visit(child, parent.length - 1);
    }
    if (!isFolded) return;
    const text = `${small.length} smaller`;
    add(place, indexOf(text, 'smaller', text), 0);
    for (const { into, sums, totals } of weights) {
      into.selfNs.push(small.reduce((sum, child) => sum + totals[child], 0));
      into.calls.push(small.reduce((sum, child) => sum + (sums.calls[child] ?? 0), 0));
    }
  };
  visit(ROOT, 0);

  const { groups, groupOf } = flameGroups(
    names.map(({ painted }) => painted),
    nameSizes,
  );
  const weightOf = ({ sums, windows }: typeof idle, own: ReturnType<typeof ownColumns>): FlameWeight => ({
    windows,
    ...own,
    hint: hintForNames(analyzer.profile, namedTime(paths, sums)) ?? null,
  });
  return {
    steps: idle.steps,
    groups,
    names: names.map(({ painted, text }, i) => ({
      text,
      ...(painted !== 'smaller' && painted.file !== undefined ? { file: painted.file } : {}),
      group: groupOf[i],
    })),
    parent,
    name,
    weights: { idle: weightOf(idle, columns.idle), time: weightOf(time, columns.time) },
  };

  function indexOf(key: string | number, painted: (typeof names)[number]['painted'], text: string): number {
    let index = nameIndex.get(key);
    if (index === undefined) {
      index = names.push({ painted, text }) - 1;
      nameIndex.set(key, index);
    }
    return index;
  }
}

const ownColumns = () => ({ selfNs: [] as number[], calls: [] as number[] });

const shareOf = (ns: number, all: number) => (all > 0 ? ns / all : 0);
