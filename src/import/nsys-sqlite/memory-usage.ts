/** CUDA_GPU_MEMORY_USAGE_EVENTS: allocations and frees, which the model keeps as signed bytes. */
import { NONE } from '../../base/column.js';
import type { SqliteDatabase } from '../../base/sqlite/database.js';
import type { Decoded, Sink } from '../../base/sqlite/decode-plan.js';
import type { ProfileBuilder, RawTable } from '../../model/builder.js';
import type { GlobalIds, Owners } from './owners.js';
import type { DecodeJob } from './parallel-decode.js';
import type { StringIds } from './string-ids.js';
import { dropRows, isTime, noteImpossible, noteOwnerless, type TableImport } from './table-reader.js';

const DEALLOCATION = 1;

export class MemoryUsageReader implements TableImport {
  readonly job: DecodeJob;
  private readonly numbers: Record<string, Float64Array> = {};
  private readonly name: Int32Array;
  private readonly ids: GlobalIds;
  private readonly rows: number;
  private readonly hasOwner: boolean;

  constructor(
    database: SqliteDatabase,
    private readonly builder: ProfileBuilder,
  ) {
    const table = database.tables.get('CUDA_GPU_MEMORY_USAGE_EVENTS')!;
    const leaves = database.leaves(table);
    const rows = leaves.rows;
    this.rows = rows;
    this.hasOwner = table.columns.includes('globalPid');
    this.name = new Int32Array(rows).fill(NONE);
    this.ids = {
      machine: new Int32Array(rows),
      pid: new Int32Array(rows).fill(NONE),
      tid: new Int32Array(rows),
    };
    const wanted = [
      'start',
      'bytes',
      'address',
      'memKind',
      'memoryOperationType',
      'correlationId',
      'deviceId',
    ];
    const sinks = table.columns.map((column): Sink | undefined => {
      if (column === 'globalPid') return { kind: 'global-id', ...this.ids };
      if (column === 'name') {
        const take = (bytes: Uint8Array, from: number, to: number) =>
          builder.strings.internBytes(bytes, from, to);
        return { kind: 'text', into: this.name, take };
      }
      if (!wanted.includes(column)) return undefined;
      this.numbers[column] = new Float64Array(rows);
      return { kind: 'number', into: this.numbers[column], missing: Number.NaN };
    });
    this.job = { leaves, plan: { sinks, rowIdColumn: table.rowIdColumn }, thisThreadOnly: true };
  }

  finish({ badRows }: Decoded, _strings: StringIds, owners: Owners): void {
    const { rows, numbers, builder, ids } = this;
    const absent = new Float64Array(rows).fill(Number.NaN);
    const of = (column: string) => numbers[column] ?? absent;
    const operation = of('memoryOperationType');
    const columns: RawTable = {
      start: of('start'),
      process: owners.processes(ids),
      gpu: owners.gpus(ids, of('deviceId')),
      bytes: of('bytes').map((bytes, row) => (operation[row] === DEALLOCATION ? -bytes : bytes)),
      address: of('address'),
      memory: Int32Array.from(of('memKind'), kind => (!Number.isNaN(kind) ? kind : NONE)),
      name: this.name,
      correlation: Uint32Array.from(of('correlationId'), id => (!Number.isNaN(id) ? id : 0)),
    };
    const unwanted: number[] = [];
    let ownerless = 0;
    for (let row = 0; row < rows; row++) {
      if (!isTime(columns.start[row]) || Number.isNaN(columns.bytes[row])) unwanted.push(row);
      else if (ids.pid[row] === NONE && this.hasOwner) {
        unwanted.push(row);
        ownerless++;
      }
    }
    // Unreadable rows have neither, and are counted as what they are.
    noteImpossible(builder, 'CUDA_GPU_MEMORY_USAGE_EVENTS', unwanted.length - ownerless - badRows.length);
    noteOwnerless(builder, 'CUDA_GPU_MEMORY_USAGE_EVENTS', ownerless);
    const kept = unwanted.length > 0 ? dropRows(columns, unwanted, rows) : rows;
    builder.addTable('memoryEvents', columns, kept);
  }
}
