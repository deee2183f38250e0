/** Prepares the arrays and the decode plan of one table, and turns what was decoded into model columns. */
import { type AnyArray, allocate, missingValue, NONE } from '../../base/column.js';
import type { Leaves } from '../../base/sqlite/btree.js';
import { cellAt, compactPlaces, wholeColumn } from '../../base/sqlite/compact-parts.js';
import type { SqliteDatabase, SqliteTable } from '../../base/sqlite/database.js';
import type { CompactPart, Decoded, DecodePlan, Sink } from '../../base/sqlite/decode-plan.js';
import type { ProfileBuilder, RawTable } from '../../model/builder.js';
import { columnsOf, type TableName } from '../../model/schema.js';
import type { OwnerPlaces, Owners } from './owners.js';
import type { DecodeJob } from './parallel-decode.js';
import type { TableSource } from './sources.js';
import type { StringIds } from './string-ids.js';

/** Turns ids of call stacks into rows of the model. Undefined answers: no stacks were read for these. */
export interface StackSource {
  resolve(table: string, ids: Float64Array, names: ArrayLike<number> | undefined): Int32Array | undefined;
  ofCalls(
    owners: Owners,
    thread: ArrayLike<number>,
    start: Float64Array,
    end: Float64Array,
  ): Int32Array | undefined;
}

/** One table on its way in: first its job is decoded (with all others, on several threads), then it is finished. */
export interface TableImport {
  readonly job: DecodeJob;
  finish(decoded: Decoded, strings: StringIds, owners: Owners, stacks?: StackSource): void;
}

const NOT_YET = new Int32Array(0);

/** Of GPU work, besides its process. */
const streamColumns = ['deviceId', 'contextId', 'greenContextId', 'streamId'];

export class TableReader implements TableImport {
  readonly leaves: Leaves;
  readonly job: DecodeJob;
  private readonly table: SqliteTable;
  private readonly columns: RawTable = {};
  /** Model columns and ids of owners that are decoded in parts: by their column in the file, then by their place there. */
  private readonly compact: Record<string, number> = {};
  private readonly owners: OwnerPlaces;
  /** Ids of stacks by model column, in the same way. */
  private readonly stackIds: Record<string, number> = {};
  private readonly wantsPythonStacks: boolean;
  /** The file says whose rows these are. */
  private readonly hasOwner: boolean;

