/**
 * A call tree as a plain value: what the terminal, JSON and the flame graph show. Small nodes are added up, so that a
 * tree stays small and no time is lost: a node's totalNs is its selfNs and the totals of its children, always.
 */
import type { HostNameKind } from '../../catalog/host-names.js';
import { type CallPaths, ROOT } from './call-paths.js';
import type { NodeSums } from './call-tally.js';

export interface CallNode {
  readonly name: string;
  /** `smaller`: several nodes added up. `all`: the root. */
  readonly kind: HostNameKind | 'smaller' | 'all';
  /** Innermost class of a module on the way; null: none is recorded. */
  readonly module: string | null;
  readonly selfNs: number;
  readonly totalNs: number;
  /** Calls behind the time; of added-up nodes, the sum of theirs. */
  readonly count: number;
  readonly children: readonly CallNode[];
}

interface TreeLimits {
  /** Nodes with a smaller share of the whole are added up. */
  readonly leastShare: number;
  /** Levels below the root; what is deeper counts as its caller's own. */
  readonly depth: number;
}

export const WHOLE_TREE: TreeLimits = { leastShare: 0.001, depth: 200 };

const ROOT_NAME = 'all host code';

/** Callers above, what they call below. */
export function callTree(paths: CallPaths, { selfNs, calls }: NodeSums, limits = WHOLE_TREE): CallNode {
  const totals = totalsOf(paths, selfNs);
  const below = childrenOf(paths, totals);
  const least = limits.leastShare * totals[ROOT];
  const callsBelow = below[ROOT].reduce((sum, child) => sum + (calls[child] ?? 0), calls[ROOT] ?? 0);
  const build = (node: number, depth: number): CallNode => {
    const isLast = depth >= limits.depth;
    const children = isLast ? [] : below[node].map(child => () => build(child, depth + 1));
    const sizes = isLast ? [] : below[node].map(child => ({ ns: totals[child], count: calls[child] ?? 0 }));
    return {
      name: node === ROOT ? ROOT_NAME : paths.names[node]!.text,
      kind: node === ROOT ? 'all' : paths.names[node]!.kind,
      module: paths.moduleOf(node) ?? null,
      selfNs: isLast ? totals[node] : (selfNs[node] ?? 0),
      totalNs: totals[node],
      count: node === ROOT ? callsBelow : (calls[node] ?? 0),
      children: folded(children, sizes, least),
    };
  };
  return build(ROOT, 0);
}

/** What took the time on top, its callers below: where is one function called from? */
export function invertedTree(paths: CallPaths, { selfNs, calls }: NodeSums, limits = WHOLE_TREE): CallNode {
  interface Draft {
    node: number;
    ns: number;
    count: number;
    readonly callers: Map<number, Draft>;
  }
  const draft = (node: number): Draft => ({ node, ns: 0, count: 0, callers: new Map() });
  const root = draft(ROOT);
  for (let node = 0; node < paths.size; node++) {
    const ns = selfNs[node] ?? 0;
    if (!(ns > 0)) continue;
    const count = calls[node] ?? 0;
    root.ns += ns;
    root.count += count;
    let at = root;
    for (let caller = node; caller > ROOT; caller = paths.parents[caller]) {
      const id = paths.idOf(paths.names[caller]!);
      let next = at.callers.get(id);
      if (!next) at.callers.set(id, (next = draft(caller)));
      next.ns += ns;
      next.count += count;
      at = next;
    }
  }
  const least = limits.leastShare * root.ns;
  const build = ({ node, ns, count, callers }: Draft, depth: number): CallNode => {
    const isLast = depth >= limits.depth;
    const below = isLast ? [] : [...callers.values()].sort((a, b) => b.ns - a.ns);
    return {
      name: node === ROOT ? ROOT_NAME : paths.names[node]!.text,
      kind: node === ROOT ? 'all' : paths.names[node]!.kind,
      module: paths.moduleOf(node) ?? null,
      // Time that no further caller is known of.
      selfNs: ns - below.reduce((sum, caller) => sum + caller.ns, 0),
      totalNs: ns,
      count,
      children: folded(
        below.map(caller => () => build(caller, depth + 1)),
        below.map(caller => ({ ns: caller.ns, count: caller.count })),
        least,
      ),
    };
  };
  return build(root, 0);
}

/** The children that are large enough, and the others as one. */
function folded(
  children: readonly (() => CallNode)[],
  sizes: readonly { readonly ns: number; readonly count: number }[],
  least: number,
): readonly CallNode[] {
  const small = sizes.filter(({ ns }) => ns < least);
  // One small node under its own name says more than "1 smaller"; what it calls is smaller still.
  if (small.length < 2)
    return children.map((build, i) => (sizes[i].ns < least ? withoutChildren(build()) : build()));
  const ns = small.reduce((sum, size) => sum + size.ns, 0);
  return [
    ...children.filter((_, i) => sizes[i].ns >= least).map(build => build()),
    {
      name: `${small.length} smaller`,
      kind: 'smaller',
      module: null,
      selfNs: ns,
      totalNs: ns,
      count: small.reduce((sum, size) => sum + size.count, 0),
      children: [],
    },
  ];
}

const withoutChildren = (node: CallNode): CallNode => ({ ...node, selfNs: node.totalNs, children: [] });

/** Time at each node and below it. A node's number is larger than its parent's. */
export function totalsOf(paths: CallPaths, selfNs: NodeSums['selfNs']): Float64Array {
  const totals = new Float64Array(paths.size);
  for (let node = paths.size - 1; node >= 0; node--) {
    totals[node] += selfNs[node] ?? 0;
    if (node > ROOT) totals[paths.parents[node]] += totals[node];
  }
  return totals;
}

/** Children with time of each node, largest first. */
export function childrenOf(paths: CallPaths, totals: Float64Array): readonly (readonly number[])[] {
  const below: number[][] = Array.from({ length: paths.size }, () => []);
  for (let node = 1; node < paths.size; node++) if (totals[node] > 0) below[paths.parents[node]].push(node);
  for (const list of below) list.sort((a, b) => totals[b] - totals[a] || a - b);
  return below;
}
