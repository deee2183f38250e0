import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { TupleIndex } from '../../base/tuple-index.js';
import { callTwins } from '../../model/link.js';
import type { Profile, Row } from '../../model/profile.js';
import { asRows, type Rows } from '../../model/rows.js';
import { numbers, spreadColumns, texts } from './columns.js';
import { kernelNames } from './gpu-operations.js';
import { groupValues } from './grouping.js';
import { launchContext, rangeLabels, styleOf } from './range-tree.js';
import { rangeColumns, type StatsReport } from './report.js';

export const nvtxKernSum: StatsReport = {
  id: 'nvtx_kern_sum',
  title: 'NVTX Range Kernel Summary',
  aliases: ['nvtxkernsum'],
  options: ['base', 'mangled'],
  reads: { ranges: rangeColumns, apiCalls: [], kernels: [], copies: [], memsets: [] },
  needs: [['ranges'], ['apiCalls'], ['kernels']],
  compute(profile, options) {
    const kernels = profile.tables.kernels!;
    const calls = profile.tables.apiCalls!;
    const ranges = profile.tables.ranges!;
    const names = kernelNames(profile, { ...options, nvtxName: false });
    const label = rangeLabels(profile);
    const pairs = pairKernelsWithRanges(profile);

    // One number per (range name, style, thread, kernel name); a kernel outside all ranges has range NONE.
    const labelNumbers = new Map<string, number>();
    const labelKey = (range: Row<'ranges'>) => {
      if (range === NONE) return 0;
      const text = `${ranges.kind[range]}${label(range)}`;
      let number = labelNumbers.get(text);
      if (number === undefined) labelNumbers.set(text, (number = labelNumbers.size + 1));
      return number;
    };
    const threadOf = (kernel: Row<'kernels'>) =>
      kernels.launch[kernel] === NONE ? NONE : calls.thread[kernels.launch[kernel]];
    const keys = new TupleIndex();
    const key = Int32Array.from({ length: pairs.length }, (_, i) =>
      keys.intern(labelKey(pairs.range[i]), threadOf(pairs.kernel[i]), names.keys[pairs.kernel[i]]),
    );
    const durations = Float64Array.from(pairs.kernel, kernel => kernels.end[kernel] - kernels.start[kernel]);
    const groups = groupValues(key, durations);
    const distinctRanges = countDistinct(key, pairs.range);
    const distinctKernels = countDistinct(key, pairs.kernel);
    const rows = groups.map(group => {
      const range = pairs.range[group.row];
      const thread = threadOf(pairs.kernel[group.row]);
      return {
        summary: group.summary,
        label: range === NONE ? null : label(range),
        style: range === NONE ? null : styleOf(ranges.kind[range]),
        pid: thread === NONE ? Number.NaN : profile.processes[profile.threads[thread].process].pid,
        tid: thread === NONE ? Number.NaN : profile.threads[thread].tid,
        ranges: distinctRanges.get(group.key) ?? 0,
        kernels: distinctKernels.get(group.key) ?? 0,
        kernel: names.text(names.keys[pairs.kernel[group.row]]),
      };
    });
    const text = (a: string | null, b: string | null) =>
      a === b ? 0 : a === null || (b !== null && a < b) ? -1 : 1;
    rows.sort(
      (a, b) => text(a.label, b.label) || a.pid - b.pid || a.tid - b.tid || b.summary.total - a.summary.total,
    );
    return [
      texts('NVTX Range', rows, r => r.label),
      texts('Style', rows, r => r.style),
      numbers('PID', 'id', rows, r => r.pid),
      numbers('TID', 'id', rows, r => r.tid),
      numbers('NVTX Inst', 'count', rows, r => r.ranges),
      numbers('Kern Inst', 'count', rows, r => r.kernels),
      numbers('Total Time (ns)', 'ns', rows, r => r.summary.total),
      ...spreadColumns(
        rows.map(r => r.summary),
        '',
      ),
      texts('Kernel Name', rows, r => r.kernel),
    ];
  },
};

interface Pairs {
  readonly length: number;
  readonly range: Rows<'ranges'>;
  readonly kernel: Rows<'kernels'>;
}

/** Every (kernel, enclosing range) pair, and (kernel, NONE) for kernels no range encloses. */
function pairKernelsWithRanges(profile: Profile): Pairs {
  const kernels = profile.tables.kernels!;
  const calls = profile.tables.apiCalls!;
  // Kernels by the call that launched them: first[call] .. first[call + 1].
  const first = new Int32Array(calls.length + 1);
  for (let row = 0 as Row<'kernels'>; row < kernels.length; row++)
    if (kernels.launch[row] !== NONE) first[kernels.launch[row] + 1]++;
  for (let call = 0; call < calls.length; call++) first[call + 1] += first[call];
  const byCall = new Int32Array(first[calls.length]);
  const fill = first.slice();
  for (let row = 0 as Row<'kernels'>; row < kernels.length; row++)
    if (kernels.launch[row] !== NONE) byCall[fill[kernels.launch[row]]++] = row;

  // A launch recorded twice counts through both of its calls, as in NVIDIA's report.
  const twins = callTwins(profile);
  const headOf = twins ? twinHeads(twins) : undefined;
  const range = new GrowingColumn('i32');
  const kernel = new GrowingColumn('i32');
  const enclosed = new Uint8Array(calls.length);
  const pair = (rangeRow: Row<'ranges'>, call: number) => {
    const head = headOf ? headOf[call] : call;
    for (let i = first[head]; i < first[head + 1]; i++) {
      range.push(rangeRow);
      kernel.push(byCall[i]);
    }
  };
  launchContext(profile, twins).forEachEnclosing((rangeRow, call) => {
    pair(rangeRow, call);
    enclosed[call] = 1;
  });
  for (let call = 0; call < calls.length; call++) if (!enclosed[call]) pair(NONE, call);
  for (let row = 0 as Row<'kernels'>; row < kernels.length; row++) {
    if (kernels.launch[row] !== NONE) continue;
    range.push(NONE);
    kernel.push(row);
  }
  const length = range.length;
  return {
    length,
    range: asRows(range.finishAll() as Int32Array),
    kernel: asRows(kernel.finishAll() as Int32Array),
  };
}

/** For each call the first call with its correlation id; itself where it has no twin. */
function twinHeads(twins: Rows<'apiCalls'>): Int32Array {
  const heads = Int32Array.from(twins, (_, call) => call);
  for (let call = 0; call < twins.length; call++) if (twins[call] !== NONE) heads[twins[call]] = heads[call];
  return heads;
}

/** Distinct values per key, missing ones not counted. Sorted, not hashed: a Set holds at most 16 million entries. */
function countDistinct(keys: Int32Array, values: ArrayLike<number>): Map<number, number> {
  const pairs = Float64Array.from(keys, (key, i) => key * 2 ** 31 + values[i])
    .filter((_, i) => values[i] !== NONE)
    .sort();
  const counts = new Map<number, number>();
  for (let i = 0; i < pairs.length; i++) {
    if (i > 0 && pairs[i] === pairs[i - 1]) continue;
    const key = Math.floor(pairs[i] / 2 ** 31);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
