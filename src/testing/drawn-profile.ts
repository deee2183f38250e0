/**
 * Profiles drawn as text, for tests that read like the question:
 *
 *   cpu   ab........      a letter is one event as long as it repeats; one column is 10 ns
 *   gpu   ..aaa..bb.      the gpu's `a` was launched by the cpu's `a`
 *   nvtx  RRRRR.....
 *
 * Rows: `cpu`, `cpu2` … are threads with API calls, `gpu`, `gpu2` … streams with kernels, `copy` memory copies,
 * `nvtx`, `nvtx2` … push/pop ranges on the thread of the same number, `py` Python frames, `op` framework operators, `smp`
 * samples of one function (in the middle of a letter's run), `run` times on a CPU (its number), `os` and `prof` calls of the operating system and overhead of the profiler. A line such as `s = cudaStreamSynchronize` names what a letter stands for.
 */
import { NONE } from '../base/column.js';
import { ProfileBuilder } from '../model/builder.js';
import type { Profile } from '../model/profile.js';
import { FrameKind, RangeKind, SampleSource } from '../model/schema.js';
import { drawnCapture } from './drawn-capture.js';

export const COLUMN_NS = 10;

type Lane = 'cpu' | 'gpu' | 'copy' | 'nvtx' | 'os' | 'prof' | 'py' | 'op' | 'smp' | 'run';

interface Span {
  readonly letter: string;
  readonly start: number;
  readonly end: number;
  readonly lane: number;
}

export function drawProfile(drawing: string, columnNs = COLUMN_NS): Profile {
  const builder = new ProfileBuilder();
  const process = builder.process('', 100);
  const gpu = builder.gpu('', 0);
  builder.gpus[gpu].name = 'Drawn GPU';
  const lanes = ['cpu', 'gpu', 'copy', 'nvtx', 'os', 'prof', 'py', 'op', 'smp', 'run'] as const;
  const spans = Object.fromEntries(lanes.map(lane => [lane, [] as Span[]])) as Record<Lane, Span[]>;
  const names = new Map<string, string>();
  for (const line of drawing.split('\n')) {
    const named = /^\s*(\w) = (.+?)\s*$/.exec(line);
    if (named) names.set(named[1], named[2]);
    const match = /^\s*(cpu|gpu|copy|nvtx|os|prof|py|op|smp|run)(\d*)\s+(\S+)\s*$/.exec(line);
    if (!match) continue;
    const lane = Number(match[2] || 1);
    for (const run of match[3].matchAll(/([A-Za-z0-9])\1*/g)) {
      const start = run.index * columnNs;
      const kind = match[1] as keyof typeof spans;
      spans[kind].push({ letter: run[1], start, end: start + run[0].length * columnNs, lane });
    }
  }
  const thread = (lane: number) => builder.thread(process, lane);
  const stream = (lane: number) => builder.stream(process, gpu, 1, lane);
  const f64 = (list: Span[], value: (span: Span) => number) => Float64Array.from(list, value);
  const i32 = (list: Span[], value: (span: Span) => number) => Int32Array.from(list, value);
  const id = (span: Span) => builder.strings.intern(names.get(span.letter) ?? span.letter);
  const call = (span: Span) => builder.strings.intern(names.get(span.letter) ?? 'cudaLaunchKernel_v7000');
  const common = (list: Span[]) => ({ start: f64(list, s => s.start), end: f64(list, s => s.end) });
  const work = (list: Span[]) => ({
    ...common(list),
    stream: i32(list, s => stream(s.lane)),
    correlation: Uint32Array.from(list, s => s.letter.charCodeAt(0)),
    launch: i32(list, () => NONE),
  });
  builder.addTable(
    'apiCalls',
    {
      ...common(spans.cpu),
      thread: i32(spans.cpu, s => thread(s.lane)),
      correlation: Uint32Array.from(spans.cpu, s => s.letter.charCodeAt(0)),
      name: i32(spans.cpu, call),
    },
    spans.cpu.length,
  );
  builder.addTable('kernels', { ...work(spans.gpu), name: i32(spans.gpu, id) }, spans.gpu.length);
  builder.addTable(
    'copies',
    { ...work(spans.copy), bytes: f64(spans.copy, s => s.end - s.start), kind: i32(spans.copy, () => 1) },
    spans.copy.length,
  );
  builder.addTable(
    'ranges',
    {
      ...common(spans.nvtx),
      thread: i32(spans.nvtx, s => thread(s.lane)),
      name: i32(spans.nvtx, id),
      kind: Uint8Array.from(spans.nvtx, () => RangeKind.pushPop),
      domain: i32(spans.nvtx, () => NONE),
    },
    spans.nvtx.length,
  );
  for (const [lane, table] of [
    ['os', 'osCalls'],
    ['prof', 'overheads'],
    ['py', 'frames'],
    ['op', 'ops'],
  ] as const) {
    const list = spans[lane];
    const columns = {
      ...common(list),
      thread: i32(list, s => thread(s.lane)),
      name: i32(list, id),
      ...(table === 'ops' ? { kind: new Uint8Array(list.length) } : {}),
    };
    builder.addTable(table, columns, list.length);
  }
  const switches = spans.run
    .flatMap(span => [
      { ...span, at: span.start, isIn: 1 },
      { ...span, at: span.end, isIn: 0 },
    ])
    .sort((a, b) => a.at - b.at || a.isIn - b.isIn);
  builder.addTable(
    'contextSwitches',
    {
      start: Float64Array.from(switches, ({ at }) => at),
      thread: Int32Array.from(switches, ({ lane }) => thread(lane)),
      cpu: Int32Array.from(switches, ({ letter }) => Number(letter)),
      isIn: Uint8Array.from(switches, ({ isIn }) => isIn),
    },
    switches.length,
  );
  const sampled = [...new Set(spans.smp.map(({ letter }) => letter))];
  builder.addTable(
    'stackFrames',
    {
      parent: Int32Array.from(sampled, () => NONE),
      name: Int32Array.from(sampled, letter => builder.strings.intern(names.get(letter) ?? letter)),
      module: Int32Array.from(sampled, () => NONE),
      kind: Uint8Array.from(sampled, () => FrameKind.native),
    },
    sampled.length,
  );
  builder.addTable(
    'hostSamples',
    {
      start: f64(spans.smp, s => (s.start + s.end) / 2),
      thread: i32(spans.smp, s => thread(s.lane)),
      stack: i32(spans.smp, s => sampled.indexOf(s.letter)),
      source: new Uint8Array(spans.smp.length).fill(SampleSource.cpu),
    },
    spans.smp.length,
  );
  return builder.build(drawnCapture('drawn'));
}
