/** GPU memory in use over time, as far as the capture recorded allocations. */

import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { formatBytes, formatShare } from '../../base/units.js';
import { MemoryKind } from '../../catalog/cuda-enums.js';
import type { Row } from '../../model/profile.js';
import type { Analysis, AnalysisResult, Derived } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';

/** Points kept of each device's curve; of each stretch the highest, so peaks survive. */
const POINTS = 240;
const DEVICE_STATIC = 5;

/** Bytes in use on each GPU after every allocation and free. */
interface MemoryCurve {
  readonly gpu: number;
  readonly at: Float64Array;
  readonly bytes: Float64Array;
  /** The framework's allocator said the total itself. */
  readonly told: boolean;
}

export const memoryCurves: Derived<readonly MemoryCurve[]> = {
  id: 'memory-curves',
  reads: { memoryEvents: ['memory', 'totalAllocatedBytes', 'totalReservedBytes'] },
  uses: [],
  needs: [['memoryEvents']],
  compute({ profile }) {
    const events = profile.tables.memoryEvents!;
    const curves = new Map<
      number,
      { at: GrowingColumn; bytes: GrowingColumn; total: number; told: boolean }
    >();
    for (let row = 0 as Row<'memoryEvents'>; row < events.length; row++) {
      const gpu = events.gpu[row];
      if (gpu === NONE) continue;
      const memory = events.memory?.[row];
      const onDevice =
        memory === undefined ||
        memory === NONE ||
        memory === MemoryKind.device ||
        memory === MemoryKind.managed ||
        memory === DEVICE_STATIC;
      if (!onDevice) continue;
      let curve = curves.get(gpu);
      if (!curve) {
        curve = { at: new GrowingColumn('f64'), bytes: new GrowingColumn('f64'), total: 0, told: false };
        curves.set(gpu, curve);
      }
      const told = events.totalAllocatedBytes?.[row];
      curve.told = told !== undefined && !Number.isNaN(told);
      curve.total = curve.told ? told! : curve.total + events.bytes[row];
      curve.at.push(events.start[row]);
      curve.bytes.push(curve.total);
    }
    return [...curves]
      .sort((a, b) => a[0] - b[0])
      .map(([gpu, curve]) => ({
        gpu,
        at: curve.at.finishAll() as Float64Array,
        bytes: curve.bytes.finishAll() as Float64Array,
        told: curve.told,
      }));
  },
};

const fields = {
  key: keyField,
  device: field.id('Device', 'CUDA device number', { priority: -1 }),
  source: field.text('Source', 'driver allocations, or the framework allocator’s total'),
  firstBytes: field.bytes('First', 'after the first event'),
  peakBytes: field.bytes('Peak', 'maximum in the capture'),
  peakAtNs: field.timestamp('Peak at', 'when'),
  lastBytes: field.bytes('Last', 'after the last event'),
  events: field.count('Events', 'allocations and frees'),
  ofMemory: maybe(field.share('Peak (%)', 'of the GPU’s memory')),
  series: field.list<{ readonly atNs: number; readonly bytes: number }>(
    'Over time',
    `at most ${POINTS} points, each the maximum of its interval`,
    { drawn: 'bytes' },
  ),
};

export type MemoryInUseRow = RowOf<typeof fields>;

export const memoryInUse: Analysis<MemoryInUseRow, AnalysisResult<MemoryInUseRow>> = {
  id: 'memory-in-use',
  title: 'GPU memory in use',
  question: 'How much GPU memory is used, and how close does it get to full?',
  reads: {},
  uses: [memoryCurves],
  needs: [['memoryEvents']],
  fields,
  headline: {
    label: 'memory',
    text({ rows }) {
      const row = rows.reduce<MemoryInUseRow | undefined>(
        (most, candidate) => (most && most.peakBytes >= candidate.peakBytes ? most : candidate),
        undefined,
      );
      if (!row) return undefined;
      const share = row.ofMemory === null ? '' : `, ${formatShare(row.ofMemory)} of GPU memory`;
      return `peak ${formatBytes(row.peakBytes)}${share} (${row.source})`;
    },
  },
  compute({ profile, use }) {
    const rows = use(memoryCurves).map(({ gpu, at, bytes, told }): MemoryInUseRow => {
      const peak = bytes.reduce((best, value, i) => (value > bytes[best] ? i : best), 0);
      const { memoryBytes, deviceId } = profile.gpus[gpu];
      return {
        key: `device:${gpu}`,
        device: deviceId,
        source: told ? 'framework allocator' : 'driver allocations',
        firstBytes: bytes[0],
        peakBytes: bytes[peak],
        peakAtNs: at[peak],
        lastBytes: bytes[bytes.length - 1],
        events: bytes.length,
        ofMemory: memoryBytes ? bytes[peak] / memoryBytes : null,
        series: thin(at, bytes),
      };
    });
    return { rows };
  },
};

function thin(at: Float64Array, bytes: Float64Array): { atNs: number; bytes: number }[] {
  const step = Math.max(1, Math.ceil(at.length / POINTS));
  const points: { atNs: number; bytes: number }[] = [];
  for (let from = 0; from < at.length; from += step) {
    let highest = from;
    for (let i = from; i < Math.min(from + step, at.length); i++) if (bytes[i] > bytes[highest]) highest = i;
    points.push({ atNs: at[highest], bytes: bytes[highest] });
  }
  return points;
}
