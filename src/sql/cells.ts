/** What a cell of a table holds: the one place that decides what is null, for DuckDB and for files. */
import { isSigned } from '../base/column.js';
import type { ColumnContent, TextColumn } from './sql-table.js';

export const isTexts = (content: ColumnContent | undefined): content is TextColumn =>
  content !== undefined && 'ids' in content;

/** Texts by their number among those that occur; -1 is null. */
export function interned({ ids, text }: TextColumn): {
  readonly numbers: Int32Array;
  readonly texts: readonly string[];
} {
  const known = new Map<number, number>();
  const texts: string[] = [];
  const numbers = Int32Array.from(ids, id => {
    if (id < 0) return -1;
    let number = known.get(id);
    if (number === undefined) {
      number = texts.push(text(id)) - 1;
      known.set(id, number);
    }
    return number;
  });
  return { numbers, texts };
}

/** The number in a row, or null where there is none. */
export function cellNumber(
  column: Exclude<ColumnContent, TextColumn>,
): (row: number) => number | bigint | null {
  const absent = isSigned(column) ? -1 : Number.NaN;
  return row => {
    const value = column[row] as number | bigint | null | undefined;
    return value == null || Object.is(value, Number.NaN) || value === absent ? null : value;
  };
}

export const wholeOf = (value: number | bigint): bigint =>
  typeof value === 'number' ? BigInt(Math.round(value)) : value;
