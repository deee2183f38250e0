/** Steps of an engine drawn as tuples: for tests of how steps are found and what belongs to them. */
import { NONE } from '../base/column.js';
import { ProfileBuilder } from '../model/builder.js';
import type { Profile } from '../model/profile.js';
import { RangeKind } from '../model/schema.js';
import { drawnCapture } from './drawn-capture.js';

/** Markers and work of an engine, as tuples of times. */
export interface Drawn {
  /** [process, label, start, end] */
  readonly marks: readonly (readonly [process: number, label: string, start: number, end: number])[];
  /** [process, launchStart, launchEnd, kernelStart, kernelEnd, name?, stream?]; a launch at NaN was not recorded, a kernel at NaN was lost. */
  readonly work: readonly (readonly [
    process: number,
    from: number,
    to: number,
    start: number,
    end: number,
    name?: string,
    stream?: number,
  ])[];
  /** Waits of the launching thread: [process, start, end]. */
  readonly waits?: readonly (readonly [process: number, start: number, end: number])[];
  readonly ranks?: readonly number[];
  readonly call?: string;
}

export function drawSteps({
  marks,
  work,
  ranks = [],
  call = 'cudaLaunchKernel',
  waits = [],
}: Drawn): Profile {
  const builder = new ProfileBuilder();
  const thread = (process: number) => builder.thread(builder.process('', 100 + process), 1);
  const stream = (process: number, number = 1) =>
    builder.stream(builder.process('', 100 + process), builder.gpu('', process), 1, number);
  const f64 = <T>(list: readonly T[], of: (item: T) => number) => Float64Array.from(list, of);
  const i32 = <T>(list: readonly T[], of: (item: T) => number) => Int32Array.from(list, of);
  builder.addTable(
    'ranges',
    {
      start: f64(marks, m => m[2]),
      end: f64(marks, m => m[3]),
      thread: i32(marks, m => thread(m[0])),
      name: i32(marks, m => builder.strings.intern(m[1])),
      kind: Uint8Array.from(marks, () => RangeKind.pushPop),
      domain: i32(marks, () => NONE),
    },
    marks.length,
  );
  const calls = [
    ...work.flatMap(([process, start, end], i) =>
      Number.isNaN(start) ? [] : [{ process, start, end, name: call, id: i + 1 }],
    ),
    ...waits.map(([process, start, end]) => ({ process, start, end, name: 'cudaStreamSynchronize', id: 0 })),
  ].sort((a, b) => a.start - b.start);
  builder.addTable(
    'apiCalls',
    {
      start: f64(calls, c => c.start),
      end: f64(calls, c => c.end),
      thread: i32(calls, c => thread(c.process)),
      name: i32(calls, c => builder.strings.intern(c.name)),
      correlation: Uint32Array.from(calls, c => c.id),
    },
    calls.length,
  );
  const arrived = work.filter(w => !Number.isNaN(w[3]));
  builder.addTable(
    'kernels',
    {
      start: f64(arrived, w => w[3]),
      end: f64(arrived, w => w[4]),
      stream: i32(arrived, w => stream(w[0], w[6])),
      correlation: Uint32Array.from(arrived, w => work.indexOf(w) + 1),
      launch: i32(arrived, () => NONE),
      name: i32(arrived, w => builder.strings.intern(w[5] ?? 'my_kernel')),
    },
    arrived.length,
  );
  ranks.forEach((rank, process) => {
    builder.processes[builder.process('', 100 + process)].rank = rank;
  });
  return builder.build(drawnCapture('drawn', ranks));
}
