/** A table of another format, row by row. */
import type { SqliteValue } from '../../base/sqlite/write-rows.js';

export interface TableRows {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<readonly SqliteValue[]> | Iterable<readonly SqliteValue[]>;
}

/** Types that a database of numbers and texts does not have become those. */
export function plainValue(value: unknown): SqliteValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string') return value;
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
}
