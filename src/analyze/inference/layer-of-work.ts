/**
 * The model layer each piece of GPU work belongs to. In order of trust: the innermost layer range open when it was
 * launched; for graph nodes, when the node was captured, or as our agent counted them; for steps without any of these,
 * the repeating pattern of kernels.
 */
import { type NarrowCells, NONE, narrowed } from '../../base/column.js';
import { Innermost } from '../../base/innermost.js';
import { layerOf } from '../../catalog/layer-names.js';
import type { Profile, Row } from '../../model/profile.js';
import { RangeKind } from '../../model/schema.js';
import type { Derived } from '../analysis.js';
import { type GpuWork, gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { assignGraphParts } from './graph-part-layers.js';
import { patternLayers } from './pattern-layers.js';
import { stepWork } from './step-work.js';

type LayerMethod = 'ranges' | 'graph-capture' | 'graph-parts' | 'pattern';

interface LayersOfWork {
  /** Per piece of work: layer number, or NONE. */
  readonly layer: NarrowCells;
  /** Per piece of work: index into `parts`. */
  readonly part: NarrowCells;
  readonly parts: readonly string[];
  readonly methods: readonly LayerMethod[];
}

/** Where a layer begins and ends on a thread. */
interface LayerRange {
  readonly start: number;
  readonly end: number;
  readonly layer: number;
  readonly part: number;
}

export const layerOfWork: Derived<LayersOfWork> = {
  id: 'layer-of-work',
  reads: {
    ranges: [],
    frames: [],
    apiCalls: [],
    kernels: ['graphNode'],
    graphNodes: ['originalNode'],
    graphParts: [],
  },
  uses: [gpuWork, stepWork],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const layer = new Int32Array(work.length).fill(NONE);
    const part = new Int32Array(work.length);
    const parts: string[] = [''];
    const placeOf = layerNames(profile, parts);
    const byThread = collectRanges(profile, placeOf);
    const methods: LayerMethod[] = [];
    const assign = (i: number, range: LayerRange | undefined): boolean => {
      if (!range) return false;
      layer[i] = range.layer;
      part[i] = range.part;
      return true;
    };
    if (byThread.size > 0) {
      if (byLaunch(profile, work, byThread, assign)) methods.push('ranges');
      if (byCapture(profile, work, byThread, layer, assign)) methods.push('graph-capture');
    }
    let counted = false;
    assignGraphParts(profile, work, (i, name) => {
      const place = layer[i] === NONE && name !== NONE ? placeOf(name) : undefined;
      if (!place) return;
      layer[i] = place.layer;
      part[i] = place.part;
      counted = true;
    });
    if (counted) methods.push('graph-parts');
    const found = use(stepWork);
    if (found && patternLayers(profile, work, found, layer)) methods.push('pattern');
    return { layer: narrowed(layer), part: narrowed(part), parts, methods };
  },
};

interface Place {
  readonly layer: number;
  readonly part: number;
}

/** What a name says about layers, each name looked at once; new parts are added to the list. */
function layerNames(profile: Profile, parts: string[]): (name: number) => Place | undefined {
  const known = new Map<number, Place | undefined>();
  return name => {
    if (!known.has(name)) {
      const found = layerOf(profile.strings.text(name as never));
      if (found && !parts.includes(found.part)) parts.push(found.part);
      known.set(name, found && { layer: found.layer, part: parts.indexOf(found.part) });
    }
    return known.get(name);
  };
}

function collectRanges(
  profile: Profile,
  placeOf: (name: number) => Place | undefined,
): Map<number, LayerRange[]> {
  const byThread = new Map<number, LayerRange[]>();
  const add = (thread: number, name: number, start: number, end: number) => {
    if (thread === NONE || name === NONE || !(end > start)) return;
    const found = placeOf(name);
    if (!found) return;
    const list = byThread.get(thread);
    if (list) list.push({ start, end, ...found });
    else byThread.set(thread, [{ start, end, ...found }]);
  };
  const ranges = profile.tables.ranges;
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++)
    if (ranges!.kind[row] === RangeKind.pushPop || ranges!.kind[row] === RangeKind.startEnd)
      add(ranges!.thread[row], ranges!.name[row], ranges!.start[row], ranges!.end[row]);
  const frames = profile.tables.frames;
  for (let row = 0 as Row<'frames'>; row < (frames?.length ?? 0); row++)
    add(frames!.thread[row], frames!.name[row], frames!.start[row], frames!.end[row]);
  for (const list of byThread.values()) list.sort((a, b) => a.start - b.start || b.end - a.end);
  return byThread;
}

