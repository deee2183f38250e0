/**
 * Layers of graph kernels by the numbers of their nodes, as the agent counted them while the graph was captured. A
 * replayed graph belongs to a captured one of as many kernels at the same places; where several of those disagree,
 * nothing is said.
 *
 *     captured   nodes 0 … 421, 421 of them kernels, layers.0 is 19 to 67
 *     replayed   graph 2 runs 421 different kernel nodes: node 2·2³² + 20 lies in layers.0
 *
 * Where the profiler does not number nodes (PyTorch), the order of the work of one launch stands for it, if the graph
 * is a chain. That profiler records copies inside graphs as kernels, so it is all the nodes that must be there.
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { GRAPH_LAUNCH } from '../../catalog/host-activities.js';
import type { Profile, Row } from '../../model/profile.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import { nameTest } from '../name-test.js';

/** CUPTI's node ids: the graph's number above, the node's below. */
const NODES_PER_GRAPH = 2 ** 32;

interface CapturedGraph {
  readonly process: number;
  readonly nodes: number;
  readonly kernels: number;
  readonly isChain: boolean;
  /** How many kernels come before a node, where a part begins or ends. */
  readonly kernelsBefore: Map<number, number>;
  /** Per node, and per kernel: the name of the innermost part, or NONE. */
  readonly nameOfNode: Int32Array;
  readonly nameOfKernel: Int32Array;
}

/** Called with a piece of work and the name of its part (an id of Profile.strings). */
type AssignName = (i: number, name: number) => void;

export function assignGraphParts(profile: Profile, work: GpuWork, assign: AssignName): void {
  const graphs = capturedGraphs(profile);
  if (graphs.length === 0) return;
  if (profile.tables.kernels?.graphNode) byNodeNumber(profile, work, graphs, assign);
  else byOrder(profile, work, graphs, assign);
}

function capturedGraphs(profile: Profile): CapturedGraph[] {
  const parts = profile.tables.graphParts;
  const found = new Map<string, CapturedGraph>();
  for (let row = 0 as Row<'graphParts'>; row < (parts?.length ?? 0); row++) {
    const { process } = profile.threads[parts!.thread[row]];
    const key = `${process} ${parts!.captured[row]}`;
    const nodes = parts!.nodes[row];
    const kernels = parts!.kernels[row];
    const graph = found.get(key) ?? {
      process,
      nodes,
      kernels,
      isChain: parts!.isChain[row] === 1,
      kernelsBefore: new Map<number, number>(),
      nameOfNode: new Int32Array(nodes).fill(NONE),
      nameOfKernel: new Int32Array(kernels).fill(NONE),
    };
    found.set(key, graph);
    graph.kernelsBefore.set(parts!.firstNode[row], parts!.firstKernel[row]);
    graph.kernelsBefore.set(parts!.endNode[row], parts!.endKernel[row]);
    // Inner parts come after those around them, and so write over them.
    graph.nameOfNode.fill(parts!.name[row], parts!.firstNode[row], parts!.endNode[row]);
    graph.nameOfKernel.fill(parts!.name[row], parts!.firstKernel[row], parts!.endKernel[row]);
  }
  return [...found.values()];
}

/** The names of a graph's members, where all graphs that it could be agree. */
function agreed(
  candidates: readonly CapturedGraph[],
  namesOf: (graph: CapturedGraph) => Int32Array,
): Int32Array | undefined {
  if (candidates.length === 0) return undefined;
  const [first, ...others] = candidates.map(namesOf);
  return others.every(other => other.length === first.length && other.every((name, i) => name === first[i]))
    ? first
    : undefined;
}

interface ReplayedGraph {
  readonly process: number;
  readonly kernels: Set<number>;
  readonly work: number[];
}

function byNodeNumber(
  profile: Profile,
  work: GpuWork,
  graphs: readonly CapturedGraph[],
  assign: AssignName,
): void {
  const nodeOfKernel = profile.tables.kernels!.graphNode!;
  const replayed = new Map<string, ReplayedGraph>();
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel) continue;
    const node = nodeOfKernel[work.row[i]];
    if (!(node > 0)) continue;
    const { process } = profile.streams[work.stream[i]];
    const key = `${process} ${Math.floor(node / NODES_PER_GRAPH)}`;
    const graph = replayed.get(key) ?? { process, kernels: new Set<number>(), work: [] };
    replayed.set(key, graph);
    graph.kernels.add(node % NODES_PER_GRAPH);
    graph.work.push(i);
  }
  for (const { process, kernels, work: own } of replayed.values()) {
    const places = Float64Array.from(kernels).sort();
    const names = agreed(
      graphs.filter(graph => graph.process === process && fits(graph, places)),
      graph => graph.nameOfNode,
    );
    if (!names) continue;
    for (const i of own) assign(i, names[nodeOfKernel[work.row[i]] % NODES_PER_GRAPH]);
  }
}

/** As many kernels, none beyond the last node, and as many before each part. */
function fits({ nodes, kernels, kernelsBefore }: CapturedGraph, places: Float64Array): boolean {
  if (kernels !== places.length || !(places[places.length - 1] < nodes)) return false;
  return [...kernelsBefore].every(([node, before]) => lowerBound(places, node) === before);
}

function byOrder(
  profile: Profile,
  work: GpuWork,
  graphs: readonly CapturedGraph[],
  assign: AssignName,
): void {
  const calls = profile.tables.apiCalls;
  if (!calls) return;
  const isGraphLaunch = nameTest(profile, GRAPH_LAUNCH);
  const byLaunch = new Map<number, number[]>();
  for (let i = 0; i < work.length; i++) {
    const call = work.launch[i];
    if (call === NONE || !isGraphLaunch(calls.name[call])) continue;
    const own = byLaunch.get(call);
    if (own) own.push(i);
    else byLaunch.set(call, [i]);
  }
  for (const own of byLaunch.values()) {
    const { process } = profile.streams[work.stream[own[0]]];
    const chains = graphs.filter(graph => graph.process === process && graph.isChain);
    const names = agreed(
      chains.filter(({ nodes }) => nodes === own.length),
      graph => graph.nameOfNode,
    );
    if (names) {
      for (let at = 0; at < own.length; at++) assign(own[at], names[at]);
      continue;
    }
    const kernels = own.filter(i => work.kind[i] === WorkKind.kernel);
    const ofKernels = agreed(
      chains.filter(graph => graph.kernels === kernels.length),
      graph => graph.nameOfKernel,
    );
    if (ofKernels) for (let at = 0; at < kernels.length; at++) assign(kernels[at], ofKernels[at]);
  }
}
