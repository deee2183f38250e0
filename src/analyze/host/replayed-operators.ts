/** Which captured graph each replay is, and so which operator each of its nodes belongs to. */
import { NONE } from '../../base/column.js';
import { GRAPH_LAUNCH } from '../../catalog/host-activities.js';
import { multipliesMatrices } from '../../catalog/operator-costs.js';
import type { Profile } from '../../model/profile.js';
import type { CapturedGraph } from '../captured-graph.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import { nameTest } from '../name-test.js';

interface Replay {
  /** Pieces of GPU work in the order of the graph's nodes. */
  readonly work: readonly number[];
  readonly graph: CapturedGraph;
}

/** Why the operators of a replay cannot be determined. */
export type NoMatch = 'node-count' | 'several-graphs' | 'other-kernels' | 'parallel-branches';

interface ReplayedOperators {
  readonly replays: readonly Replay[];
  /** Replays without a match, by reason. */
  readonly unmatched: ReadonlyMap<NoMatch, number>;
}

/** Kernels under operators that multiply matrices are GEMMs: of a right match nearly all. */
const LEAST_GEMMS = 0.8;

export function replayedOperators(
  profile: Profile,
  work: GpuWork,
  counts: (i: number) => boolean,
  graphs: readonly CapturedGraph[],
  isGemm: (kernelName: number) => boolean,
  batchOf: (i: number) => number | undefined,
): ReplayedOperators {
  const byLaunch = new Map<number, number[]>();
  const isGraphLaunch = nameTest(profile, GRAPH_LAUNCH);
  const calls = profile.tables.apiCalls;
  for (let i = 0; i < work.length; i++) {
    const launch = work.launch[i];
    if (launch === NONE || !counts(i) || !isGraphLaunch(calls!.name[launch])) continue;
    const own = byLaunch.get(launch);
    if (own) own.push(i);
    else byLaunch.set(launch, [i]);
  }
  const replays: Replay[] = [];
  const unmatched = new Map<NoMatch, number>();
  if (graphs.length === 0) return { replays, unmatched };
  for (const own of byLaunch.values()) {
    const ordered = inNodeOrder(profile, work, own);
    const match = ordered ? graphOf(ordered) : 'parallel-branches';
    if (typeof match === 'string') unmatched.set(match, (unmatched.get(match) ?? 0) + 1);
    else replays.push({ work: ordered!, graph: match });
  }
  return { replays, unmatched };

  function graphOf(own: readonly number[]): CapturedGraph | NoMatch {
    const same = graphs.filter(
      ({ nodeKind }) =>
        nodeKind.length === own.length && nodeKind.every((kind, node) => kind === work.kind[own[node]]),
    );
    if (same.length === 0) return 'node-count';
    const fitting = same.filter(graph => multipliesWhereCaptured(graph, own));
    if (fitting.length === 0) return 'other-kernels';
    // Layers are captured alike: graphs that do the same are one.
    const distinct = [...new Map(fitting.map(graph => [contentOf(graph), graph])).values()];
    if (distinct.length === 1) return distinct[0];
    const batch = batchOf(own[0]);
    if (batch === undefined) return 'several-graphs';
    // A batch is padded to the next size that was captured.
    const sizes = distinct.flatMap(graph => ((graph.batch ?? 0) >= batch ? [graph.batch!] : []));
    const next = distinct.filter(graph => graph.batch === Math.min(...sizes));
    return next.length === 1 ? next[0] : 'several-graphs';
  }

  function multipliesWhereCaptured(
    { nodeCall, calls: captured }: CapturedGraph,
    own: readonly number[],
  ): boolean {
    const names = profile.tables.kernels?.name;
    const multiplied = new Map<number, boolean>();
    nodeCall.forEach((call, node) => {
      if (
        call === NONE ||
        work.kind[own[node]] !== WorkKind.kernel ||
        !multipliesMatrices(captured[call].kind.name)
      )
        return;
      const gemm = isGemm(names![work.row[own[node]]]);
      // A split GEMM adds up its parts in a kernel of its own: one of them is enough.
      multiplied.set(call, (multiplied.get(call) ?? false) || gemm);
    });
    const right = [...multiplied.values()].filter(Boolean).length;
    return right >= LEAST_GEMMS * multiplied.size;
  }
}

/** By the number of the node where it is recorded; otherwise by time, if the nodes run one after another. */
function inNodeOrder(profile: Profile, work: GpuWork, own: readonly number[]): readonly number[] | undefined {
  const nodeOf = (i: number) =>
    work.kind[i] === WorkKind.kernel
      ? (profile.tables.kernels?.graphNode?.[work.row[i]] ?? Number.NaN)
      : Number.NaN;
  const numbers = own.map(nodeOf);
  if (numbers.every(node => node > 0)) {
    const order = own.map((_, at) => at).sort((a, b) => numbers[a] - numbers[b]);
    return order.map(at => own[at]);
  }
  return own.every(i => work.stream[i] === work.stream[own[0]]) ? own : undefined;
}

const contentOf = ({ calls, nodeCall }: CapturedGraph): string =>
  nodeCall
    .map(call =>
      call === NONE ? '' : `${calls[call].kind.name}${calls[call].kind.shapes}${calls[call].kind.types}`,
    )
    .join('\n');