  constructor(
    database: SqliteDatabase,
    readonly model: TableName,
    private readonly source: TableSource,
    private readonly builder: ProfileBuilder,
    wantedColumns?: readonly string[],
  ) {
    this.table = database.tables.get(source.table)!;
    this.leaves = database.leaves(this.table);
    const rows = this.leaves.rows;
    const specs = new Map(columnsOf(model));
    const isWanted = (column: string) =>
      !specs.get(column)!.optional || (wantedColumns?.includes(column) ?? true);
    const sinks: (Sink | undefined)[] = this.table.columns.map(() => undefined);
    const put = (fileColumn: string, sink: () => Sink) => {
      const position = this.table.columns.indexOf(fileColumn);
      if (position < 0) return false;
      sinks[position] = sink();
      return true;
    };
    const numbers = (fileColumn: string, into: AnyArray, missing: number) =>
      put(fileColumn, () => ({ kind: 'number', into, missing }));
    const int = (fileColumn: string): Int32Array | undefined => {
      const into = allocate('i32', rows, true) as Int32Array;
      return numbers(fileColumn, into, NONE) ? into : undefined;
    };
    const positionOf = (fileColumn: string) => this.table.columns.indexOf(fileColumn);

    for (const [column, fileColumn] of Object.entries(source.numbers)) {
      if (!this.table.columns.includes(fileColumn) || !isWanted(column)) continue;
      const { storage, optional, ref } = specs.get(column)!;
      const isReal = storage === 'f64';
      if ((storage === 'i32' || isReal) && optional && !ref) {
        put(fileColumn, () => (isReal ? { kind: 'compact', isReal } : { kind: 'compact' }));
        this.compact[column] = positionOf(fileColumn);
        // Its place among the columns is that of the file.
        this.columns[column] = NOT_YET;
        continue;
      }
      this.columns[column] = allocate(storage, rows, true);
      numbers(fileColumn, this.columns[column], missingValue(storage));
    }
    for (const [column, fileColumn] of Object.entries(source.names ?? {})) {
      const cells = isWanted(column) ? int(fileColumn) : undefined;
      if (cells) this.columns[column] = cells;
    }
    for (const [column, fileColumn] of Object.entries(source.stacks ?? {})) {
      if (!this.table.columns.includes(fileColumn) || !isWanted(column)) continue;
      put(fileColumn, () => ({ kind: 'compact', isReal: true }));
      this.stackIds[column] = positionOf(fileColumn);
    }
    this.wantsPythonStacks = specs.has('pythonStack') && isWanted('pythonStack');
    for (const [column, fileColumn] of Object.entries(source.texts ?? {})) {
      const into = new Int32Array(rows);
      const take = (bytes: Uint8Array, from: number, to: number) =>
        builder.strings.internBytes(bytes, from, to);
      if (put(fileColumn, () => ({ kind: 'text', into, take }))) this.columns[column] = into;
    }
    let idColumn = '';
    if (source.owner !== 'none') {
      const own = source.owner === 'thread' ? 'globalTid' : 'globalPid';
      idColumn = [own, 'globalTid'].find(name => put(name, () => ({ kind: 'compact-id' }))) ?? '';
    }
    this.hasOwner = idColumn !== '';
    const isCore = (column: string, { optional }: { optional?: boolean }) =>
      !optional && (column === 'start' || column === 'end' || column === 'correlation');
    for (const [column, spec] of specs) {
      const fileColumn = source.numbers[column];
      if (fileColumn && isCore(column, spec) && !this.table.columns.includes(fileColumn))
        noteMissingColumn(builder, `${source.table}.${fileColumn}`);
    }
    if (source.owner === 'stream')
      for (const column of streamColumns) put(column, () => ({ kind: 'compact' }));
    const plan: DecodePlan = { sinks, rowIdColumn: this.table.rowIdColumn };
    this.job = { leaves: this.leaves, plan, thisThreadOnly: source.texts !== undefined };
    const places = compactPlaces(plan);
    const placeOf = (position: number, part = 0) => {
      const place = places.findIndex(({ column, which }) => column === position && which === part);
      return place < 0 ? undefined : place;
    };
    for (const columns of [this.compact, this.stackIds])
      for (const [column, position] of Object.entries(columns)) columns[column] = placeOf(position)!;
    const [machine, pid, tid] = [0, 1, 2].map(part => placeOf(positionOf(idColumn), part));
    const [device, context, green, stream] = streamColumns.map(column => placeOf(positionOf(column)));
    this.owners = { machine, pid, tid, device, context, green, stream };
  }

  /** After decoding: drops unreadable rows, resolves names and owners, hands the table to the builder. */
  finish({ badRows, parts }: Decoded, strings: StringIds, owners: Owners, stacks?: StackSource): void {
    const { source, columns } = this;
    let rows = this.leaves.rows;
    for (const [column, place] of Object.entries(this.compact)) {
      const whole = wholeColumn(parts, place, rows);
      if (whole) columns[column] = whole;
      else delete columns[column];
    }
    for (const column of Object.keys(source.names ?? {})) {
      const cells = columns[column];
      if (!cells) continue;
      const unexplained = strings.resolveColumn(cells as Int32Array);
      if (unexplained > 0) {
        this.builder.notes.add(
          'missing-names',
          'loss',
          'names are missing from the file; their rows are counted with empty names',
          `${source.table}.${source.names![column]}`,
          unexplained,
        );
      }
    }
    if (source.owner === 'thread') columns.thread = owners.threadsIn(parts, this.owners, rows);
    if (source.owner === 'process') columns.process = owners.processesIn(parts, this.owners, rows);
    if (source.owner === 'stream') columns.stream = owners.streamsIn(parts, this.owners, rows);
    for (const [column, place] of Object.entries(this.stackIds)) {
      const ids = wholeColumn(parts, place, rows) as Float64Array | undefined;
      const resolved = ids && stacks?.resolve(source.table, ids, columns.name);
      if (resolved) columns[column] = resolved;
    }
    if (this.wantsPythonStacks && columns.start && columns.end) {
      const { thread, start, end } = columns;
      const called = stacks?.ofCalls(owners, thread, start as Float64Array, end as Float64Array);
      if (called) columns.pythonStack = called;
    }
    for (const [column, value] of Object.entries(source.constants ?? {})) {
      const { storage } = columnsOf(this.model).find(([name]) => name === column)![1];
      const filling = typeof value === 'string' ? this.builder.strings.intern(value) : value;
      columns[column] = allocate(storage, rows).fill(filling);
    }
    const unwanted = [...badRows, ...this.ownerless(badRows, parts)];
    if (unwanted.length > 0) rows = dropRows(columns, unwanted, rows);
    rows = this.dropImpossible(rows);
    this.builder.addTable(this.model, columns, rows);
  }

