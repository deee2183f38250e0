/** The rows of the Profile's tables while a trace is read, before threads and streams are known by row. */

import type { AnyArray } from '../../../base/column.js';
import { GrowingColumn } from '../../../base/growing-column.js';
import { isSorted, orderBy } from '../../../base/order.js';
import type { RawTable } from '../../../model/builder.js';
import { columnsOf, type Schema, type TableName } from '../../../model/schema.js';

type Rows<Name extends TableName> = { readonly [Column in keyof Schema[Name]]: GrowingColumn };

/** What Kineto can fill. */
export const kinetoTables = [
  'kernels',
  'copies',
  'memsets',
  'apiCalls',
  'syncs',
  'ranges',
  'ops',
  'frames',
  'memoryEvents',
  'overheads',
  'flows',
] as const satisfies readonly TableName[];
export type KinetoTable = (typeof kinetoTables)[number];

/** By table and column. */
export type GivenRows = Record<KinetoTable, Record<string, AnyArray[]>>;

/** Columns of kernels in which one row stands for all kernels of a shape: which one a kernel has, kernelModels says. */
const modelColumns: ReadonlySet<string> = new Set<keyof Schema['kernels']>([
  ...(['stream', 'graph', 'name', 'shortName', 'gridX', 'gridY', 'gridZ', 'blockX', 'blockY'] as const),
  ...(['blockZ', 'registersPerThread', 'dynamicSharedBytes', 'occupancyPercent', 'message'] as const),
]);

/** What the columns beside kernels and calls are called. */
const EXTERNAL_ID = 'externalId';

export class TraceRows {
  readonly kernels = rowsOf('kernels');
  readonly copies = rowsOf('copies');
  readonly memsets = rowsOf('memsets');
  readonly apiCalls = rowsOf('apiCalls');
  readonly syncs = rowsOf('syncs');
  readonly ranges = rowsOf('ranges');
  readonly ops = rowsOf('ops');
  readonly frames = rowsOf('frames');
  readonly memoryEvents = rowsOf('memoryEvents');
  readonly overheads = rowsOf('overheads');
  readonly flows = rowsOf('flows');
  /**
   * Which op the profiler says an event belongs to, as its external id; beside the tables, because the schema has
   * the op's row instead.
   */
  readonly kernelExternalIds = new GrowingColumn('f64');
  /** The row of modelColumns that each kernel has. Empty where they have a row for each kernel. */
  readonly kernelModels = new GrowingColumn('i32');
  readonly callExternalIds = new GrowingColumn('f64');

  /** Every column with the table it goes with. */
  *columns(): Iterable<readonly [table: KinetoTable, name: string, column: GrowingColumn]> {
    for (const table of kinetoTables)
      for (const [name, column] of Object.entries(this[table])) yield [table, name, column];
    yield ['kernels', EXTERNAL_ID, this.kernelExternalIds];
    yield ['apiCalls', EXTERNAL_ID, this.callExternalIds];
  }

  /** All rows as the arrays they lie in. Ends the tables. */
  give(): GivenRows {
    const given = Object.fromEntries(kinetoTables.map(table => [table, {}])) as GivenRows;
    const models = this.takeModels();
    for (const [table, name, column] of this.columns()) {
      const cells = models && table === 'kernels' && modelColumns.has(name) && column.finish(models);
      given[table][name] = cells ? [cells] : column.give();
    }
    return given;
  }

  /** Takes a table out, sorted by start. `beside` columns are put in the same order. */
  take(name: KinetoTable, beside: Record<string, GrowingColumn> = {}): { length: number; columns: RawTable } {
    const rows = this[name] as Record<string, GrowingColumn>;
    const length = rows.start.length;
    const columns: RawTable = {};
    if (length === 0) return { length, columns };
    let start = (rows.start.finish() ?? new Float64Array(length)) as Float64Array;
    const order = isSorted(start) ? undefined : orderBy(start);
    if (order) start = start.map((_, row) => (start as Float64Array)[order[row]]);
    columns.start = start;
    const models = name === 'kernels' ? this.takeModels() : undefined;
    const orderedModels = models && order ? models.map((_, row) => models[order[row]]) : models;
    for (const [column, cells] of [...Object.entries(rows), ...Object.entries(beside)]) {
      if (column === 'start') continue;
      const finished = cells.finish(models && modelColumns.has(column) ? orderedModels : order);
      if (finished) columns[column] = finished;
    }
    return { length, columns };
  }

  private takeModels(): Int32Array | undefined {
    return this.kernelModels.length > 0 ? (this.kernelModels.finishAll() as Int32Array) : undefined;
  }
}

function rowsOf<Name extends TableName>(name: Name): Rows<Name> {
  const rows: Record<string, GrowingColumn> = {};
  for (const [column, spec] of columnsOf(name)) rows[column] = new GrowingColumn(spec.storage);
  return rows as Rows<Name>;
}
