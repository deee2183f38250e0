/** Operators by who calls whom, with the time of the work under each: calls on the same path are one node. */
import { NONE } from '../../base/column.js';
import type { OpCalls } from './op-calls.js';

/** A type, not an interface: it is also JSON. */
export type OperatorNode = {
  /** Operators from the outermost to this one. */
  readonly path: readonly string[];
  readonly count: number;
  readonly hostNs: number;
  readonly gpuNs: number;
  /** Of the work it launched itself. */
  readonly gpuSelfNs: number;
};

/** Paths beyond these take too little time to be read. */
const LISTED = 200;
/** Operators on a path; deeper ones count with the last that is kept. */
const MAX_DEPTH = 12;

interface Growing {
  readonly path: readonly string[];
  readonly children: Map<string, Growing>;
  count: number;
  hostNs: number;
  gpuNs: number;
  gpuSelfNs: number;
}

/** Callers before what they call; of one caller, the most GPU time first. */
export function operatorTree(
  calls: OpCalls,
  isSelected: Uint8Array,
  gpuSelfNs: Float64Array,
  gpuNs: Float64Array,
): OperatorNode[] {
  const root = grow([]);
  const nodeOf: (Growing | undefined)[] = [];
  for (let call = 0; call < calls.length; call++) {
    if (!isSelected[call]) continue;
    const parent = calls.parent[call];
    const above = (parent === NONE ? undefined : nodeOf[parent]) ?? root;
    const { name } = calls.kinds[calls.kind[call]];
    if (above.path.length >= MAX_DEPTH) {
      above.gpuSelfNs += gpuSelfNs[call];
      nodeOf[call] = above;
      continue;
    }
    let node = above.children.get(name);
    if (!node) above.children.set(name, (node = grow([...above.path, name])));
    nodeOf[call] = node;
    node.count++;
    node.hostNs += calls.end[call] - calls.start[call];
    node.gpuNs += gpuNs[call];
    node.gpuSelfNs += gpuSelfNs[call];
  }
  const all: Growing[] = [];
  const visit = (node: Growing) => {
    const below = [...node.children.values()].sort((a, b) => b.gpuNs - a.gpuNs || b.hostNs - a.hostNs);
    for (const child of below) {
      all.push(child);
      visit(child);
    }
  };
  visit(root);
  const least = [...all].sort((a, b) => b.gpuNs - a.gpuNs)[LISTED]?.gpuNs ?? -1;
  // A caller has at least the time of what it calls, so no node loses its caller.
  const kept = all.filter(node => node.gpuNs > least).slice(0, LISTED);
  return kept.map(({ children: _, ...node }) => node);
}

const grow = (path: readonly string[]): Growing => ({
  ...{ path, children: new Map(), count: 0, hostNs: 0, gpuNs: 0, gpuSelfNs: 0 },
});
