/**
 * A small engine drawn as a profile: decode steps of 10 ms, each one graph launch whose kernels keep the GPU busy.
 * It is healthy as it is; each option makes it sick in one way, so that what a finding is about can be switched on.
 */
import { NONE } from '../base/column.js';
import { CopyKind, MemoryKind } from '../catalog/cuda-enums.js';
import { ProfileBuilder } from '../model/builder.js';
import type { Profile } from '../model/profile.js';
import { RangeKind } from '../model/schema.js';
import { drawnCapture } from './drawn-capture.js';
import { drawnLog } from './drawn-log.js';
import { DrawnSwitches } from './drawn-switches.js';
import type { EngineOptions } from './engine-options.js';

export type { EngineOptions } from './engine-options.js';

const STEP_NS = 10e6;
const LAUNCH_NS = 20e3;
const START_NS = 5e3;

interface Event {
  start: number;
  end: number;
  owner: number;
  name: string;
  id: number;
}

export function drawEngine(options: EngineOptions = {}): Profile {
  const builder = new ProfileBuilder();
  const lists = {
    calls: [] as Event[],
    kernels: [] as Event[],
    blocks: [] as Event[],
    copies: [] as Event[],
    ranges: [] as Event[],
    overheads: [] as Event[],
    frames: [] as Event[],
    kept: [] as number[],
  };
  const switches = new DrawnSwitches(builder);
  let id = 1;
  const ranks = options.secondRankLateNs === undefined ? [0] : [0, 1];
  for (const rank of ranks) {
    const process = builder.process('', 100 + rank);
    if (options.program?.process) builder.processes[process].name = options.program.process;
    if (ranks.length > 1) builder.processes[process].rank = rank;
    const gpu = builder.gpu('', options.oneGpu ? 0 : rank);
    builder.gpus[gpu].name = options.gpu ?? 'NVIDIA A100-SXM4-80GB';
    if (options.clockHz) builder.gpus[gpu].clockHz = options.clockHz;
    const place = { thread: builder.thread(process, 1), stream: builder.stream(process, gpu, 1, 7) };
    if (options.program?.thread) builder.threads[place.thread].name = options.program.thread;
    let at = 1e6 + rank * (options.secondRankLateNs ?? 0);
    for (let step = 0; step < (options.steps ?? 20); step++) {
      const length = options.stepNs?.(step) ?? STEP_NS;
      drawStep(step, at, length, place);
      at += length;
    }
    if (options.recordedNs)
      lists.ranges.push({ start: 0, end: options.recordedNs, owner: place.thread, name: 'loading', id: 0 });
  }
  builder.clock = 'utc';
  addTables();
  if (options.loss) builder.notes.add(options.loss, 'loss', 'Something is missing');
  const capture = drawnCapture('engine', ranks.length > 1 ? ranks : []);
  const distributed = options.worldSize && { rank: 0, worldSize: options.worldSize, backend: 'nccl' };
  const versions = options.program?.versions ?? {};
  const profile = builder.build({ ...capture, versions, ...(distributed ? { distributed } : {}) });
  return options.counted
    ? { ...profile, stepLogs: [drawnLog(profile, options.counted, options.steps ?? 20)] }
    : profile;

  function drawStep(
    step: number,
    start: number,
    length: number,
    { thread, stream }: { thread: number; stream: number },
  ): void {
    const label = (options.marker ?? (n => `[Executor] _forward_step ${n}: 0 ctx reqs, 8 gen reqs`))(step);
    const ahead = step === 0 ? 0 : (options.aheadNs ?? 0);
    if (label)
      lists.ranges.push({
        start: start - ahead,
        end: start - ahead + length - 10e3,
        owner: thread,
        name: label,
        id: 0,
      });
    lists.kept.push(start + length / 2);
    for (let k = 0; k < (options.frames?.perStep ?? 0); k++)
      lists.frames.push({
        start: start + k * 10,
        end: start + k * 10 + 5,
        owner: thread,
        name: options.frames!.name,
        id: 0,
      });
    if (options.queryResult !== undefined)
      lists.calls.push({ start, end: start + 500, owner: thread, name: 'cudaStreamQuery', id: id++ });
    if (options.capturing)
      lists.calls.push({ start, end: start + 500, owner: thread, name: 'cudaStreamBeginCapture', id: id++ });
    const { before } = options;
    const delay = before && (before.only === undefined || before.only === step) ? before.ns : 0;
    let host = start + 1e3;
    if (delay > 0) {
      const event = { start: host, end: host + delay, owner: thread, name: '', id: 0 };
      if (before!.range) lists.ranges.push({ ...event, name: before!.range });
      if (before!.call) lists.calls.push({ ...event, name: before!.call });
      if (before!.overhead) lists.overheads.push({ ...event, name: 'overhead' });
      if (before!.offCpu) switches.add(thread, event.start, event.end, start, before!.offCpu);
      host += delay;
    }
    const names = options.kernels ?? ['nvjet_sm80_tst_64x8'];
    const oneByOne = options.graphless?.(step) ? 40 : options.eager;
    if (oneByOne) {
      const stall = options.stall?.step === step ? options.stall.ns : 0;
      const inside = options.insideNs ?? 0;
      const every = (length - delay - stall - inside - 20e3) / oneByOne;
      const ns = every * (options.eagerBusy ?? 0.1);
      for (let k = 0; k < oneByOne; k++) {
        const at = host + (k === 0 ? 0 : stall) + (k < oneByOne / 2 ? 0 : inside) + k * every;
        launch(at, 'cudaLaunchKernel', 1, ns, [names[k % names.length]], thread, stream, k === 0 ? stall : 0);
        if (options.waits) {
          const from = at + Math.min(LAUNCH_NS, ns) + 1e3;
          const until = at + Math.min(LAUNCH_NS, ns) + START_NS + ns + 2e3;
          lists.calls.push({
            start: from,
            end: until,
            owner: thread,
            name: 'cudaStreamSynchronize',
            id: id++,
          });
        }
      }
      return;
    }
    const copyNs = (options.copies?.ns ?? 30e3) + 10e3;
    for (let k = 0; k < (options.copies?.count ?? 0); k++) {
      const copy = {
        start: host + k * copyNs + START_NS + 3e3,
        end: host + (k + 1) * copyNs - 2e3,
        owner: stream,
        name: '',
        id: id++,
      };
      lists.calls.push({
        start: host + k * copyNs,
        end: host + k * copyNs + 3e3,
        owner: thread,
        name: 'cudaMemcpyAsync',
        id: copy.id,
      });
      lists.copies.push(copy);
    }
    host += (options.copies?.count ?? 0) * copyNs;
    const busy = start + length - 60e3 - host;
    const beside = options.besideGraph ?? 0;
    const { count: pieces, gapNs } = options.pieces ?? { count: 1, gapNs: 0 };
    const nodes = Math.round((40 * (1 - beside)) / pieces);
    const after = (options.afterGraph?.length ?? 0) * 30e3;
    const pieceNs = (busy * (1 - beside) - after - (pieces - 1) * gapNs) / pieces;
    for (let piece = 0; piece < pieces; piece++)
      launch(
        host + piece * (pieceNs + gapNs),
        'cudaGraphLaunch',
        nodes,
        pieceNs / nodes,
        names,
        thread,
        stream,
      );
    for (const [k, name] of (options.afterGraph ?? []).entries()) {
      const at = host + pieceNs + LAUNCH_NS + START_NS + k * 25e3;
      launch(host + 1e3 * (k + 1) + LAUNCH_NS, 'cudaLaunchKernel', 1, 20e3, [name], thread, stream, 0, {
        at,
      });
    }
    for (let k = 0; k < Math.round(40 * beside); k++)
      launch(
        host + busy * (1 - beside) + k * (busy / 40),
        'cudaLaunchKernel',
        1,
        busy / 60,
        names,
        thread,
        stream,
      );
  }

  function launch(
    at: number,
    name: string,
    count: number,
    ns: number,
    names: readonly string[],
    thread: number,
    stream: number,
    stallNs = 0,
    runs?: { readonly at: number },
  ): void {
    const call = {
      start: Math.round(at),
      end: Math.round(at) + stallNs + Math.min(LAUNCH_NS, Math.round(ns)),
      owner: thread,
      name,
      id: id++,
    };
    lists.calls.push(call);
    if (options.capturing) return;
    const first = Math.round(runs?.at ?? call.end + START_NS);
    if (name === 'cudaGraphLaunch' && options.without === 'graph-nodes') {
      lists.blocks.push({
        start: first,
        end: Math.round(first + count * ns - LAUNCH_NS),
        owner: stream,
        name: '',
        id: call.id,
      });
      return;
    }
    const gap = name === 'cudaGraphLaunch' ? (options.feeding?.nodeGapNs ?? 300) : 300;
    if (options.feeding && name === 'cudaGraphLaunch') call.end = Math.round(call.end + (count - 1) * ns);
    for (let k = 0; k < count; k++)
      lists.kernels.push({
        start: Math.round(first + k * ns),
        end: Math.round(first + (k + 1) * ns) - gap,
        owner: stream,
        name: names[k % names.length],
        id: call.id,
      });
  }

  function addTables(): void {
    const { calls, kernels, blocks, copies, ranges, overheads, frames, kept } = lists;
    const hasGpu = options.without !== 'gpu' && options.without !== 'gpu-activities';
    const i32 = (list: Event[], of: (event: Event) => number) => Int32Array.from(list, of);
    const times = (list: Event[]) => ({
      start: Float64Array.from(list, e => e.start),
      end: Float64Array.from(list, e => e.end),
    });
    const names = (list: Event[]) => i32(list, event => builder.strings.intern(event.name));
    const ids = (list: Event[]) => Uint32Array.from(list, event => event.id);
    const work = (list: Event[]) => ({
      ...times(list),
      stream: i32(list, e => e.owner),
      correlation: ids(list),
      launch: i32(list, () => NONE),
    });
    const onThread = (list: Event[]) => ({
      ...times(list),
      thread: i32(list, e => e.owner),
      name: names(list),
    });
    if (options.without !== 'launches' && options.without !== 'gpu')
      builder.addTable(
        'apiCalls',
        {
          ...onThread(calls),
          correlation: ids(calls),
          ...(options.queryResult === undefined
            ? {}
            : {
                result: i32(calls, call => (call.name === 'cudaStreamQuery' ? options.queryResult! : 0)),
              }),
        },
        calls.length,
      );
    switches.addTables();
    if (frames.length > 0) builder.addTable('frames', onThread(frames), frames.length);
    if (options.keepsBytes)
      builder.addTable(
        'memoryEvents',
        {
          start: Float64Array.from(kept),
          process: Int32Array.from(kept, () => 0),
          gpu: Int32Array.from(kept, () => 0),
          bytes: Float64Array.from(kept, () => options.keepsBytes!),
        },
        kept.length,
      );
    if (hasGpu) {
      builder.addTable('kernels', { ...work(kernels), name: names(kernels) }, kernels.length);
      builder.addTable('graphLaunches', work(blocks), blocks.length);
      const source = options.copies?.pageable ? MemoryKind.pageable : MemoryKind.pinned;
      builder.addTable(
        'copies',
        {
          ...work(copies),
          bytes: Float64Array.from(copies, (_, k) =>
            k % 2 === 1 ? (options.copies!.largeBytes ?? options.copies!.bytes) : options.copies!.bytes,
          ),
          kind: i32(copies, () => CopyKind.hostToDevice),
          sourceMemory: i32(copies, () => source),
          targetMemory: i32(copies, () => MemoryKind.device),
        },
        copies.length,
      );
    }
    builder.addTable('overheads', onThread(overheads), overheads.length);
    builder.addTable(
      'ranges',
      {
        ...onThread(ranges),
        kind: Uint8Array.from(ranges, () => RangeKind.pushPop),
        domain: i32(ranges, () => NONE),
      },
      ranges.length,
    );
    addMetrics();
  }

  /** A sample of every counter each 100 µs over the steps. */
  function addMetrics(): void {
    const entries = Object.entries(options.metrics ?? {});
    if (entries.length === 0) return;
    builder.metrics.push(...entries.map(([name]) => name));
    const samples = Array.from({ length: 2200 }, (_, i) => i * 100e3).flatMap(at =>
      entries.map(([, value], metric) => ({ at, metric, value })),
    );
    builder.addTable(
      'metricSamples',
      {
        start: Float64Array.from(samples, sample => sample.at),
        gpu: Int32Array.from(samples, () => 0),
        metric: Int32Array.from(samples, sample => sample.metric),
        value: Float64Array.from(samples, sample => sample.value),
      },
      samples.length,
    );
  }
}
