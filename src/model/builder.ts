/**
 * Builds Profiles that cannot be wrong in shape: columns of one length, sorted by start, all-missing columns
 * dropped, launches linked to the API calls that made them.
 */
import { type AnyArray, allocate, missingValue, NONE, narrowed } from '../base/column.js';
import { NoteCounter } from '../base/notes.js';
import { isSorted, orderBy } from '../base/order.js';
import { StringTable } from '../base/string-table.js';
import { longestPossible, rowsBeyond } from './beyond-capture.js';
import { linkLaunches } from './link.js';
import type {
  CaptureInfo,
  ClockKind,
  Gpu,
  GpuRow,
  ProcessInfo,
  ProcessRow,
  Profile,
  StreamInfo,
  StreamRow,
  Table,
  ThreadInfo,
  ThreadRow,
} from './profile.js';
import { columnsOf, type TableName, tableNames } from './schema.js';

export type RawTable = Record<string, AnyArray>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class ProfileBuilder {
  readonly strings = new StringTable();
  readonly notes = new NoteCounter();
  readonly gpus: Mutable<Gpu>[] = [];
  readonly processes: Mutable<ProcessInfo>[] = [];
  readonly threads: Mutable<ThreadInfo>[] = [];
  readonly streams: Mutable<StreamInfo>[] = [];
  readonly metrics: string[] = [];
  originNs = 0n;
  clock: ClockKind = 'session';
  skipped: TableName[] = [];
  damaged: TableName[] = [];
  private readonly tables = new Map<TableName, { length: number; columns: RawTable }>();
  /** Where rows went when their table was sorted, so that references to them can follow. */
  private readonly moved = new Map<TableName, Int32Array>();
  private readonly keys = new Map<string, number>();

  gpu(host: string, deviceId: number): GpuRow {
    return this.once(`g${host}/${deviceId}`, this.gpus, () => ({ deviceId, name: '', host })) as GpuRow;
  }

  process(host: string, pid: number): ProcessRow {
    return this.once(`p${host}/${pid}`, this.processes, () => ({ pid, name: '', host })) as ProcessRow;
  }

  thread(process: ProcessRow, tid: number): ThreadRow {
    return this.once(`t${process}/${tid}`, this.threads, () => ({ process, tid, name: '' })) as ThreadRow;
  }

  stream(
    process: ProcessRow,
    gpu: GpuRow,
    contextId: number,
    streamId: number,
    greenContextId?: number,
  ): StreamRow {
    const key = `s${process}/${gpu}/${contextId}/${streamId}/${greenContextId ?? ''}`;
    return this.once(key, this.streams, () => ({
      process,
      gpu,
      contextId,
      streamId,
      ...(greenContextId === undefined ? {} : { greenContextId }),
    })) as StreamRow;
  }

  metric(name: string): number {
    return this.once(`m${name}`, this.metrics, () => name);
  }

  private once<T>(key: string, list: T[], make: () => T): number {
    const known = this.keys.get(key);
    if (known !== undefined) return known;
    list.push(make());
    this.keys.set(key, list.length - 1);
    return list.length - 1;
  }

  /**
   * Hands over a finished table. Columns missing from `columns` that the schema requires are filled as missing.
   * References to other tables count rows as those tables were handed over; sorting moves them along. A table that
   * comes in parts (from several tables of a file) may be handed over part by part, if nothing refers to it.
   */
  addTable(name: TableName, columns: RawTable, length: number): void {
    if (length === 0) return;
    for (const [column, cells] of Object.entries(columns)) {
      if (cells.length !== length) throw new Error(`${name}.${column} has ${cells.length} of ${length} rows`);
    }
    for (const [column, spec] of columnsOf(name)) {
      if (spec.optional) {
        if (columns[column] && allMissing(columns[column], missingValue(spec.storage), spec.storage)) {
          delete columns[column];
        }
      } else if (!columns[column]) {
        columns[column] = allocate(spec.storage, length, true).fill(missingValue(spec.storage));
      }
    }
    const earlier = this.tables.get(name);
    if (earlier) {
      columns = concatenate(name, [earlier, { length, columns }]);
      length += earlier.length;
    }
    const start = columns.start as Float64Array | undefined;
    if (!start || isSorted(start)) {
      this.tables.set(name, { length, columns });
      return;
    }
    const order = orderBy(start);
    const sorted: RawTable = {};
    for (const [column, cells] of Object.entries(columns)) sorted[column] = permute(cells, order);
    this.tables.set(name, { length, columns: sorted });
    const moved = new Int32Array(length);
    for (let row = 0; row < length; row++) moved[order[row]] = row;
    this.moved.set(name, moved);
  }

  private followMovedRows(): void {
    for (const [name, { columns }] of this.tables) {
      for (const [column, spec] of columnsOf(name)) {
        const cells = columns[column];
        const moved = spec.ref && this.moved.get(spec.ref as TableName);
        // Launches are found anew from correlation ids.
        if (!cells || !moved || column === 'launch') continue;
        for (let row = 0; row < cells.length; row++) if (cells[row] !== NONE) cells[row] = moved[cells[row]];
      }
    }
  }

  /** Rows that cannot be are dropped, and what refers to them refers to nothing. */
  private dropBeyond({ startNs, endNs }: CaptureInfo): void {
    const stated = startNs !== undefined && endNs !== undefined ? endNs - startNs : undefined;
    const { eventNs, rangeNs } = longestPossible(this.tables.values(), stated);
    for (const [name, table] of this.tables) {
      const beyond = rowsBeyond(table, name === 'ranges' || name === 'osCalls' ? rangeNs : eventNs);
      if (beyond.length === 0) continue;
      const text = 'events last longer than the whole capture and were left out';
      this.notes.add('beyond-capture', 'loss', text, name, beyond.length);
      const drop = new Set(beyond);
      const kept = Int32Array.from({ length: table.length }, (_, row) => row).filter(row => !drop.has(row));
      const columns: RawTable = {};
      for (const [column, cells] of Object.entries(table.columns)) columns[column] = permute(cells, kept);
      const place = new Int32Array(table.length).fill(NONE);
      kept.forEach((old, row) => {
        place[old] = row;
      });
      const moved = this.moved.get(name);
      this.moved.set(name, moved ? moved.map(row => place[row]) : place);
      if (kept.length === 0) this.tables.delete(name);
      else this.tables.set(name, { length: kept.length, columns });
    }
  }

  build(capture: CaptureInfo): Profile {
    this.dropBeyond(capture);
    this.followMovedRows();
    const tables: { [Name in TableName]?: Table<Name> } = {};
    for (const name of tableNames) {
      const table = this.tables.get(name);
      if (!table) continue;
      if (table.length >= WORTH_NARROWING) narrowDetails(name, table.columns);
      Object.assign(tables, { [name]: { length: table.length, ...table.columns } });
    }
    const profile: Profile = {
      capture,
      originNs: this.originNs,
      clock: this.clock,
      strings: this.strings,
      gpus: this.gpus,
      processes: this.processes,
      threads: this.threads,
      streams: this.streams,
      metrics: this.metrics,
      tables,
      skipped: this.skipped,
      ...(this.damaged.length > 0 ? { damaged: this.damaged } : {}),
      notes: [],
    };
    const ambiguous = linkLaunches(profile);
    if (ambiguous > 0) {
      const text =
        'GPU operations have an ID shared by several calls: each is assigned to the last call before it';
      this.notes.add('repeated-correlation', 'warning', text, '', ambiguous);
    }
    return { ...profile, notes: this.notes.list() };
  }
}

