/** A table that SQL can ask, declared: what it is about, its columns, what of a profile it needs, and its content. */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import type { WantedTables } from '../analyze/wanted-tables.js';

/** `map`: numbers by name, asked as `column['name']`. */
export type SqlType = 'text' | 'number' | 'whole' | 'flag' | 'map';

export interface SqlColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly about: string;
  /** Of a number: counts nanoseconds, bytes or things. Files have it as int64, unless a trace has fractions of them. */
  readonly counted?: true;
}

/** Interned texts: a number per row, and what it stands for. -1 is null. */
export interface TextColumn {
  readonly ids: ArrayLike<number>;
  text(id: number): string;
}

/** By row. NaN is null in numbers, -1 in whole ones that are signed. */
export type ColumnContent =
  | TextColumn
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array
  | Int16Array
  | Int8Array
  | readonly unknown[];

export interface TableContent {
  readonly rows: number;
  /** Undefined: nothing of the column was recorded, and it is null in every row. */
  column(name: string): ColumnContent | undefined;
}

export interface SqlTable {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly SqlColumn[];
  /** Other names of the same table. */
  readonly aliases?: readonly string[];
  readonly reads?: WantedTables;
  readonly uses?: readonly Derived<unknown>[];
  /** Throws NotRecorded where the capture has no such rows. */
  content(analyzer: Analyzer): TableContent;
}
