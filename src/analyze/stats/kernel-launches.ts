/**
 * A kernel and the call that launched it, as phases of one story:
 *
 *   cpu  [ API time ]
 *   gpu              .queue time.[ kernel time ]
 *        |<------------ total time ----------->|
 *
 * Work that starts before the call returns has no queue time. A launch recorded twice is two rows, as in NVIDIA's report.
 */
import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { callTwins } from '../../model/link.js';
import type { Profile, Row } from '../../model/profile.js';
import { asRows, type Rows } from '../../model/rows.js';

interface KernelLaunches {
  readonly length: number;
  readonly kernel: Rows<'kernels'>;
  readonly call: Rows<'apiCalls'>;
  readonly apiNs: Float64Array;
  /** NaN where there is none. */
  readonly queueNs: Float64Array;
  readonly kernelNs: Float64Array;
  readonly totalNs: Float64Array;
}

export function kernelLaunches(profile: Profile): KernelLaunches {
  const kernels = profile.tables.kernels!;
  const calls = profile.tables.apiCalls!;
  const twins = callTwins(profile);
  const kernelRows = new GrowingColumn('i32');
  const callRows = new GrowingColumn('i32');
  for (let row = 0 as Row<'kernels'>; row < kernels.length; row++) {
    for (let at = kernels.launch[row]; at !== NONE; at = twins ? twins[at] : NONE) {
      kernelRows.push(row);
      callRows.push(at);
    }
  }
  const kernel = asRows<'kernels'>(kernelRows.finishAll() as Int32Array);
  const call = asRows<'apiCalls'>(callRows.finishAll() as Int32Array);
  const each = (value: (k: Row<'kernels'>, c: Row<'apiCalls'>) => number) =>
    Float64Array.from(kernel, (k, i) => value(k, call[i]));
  return {
    length: kernel.length,
    kernel,
    call,
    apiNs: each((_, c) => calls.end[c] - calls.start[c]),
    queueNs: each((k, c) =>
      kernels.start[k] >= calls.end[c] ? kernels.start[k] - calls.end[c] : Number.NaN,
    ),
    kernelNs: each(k => kernels.end[k] - kernels.start[k]),
    totalNs: each((k, c) => Math.max(calls.end[c], kernels.end[k]) - calls.start[c]),
  };
}