function concatenate(name: TableName, parts: { length: number; columns: RawTable }[]): RawTable {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const columns: RawTable = {};
  for (const [column, spec] of columnsOf(name)) {
    if (!parts.some(part => part.columns[column])) continue;
    columns[column] = allocate(spec.storage, length).fill(missingValue(spec.storage));
    let at = 0;
    for (const part of parts) {
      if (part.columns[column]) columns[column].set(part.columns[column], at);
      at += part.length;
    }
  }
  return columns;
}

/** Smaller tables are not worth it. */
const WORTH_NARROWING = 1 << 16;

/** Details are many columns of small numbers (the block of a kernel, the result of a call) and seldom asked for. */
function narrowDetails(name: TableName, columns: RawTable): void {
  for (const [column, { storage, optional, ref }] of columnsOf(name)) {
    const cells = columns[column];
    if (storage === 'i32' && optional && !ref && cells instanceof Int32Array)
      columns[column] = narrowed(cells);
  }
}

function allMissing(cells: AnyArray, missing: number, storage: string): boolean {
  // Zero is a real colour or correlation; only the signed storages have a value that cannot occur.
  if (storage === 'u8') return false;
  for (let i = 0; i < cells.length; i++) {
    if (cells[i] !== missing && !(Number.isNaN(missing) && Number.isNaN(cells[i]))) return false;
  }
  return true;
}

function permute(cells: AnyArray, order: Int32Array): AnyArray {
  const moved = new (cells.constructor as new (length: number) => AnyArray)(order.length);
  for (let i = 0; i < order.length; i++) moved[i] = cells[order[i]];
  return moved;
}
