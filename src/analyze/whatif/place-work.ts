/** GPU work in its streams, with what each piece had to wait for. */
import { NONE } from '../../base/column.js';
import { KERNEL_LAUNCH } from '../../catalog/host-activities.js';
import { medianOf } from '../../stats/summary.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { HostLines } from './host-lines.js';
import type { GpuOp, ReplayModel } from './replay-model.js';

/** Work that starts this much later than its launch and its stream allow waited for something else. */
const UNEXPLAINED_NS = 2_000;
/** From the end of what it waited for to its start, at most. */
const NOTICED_NS = 20_000;
/** Where the file shows no such launch or pair of work: of H200 captures. */
const USUAL = { launchNs: 5_000, latencyNs: 1_000, gapNs: 1_000 };
/** From the start of a copy's call to the copy, where the call waits for it. */
const COPY_LATENCY_NS = 5_000;

type Placed = Pick<ReplayModel, 'ops' | 'streams' | 'typical'>;

interface Place {
  readonly work: GpuWork;
  /** In order of start. */
  readonly rows: readonly number[];
  readonly family: Uint8Array;
  readonly stepOf: (work: number) => number;
  readonly lines: HostLines;
  /** Whether the call of this name returns when the copy is done. */
  readonly blocks: (copy: number, call: string) => boolean;
}

export function placeWork({ work, rows, family, stepOf, lines, blocks }: Place): Placed {
  const ops: GpuOp[] = [];
  const streams: { stream: number; ops: number[] }[] = [];
  const streamOf = new Map<number, number>();
  const typical = typicalLengths(work, rows, lines);
  const marked = waitsBetweenStreams(work, rows, lines);
  const opOfWork = new Map<number, number>();
  rows.forEach(i => {
    let stream = streamOf.get(work.stream[i]);
    if (stream === undefined) {
      stream = streams.length;
      streamOf.set(work.stream[i], stream);
      streams.push({ stream: work.stream[i], ops: [] });
    }
    const { ops: own } = streams[stream];
    const before = own.length === 0 ? NONE : rows[own[own.length - 1]];
    const launch = lines.itemOfCall.get(work.launch[i]) ?? NONE;
    const { latencyNs, latencyFrom, gapNs, after } = heldBy(i, before, launch);
    const op: GpuOp = {
      stream,
      step: stepOf(i),
      kind: work.kind[i],
      family: family[i],
      work: i,
      ns: work.end[i] - work.start[i],
      launch,
      recordedStart: work.start[i],
      latencyNs,
      latencyFrom,
      gapNs,
    };
    if (after) op.after = after;
    const waited = marked.get(i);
    const partner = waited === undefined ? undefined : opOfWork.get(waited);
    const slack = partner === undefined ? Number.NaN : work.start[i] - work.end[rows[partner]];
    // A wait that the recording contradicts was for an earlier event.
    if (partner !== undefined && slack >= 0) op.after = { op: partner, ns: Math.min(slack, typical.gapNs) };
    opOfWork.set(i, ops.length);
    own.push(ops.length);
    ops.push(op);
  });
  return { ops, streams, typical };

  /** The later of launch and stream held it and keeps what was observed; for the other, what is typical holds. */
  function heldBy(
    i: number,
    before: number,
    launch: number,
  ): Pick<GpuOp, 'latencyNs' | 'latencyFrom' | 'gapNs' | 'after'> {
    const start = work.start[i];
    const free = before === NONE ? -Infinity : work.end[before];
    const recorded = launch === NONE ? undefined : lines.recorded[launch];
    const isOwnWait =
      recorded !== undefined && recorded.end >= work.end[i] && blocks(i, lines.items[launch].name);
    const latencyFrom = isOwnWait ? 'begin' : 'end';
    const launched = recorded === undefined ? -Infinity : isOwnWait ? recorded.start : recorded.end;
    const usual = isOwnWait ? COPY_LATENCY_NS : typical.latencyNs;
    const [latency, gap] = [start - launched, start - free];
    const launchHeld = launched >= free;
    // Observed behind what held it, typical behind the other: less where even that was not the case.
    const latencyNs = launchHeld ? latency : Math.min(usual, latency);
    const gapNs = launchHeld ? Math.min(typical.gapNs, gap) : gap;
    const rest = Math.min(latency - usual, gap - typical.gapNs);
    const other = rest > UNEXPLAINED_NS ? heldByOther(i) : undefined;
    if (other === undefined) return { latencyNs, latencyFrom, gapNs };
    return {
      latencyNs: Math.min(usual, latency),
      latencyFrom,
      gapNs: Math.min(typical.gapNs, gap),
      after: other,
    };
  }

  /** Work of another stream that ended right before. */
  function heldByOther(i: number): GpuOp['after'] {
    let best: number = NONE;
    for (let op = ops.length - 1; op >= 0; op--) {
      const other = rows[op];
      if (work.start[other] < work.start[i] - 50e6) break;
      if (work.stream[other] === work.stream[i] || work.end[other] > work.start[i]) continue;
      if (best === NONE || work.end[other] > work.end[rows[best]]) best = op;
      if (ops.length - op > 64) break;
    }
    const late = best === NONE ? Infinity : work.start[i] - work.end[rows[best]];
    return late <= NOTICED_NS ? { op: best, ns: late } : undefined;
  }
}

function typicalLengths(work: GpuWork, rows: readonly number[], lines: HostLines): Placed['typical'] {
  const launches: number[] = [];
  const latencies: number[] = [];
  const gaps: number[] = [];
  const streamEnd = new Map<number, number>();
  let last: number | undefined;
  for (const i of rows) {
    const launch = lines.itemOfCall.get(work.launch[i]);
    const free = streamEnd.get(work.stream[i]) ?? -Infinity;
    const recorded = launch === undefined ? undefined : lines.recorded[launch];
    if (recorded && work.kind[i] === WorkKind.kernel) {
      if (KERNEL_LAUNCH.test(lines.items[launch!].name)) launches.push(recorded.end - recorded.start);
      // Of a graph, its first node: the others start while the launch still goes on.
      if (recorded.end >= free && launch !== last) latencies.push(work.start[i] - recorded.end);
      last = launch;
    }
    if (recorded && recorded.end < free && work.start[i] >= free) gaps.push(work.start[i] - free);
    streamEnd.set(work.stream[i], Math.max(free, work.end[i]));
  }
  const median = (values: number[], otherwise: number) =>
    values.length === 0 ? otherwise : medianOf(Float64Array.from(values));
  return {
    launchNs: median(launches, USUAL.launchNs),
    latencyNs: median(latencies, USUAL.latencyNs),
    gapNs: median(gaps, USUAL.gapNs),
  };
}

/** Work launched right behind a call that lets its stream wait for an event: what was launched last before that call. */
function waitsBetweenStreams(work: GpuWork, rows: readonly number[], lines: HostLines): Map<number, number> {
  const found = new Map<number, number>();
  const workOfItem = new Map<number, number[]>();
  for (const i of rows) {
    const item = lines.itemOfCall.get(work.launch[i]);
    if (item !== undefined) workOfItem.set(item, [...(workOfItem.get(item) ?? []), i]);
  }
  for (const { items } of lines.threads) {
    let last: number = NONE;
    let awaited: number = NONE;
    for (const item of items) {
      if (/StreamWaitEvent/.test(lines.items[item].name)) awaited = last;
      for (const i of workOfItem.get(item) ?? []) {
        if (awaited !== NONE && work.stream[i] !== work.stream[awaited]) {
          found.set(i, awaited);
          awaited = NONE;
        }
        last = i;
      }
    }
  }
  return found;
}