type Assign = (i: number, range: LayerRange | undefined) => boolean;

function byLaunch(
  profile: Profile,
  work: GpuWork,
  byThread: Map<number, LayerRange[]>,
  assign: Assign,
): boolean {
  const calls = profile.tables.apiCalls;
  if (!calls) return false;
  const lookups = profile.threads.map((_, thread) => {
    const ranges = byThread.get(thread);
    return ranges && new Innermost(ranges);
  });
  const isLaunch = new Uint8Array(calls.length);
  for (let i = 0; i < work.length; i++) if (work.launch[i] !== NONE) isLaunch[work.launch[i]] = 1;
  // Calls are in order of time, and graph launches repeat: each call is looked up once.
  const rangeOfCall = new Int32Array(calls.length).fill(NONE);
  for (let call = 0 as Row<'apiCalls'>; call < calls.length; call++) {
    if (isLaunch[call] === 0) continue;
    const thread = calls.thread[call];
    const lookup = thread === NONE ? undefined : lookups[thread];
    if (lookup) rangeOfCall[call] = lookup.at(calls.start[call]);
  }
  const rangesOf = profile.threads.map((_, thread) => byThread.get(thread));
  let any = false;
  for (let i = 0; i < work.length; i++) {
    const call = work.launch[i];
    if (call === NONE || rangeOfCall[call] === NONE) continue;
    any = assign(i, rangesOf[calls.thread[call]]![rangeOfCall[call]]) || any;
  }
  return any;
}

/** A graph is captured, then cloned, perhaps more than once; a damaged file may go in circles. */
const MOST_CLONES = 8;

/** A replayed node goes back to the node captured from the stream, whose time lies inside the layer's range. */
function byCapture(
  profile: Profile,
  work: GpuWork,
  byThread: Map<number, LayerRange[]>,
  layer: Int32Array,
  assign: Assign,
): boolean {
  const nodes = profile.tables.graphNodes;
  const nodeOfKernel = profile.tables.kernels?.graphNode;
  if (!nodes || !nodeOfKernel) return false;
  // A node is written down several times (captured, cloned, instantiated); one of these names where it came from.
  const rowOfNode = new Map<number, Row<'graphNodes'>>();
  const originalOf = new Map<number, number>();
  for (let row = (nodes.length - 1) as Row<'graphNodes'>; row >= 0; row--) {
    rowOfNode.set(nodes.node[row], row);
    const original = nodes.originalNode?.[row];
    if (original !== undefined && original > 0) originalOf.set(nodes.node[row], original);
  }
  const lookups = new Map([...byThread].map(([thread, ranges]) => [thread, new Innermost(ranges)]));
  const known = new Map<number, LayerRange | undefined>();
  const rangeOfNode = (node: number) => {
    if (known.has(node)) return known.get(node);
    let first = node;
    for (let hops = 0; originalOf.has(first) && hops < MOST_CLONES; hops++) first = originalOf.get(first)!;
    const row = rowOfNode.get(first);
    const thread = row === undefined ? NONE : nodes.thread[row];
    const found = row === undefined ? NONE : (lookups.get(thread)?.at(nodes.start[row]) ?? NONE);
    const range = found === NONE ? undefined : byThread.get(thread)![found];
    known.set(node, range);
    return range;
  };
  let any = false;
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel || layer[i] !== NONE) continue;
    const node = nodeOfKernel[work.row[i]];
    if (node > 0) any = assign(i, rangeOfNode(node)) || any;
  }
  return any;
}