  /** Every export says of each row which process or thread it belongs to, and of GPU work the device. */
  private ownerless(badRows: readonly number[], parts: readonly CompactPart[]): number[] {
    const { pid, device } = this.owners;
    if (!this.hasOwner || pid === undefined) return [];
    const unreadable = new Set(badRows);
    const found = rowsWithout(parts, pid, device ?? pid).filter(row => !unreadable.has(row));
    noteOwnerless(this.builder, this.source.table, found.length);
    return found;
  }

  /** Rows without a start, or that end before they start, are not events. Counted, never guessed at. */
  private dropImpossible(rows: number): number {
    const start = this.columns.start as Float64Array | undefined;
    const end = this.columns.end as Float64Array | undefined;
    const wrong = start
      ? impossibleRows(start, end ?? start, rows)
      : Array.from({ length: rows }, (_, row) => row);
    if (wrong.length === 0) return rows;
    noteImpossible(this.builder, this.source.table, wrong.length);
    return dropRows(this.columns, wrong, rows);
  }
}

function rowsWithout(parts: readonly CompactPart[], pid: number, other: number): number[] {
  const found: number[] = [];
  for (const { first, length, cells } of parts) {
    const isSet = (place: number) => typeof cells[place] === 'number' && cells[place] !== NONE;
    if (isSet(pid) && isSet(other)) continue;
    for (let row = 0; row < length; row++)
      if (cellAt(cells[pid], row) === NONE || cellAt(cells[other], row) === NONE) found.push(first + row);
  }
  return found;
}

function impossibleRows(start: Float64Array, end: Float64Array, rows: number): number[] {
  const wrong: number[] = [];
  for (let row = 0; row < rows; row++) {
    const from = start[row];
    const to = end[row];
    // Both are times, in as few steps as may be: each row of each file comes by here.
    if (!(from >= -LATEST && to >= from && to <= LATEST)) wrong.push(row);
  }
  return wrong;
}

/** Times are nanoseconds since the capture began: what a double no longer holds exactly is years away. */
const LATEST = Number.MAX_SAFE_INTEGER;
export const isTime = (value: number): boolean => Math.abs(value) <= LATEST;

export function noteOwnerless(builder: ProfileBuilder, table: string, count: number): void {
  const text = 'rows without a process, thread or GPU were left out';
  if (count > 0) builder.notes.add('no-owner', 'loss', text, table, count);
}

/** What every release has written in every row. */
function noteMissingColumn(builder: ProfileBuilder, column: string): void {
  const text = 'columns that every export has are missing; the table list is damaged';
  builder.notes.add('missing-columns', 'loss', text, column);
}

export function noteImpossible(builder: ProfileBuilder, table: string, count: number): void {
  const text = 'rows with a missing or invalid start or end, or that end before they start, were left out';
  if (count > 0) builder.notes.add('impossible-times', 'loss', text, table, count);
}

export function dropRows(columns: RawTable, unwanted: readonly number[], rows: number): number {
  const drop = new Uint8Array(rows);
  for (const row of unwanted) drop[row] = 1;
  const kept: number[] = [];
  for (let row = 0; row < rows; row++) if (drop[row] === 0) kept.push(row);
  for (const [name, cells] of Object.entries(columns)) {
    const left = new (cells.constructor as new (length: number) => AnyArray)(kept.length);
    for (let i = 0; i < kept.length; i++) left[i] = cells[kept[i]];
    columns[name] = left;
  }
  return kept.length;
}
