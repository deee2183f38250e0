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
    for (const [table, name, column] of this.columns()) given[table][name] = column.give();
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
    for (const [column, cells] of [...Object.entries(rows), ...Object.entries(beside)]) {
      const finished: AnyArray | undefined = column === 'start' ? undefined : cells.finish(order);
      if (finished) columns[column] = finished;
    }
    return { length, columns };
  }
}

function rowsOf<Name extends TableName>(name: Name): Rows<Name> {
  const rows: Record<string, GrowingColumn> = {};
  for (const [column, spec] of columnsOf(name)) rows[column] = new GrowingColumn(spec.storage);
  return rows as Rows<Name>;
}
