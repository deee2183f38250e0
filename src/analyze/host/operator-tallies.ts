/** Sums per kind of operator, of calls that were recorded and of those that a captured graph stands for. */
import { NONE } from '../../base/column.js';
import type { CapturedGraph, OperatorKind } from '../captured-graph.js';

export interface UnderOperator {
  readonly name: string;
  readonly count: number;
  readonly ns: number;
}

export const LISTED_UNDER = 20;

type Tallied = Map<string, { count: number; ns: number }>;

function newTally() {
  return {
    ...{ count: 0, withWork: 0, launched: 0, hostNs: 0, hostSelfNs: 0, gpuNs: 0, gpuTotalNs: 0 },
    ...{ kernels: new Map() as Tallied, modules: new Map() as Tallied },
  };
}

export function tally(tallied: Tallied, name: string, ns: number): void {
  const known = tallied.get(name);
  if (known) {
    known.count++;
    known.ns += ns;
  } else tallied.set(name, { count: 1, ns });
}

export const listed = (tallied: Tallied): UnderOperator[] =>
  [...tallied]
    .map(([name, counts]) => ({ name, ...counts }))
    .sort((a, b) => b.ns - a.ns || b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, LISTED_UNDER);

export class OperatorTallies {
  readonly kinds: OperatorKind[];
  readonly tallies: ReturnType<typeof newTally>[];
  private readonly byContent = new Map<string, number>();

  constructor(kinds: readonly OperatorKind[]) {
    this.kinds = [...kinds];
    this.tallies = kinds.map(() => newTally());
    kinds.forEach((kind, index) => {
      this.byContent.set(contentOf(kind), index);
    });
  }

  /** Counts what a replay ran with the operators of its capture; gives the time that went to operators. */
  addReplay(graph: CapturedGraph, durations: readonly number[], names: readonly string[]): number {
    const { calls, nodeCall } = graph;
    const selfNs = new Float64Array(calls.length);
    const launched = new Int32Array(calls.length);
    let found = 0;
    nodeCall.forEach((call, node) => {
      if (call === NONE) return;
      selfNs[call] += durations[node];
      launched[call]++;
      found += durations[node];
      tally(this.tallies[this.indexOf(calls[call].kind)].kernels, names[node], durations[node]);
    });
    const totalNs = selfNs.slice();
    for (let call = calls.length - 1; call >= 0; call--)
      if (calls[call].parent !== NONE) totalNs[calls[call].parent] += totalNs[call];
    calls.forEach(({ kind, module }, call) => {
      const known = this.tallies[this.indexOf(kind)];
      known.count++;
      known.gpuNs += selfNs[call];
      known.launched += launched[call];
      if (module !== '') tally(known.modules, module, selfNs[call]);
      if (this.isInside(graph, call)) return;
      known.gpuTotalNs += totalNs[call];
      if (totalNs[call] > 0) known.withWork++;
    });
    return found;
  }

  private indexOf(kind: OperatorKind): number {
    const content = contentOf(kind);
    let index = this.byContent.get(content);
    if (index === undefined) {
      index = this.kinds.push(kind) - 1;
      this.tallies.push(newTally());
      this.byContent.set(content, index);
    }
    return index;
  }

  /** Called by its own kind: the time is in the caller's already. */
  private isInside({ calls }: CapturedGraph, call: number): boolean {
    for (let outer = calls[call].parent; outer !== NONE; outer = calls[outer].parent)
      if (contentOf(calls[outer].kind) === contentOf(calls[call].kind)) return true;
    return false;
  }
}

const contentOf = ({ name, shapes, types }: OperatorKind): string => `${name}\n${shapes}\n${types}`;
