/** Traces of the PyTorch profiler drawn event by event, as files: for what depends on how a trace was written. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

type Key = string | number;

/** Times are microseconds, as in the files. */
export class DrawnTrace {
  private readonly events: object[] = [];
  private nextCorrelation = 1;

  constructor(
    readonly pid: Key = 100,
    readonly device = 0,
  ) {}

  call(name: string, start: number, end: number, tid: Key = this.pid): this {
    return this.add('cuda_runtime', name, start, end, this.pid, tid, { correlation: this.nextCorrelation++ });
  }

  /** A range of the program: a marker of a step, a layer. */
  range(name: string, start: number, end: number): this {
    return this.add('user_annotation', name, start, end, this.pid, this.pid, {});
  }

  /** Launched at `launch`, by a call of 2 µs unless told otherwise. */
  kernel(
    name: string,
    launch: number | readonly [start: number, end: number],
    start: number,
    end: number,
    more: {
      readonly tid?: Key;
      readonly stream?: number;
      readonly by?: string;
      readonly graph?: number;
    } = {},
  ): this {
    const correlation = this.nextCorrelation;
    const [from, to] = typeof launch === 'number' ? [launch, launch + 2] : launch;
    this.call(more.by ?? 'cudaLaunchKernel', from, to, more.tid);
    const graph = more.graph === undefined ? {} : { 'graph id': more.graph, 'graph node id': correlation };
    return this.onGpu('kernel', name, start, end, { ...graph, correlation, stream: more.stream ?? 7 });
  }

  /** Kernels of one graph launch, one after the other. */
  replay(
    graph: number,
    launch: number,
    kernels: readonly (readonly [name: string, start: number, end: number])[],
  ): this {
    const correlation = this.nextCorrelation;
    this.call('cudaGraphLaunch', launch, launch + 5);
    kernels.forEach(([name, start, end], i) => {
      const node = graph * 1e6 + i;
      this.onGpu('kernel', name, start, end, {
        'graph id': graph,
        'graph node id': node,
        correlation,
        stream: 7,
      });
    });
    return this;
  }

  copy(
    name: string,
    by: string,
    call: readonly [start: number, end: number],
    start: number,
    end: number,
    bytes = 1e6,
  ): this {
    const correlation = this.nextCorrelation;
    this.call(by, ...call);
    return this.onGpu('gpu_memcpy', name, start, end, { correlation, stream: 7, bytes });
  }

  /** The events, for a file that holds those of several traces. */
  all(): readonly object[] {
    return this.events;
  }

  private onGpu(cat: string, name: string, start: number, end: number, args: object): this {
    const { device } = this;
    return this.add(cat, name, start, end, device, (args as { stream: number }).stream, { device, ...args });
  }

  private add(cat: string, name: string, ts: number, end: number, pid: Key, tid: Key, args: object): this {
    this.events.push({ ph: 'X', cat, name, ts, dur: end - ts, pid, tid, args });
    return this;
  }
}

/** What a trace says beside its events. */
export interface TraceHead {
  readonly gpu?: string;
  readonly rank?: number;
  readonly worldSize?: number;
  readonly more?: object;
}

export const traceText = (events: readonly object[], head: TraceHead = {}) =>
  JSON.stringify({
    schemaVersion: 1,
    deviceProperties: [{ id: 0, name: head.gpu ?? 'NVIDIA H200', totalGlobalMem: 150e9 }],
    ...(head.rank === undefined
      ? {}
      : { distributedInfo: { backend: 'nccl', rank: head.rank, world_size: head.worldSize ?? 1 } }),
    ...head.more,
    traceEvents: events,
  });

/** Runs something on files with these texts, which are gone afterwards. */
export async function withFiles<T>(
  texts: readonly string[],
  run: (files: readonly string[]) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-drawn-'));
  try {
    const files = texts.map((text, i) => {
      const file = path.join(folder, `trace-${i}.json`);
      writeFileSync(file, text);
      return file;
    });
    return await run(files);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
