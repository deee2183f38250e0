/** GPU_METRICS: hardware counters sampled at a fixed rate. The GPU is in the low byte of the type id. */
import { allocate, NONE } from '../../base/column.js';
import type { SqliteDatabase } from '../../base/sqlite/database.js';
import type { Decoded, Sink } from '../../base/sqlite/decode-plan.js';
import type { ProfileBuilder } from '../../model/builder.js';
import type { GlobalIds, Owners } from './owners.js';
import type { DecodeJob } from './parallel-decode.js';
import type { StringIds } from './string-ids.js';
import { dropRows, isTime, noteImpossible, type TableImport } from './table-reader.js';

export class GpuMetricsReader implements TableImport {
  readonly job: DecodeJob;
  private readonly time: Float64Array;
  private readonly value: Float64Array;
  private readonly metric: Int32Array;
  private readonly type: GlobalIds;
  private readonly names = new Map<string, string>();

  constructor(
    database: SqliteDatabase,
    private readonly builder: ProfileBuilder,
  ) {
    const table = database.tables.get('GPU_METRICS')!;
    const leaves = database.leaves(table);
    const ints = () => allocate('i32', leaves.rows, true) as Int32Array;
    this.time = (allocate('f64', leaves.rows, true) as Float64Array).fill(Number.NaN);
    this.value = (allocate('f64', leaves.rows, true) as Float64Array).fill(Number.NaN);
    this.metric = ints();
    this.type = { machine: ints(), pid: ints(), tid: ints() };
    const sinks = table.columns.map((column): Sink | undefined => {
      if (column === 'timestamp') return { kind: 'number', into: this.time, missing: Number.NaN };
      if (column === 'value') return { kind: 'number', into: this.value, missing: Number.NaN };
      if (column === 'metricId') return { kind: 'number', into: this.metric, missing: NONE };
      if (column === 'typeId') return { kind: 'global-id', ...this.type };
      return undefined;
    });
    this.job = { leaves, plan: { sinks, rowIdColumn: table.rowIdColumn }, thisThreadOnly: false };
    const targets = database.tables.get('TARGET_INFO_GPU_METRICS');
    for (const row of targets ? database.smallRows(targets) : []) {
      this.names.set(`${row.typeId}/${row.metricId}`, String(row.metricName ?? ''));
      this.names.set(String(row.metricId), String(row.metricName ?? ''));
    }
  }

  finish({ badRows }: Decoded, _strings: StringIds, owners: Owners): void {
    const { builder, type } = this;
    const length = this.time.length;
    const gpu = new Int32Array(length);
    const metric = new Int32Array(length);
    const known = new Map<number, number>();
    for (let row = 0; row < length; row++) {
      // One lookup by text per kind of counter, not per sample.
      const key = this.metric[row] * 2 ** 25 + type.tid[row];
      let index = known.get(key);
      if (index === undefined) {
        const typeId = (type.machine[row] * 2 ** 24 + type.pid[row]) * 2 ** 24 + type.tid[row];
        const name =
          this.names.get(`${typeId}/${this.metric[row]}`) ?? this.names.get(String(this.metric[row]));
        index = builder.metric(name ?? `metric ${this.metric[row]}`);
        known.set(key, index);
      }
      metric[row] = index;
      gpu[row] = type.tid[row] & 0xff;
    }
    const device = new Map<number, number>();
    for (let row = 0; row < length; row++) {
      let index = device.get(gpu[row]);
      if (index === undefined) {
        index = builder.gpu(owners.host(type.machine[row]), gpu[row]);
        device.set(gpu[row], index);
      }
      gpu[row] = index;
    }
    const columns = { start: this.time, gpu, metric, value: this.value };
    const untimed: number[] = [];
    for (let row = 0; row < length; row++) if (!isTime(this.time[row])) untimed.push(row);
    // Unreadable rows have no time either, and are counted as what they are.
    noteImpossible(builder, 'GPU_METRICS', untimed.length - badRows.length);
    const rows = untimed.length > 0 ? dropRows(columns, untimed, length) : length;
    builder.addTable('metricSamples', columns, rows);
  }
}
