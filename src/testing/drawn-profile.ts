/**
 * Profiles drawn as text, for tests that read like the question:
 *
 *   cpu   ab........      a letter is one event as long as it repeats; one column is 10 ns
 *   gpu   ..aaa..bb.      the gpu's `a` was launched by the cpu's `a`
 *   nvtx  RRRRR.....
 *
 * Rows: `cpu`, `cpu2` … are threads with API calls, `gpu`, `gpu2` … streams with kernels, `copy` memory copies,
 * `nvtx`, `nvtx2` … push/pop ranges on the thread of the same number.
 */
import { NONE } from '../base/column.js';
import { ProfileBuilder } from '../model/builder.js';
import type { Profile } from '../model/profile.js';
import { RangeKind } from '../model/schema.js';

export const COLUMN_NS = 10;

interface Span {
  readonly letter: string;
  readonly start: number;
  readonly end: number;
  readonly lane: number;
}

export function drawProfile(drawing: string): Profile {
  const builder = new ProfileBuilder();
  const process = builder.process('', 100);
  const gpu = builder.gpu('', 0);
  builder.gpus[gpu].name = 'Drawn GPU';
  const spans: Record<'cpu' | 'gpu' | 'copy' | 'nvtx', Span[]> = { cpu: [], gpu: [], copy: [], nvtx: [] };
  for (const line of drawing.split('\n')) {
    const match = /^\s*(cpu|gpu|copy|nvtx)(\d*)\s+(\S+)\s*$/.exec(line);
    if (!match) continue;
    const lane = Number(match[2] || 1);
    for (const run of match[3].matchAll(/([A-Za-z0-9])\1*/g)) {
      const start = run.index * COLUMN_NS;
      const kind = match[1] as keyof typeof spans;
      spans[kind].push({ letter: run[1], start, end: start + run[0].length * COLUMN_NS, lane });
    }
  }
  const thread = (lane: number) => builder.thread(process, lane);
  const stream = (lane: number) => builder.stream(process, gpu, 1, lane);
  const f64 = (list: Span[], value: (span: Span) => number) => Float64Array.from(list, value);
  const i32 = (list: Span[], value: (span: Span) => number) => Int32Array.from(list, value);
  const id = (span: Span) => builder.strings.intern(span.letter);
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
      name: i32(spans.cpu, () => builder.strings.intern('cudaLaunchKernel_v7000')),
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
  return builder.build({
    profiler: 'nsys',
    profilerVersion: '',
    formatVersion: '',
    files: ['drawn'],
    sizeBytes: 0,
    settings: {},
    versions: {},
    ranks: [],
    environment: { variables: 0, looksSecret: 0 },
    sourceCounts: {},
  });
}
