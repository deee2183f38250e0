/** The content of a table into DuckDB, chunk by chunk. Texts go in once each: rows hold their numbers, a view joins them. */
import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { DuckDb } from '../disk/open-duckdb.js';
import { cellNumber, interned, isTexts, wholeOf } from './cells.js';
import type { ColumnContent, SqlColumn, SqlTable, TableContent } from './sql-table.js';

/** As many rows as DuckDB takes at a time. */
const CHUNK = 2048;

const DECLARED = {
  text: 'VARCHAR',
  number: 'DOUBLE',
  whole: 'BIGINT',
  flag: 'BOOLEAN',
  map: 'MAP(VARCHAR, DOUBLE)',
};

const named = (name: string) => `"${name.replaceAll('"', '""')}"`;

type ValueAt = (row: number) => DuckDBValue;

export class TableLoader {
  constructor(
    private readonly duckdb: DuckDb,
    private readonly connection: DuckDBConnection,
  ) {}

  /** Makes the table and its other names; `columns`: those that are loaded. */
  async load(table: SqlTable, content: TableContent, columns: readonly SqlColumn[]): Promise<void> {
    const { DOUBLE, INTEGER, BIGINT, BOOLEAN, VARCHAR, MAP } = this.duckdb;
    const stored = named(`${table.name} columns`);
    const types: DuckDBType[] = [];
    const values: ValueAt[] = [];
    const declared: string[] = [];
    const shown: string[] = [];
    const joins: string[] = [];
    for (const { name, type } of columns) {
      const column = content.column(name);
      if (isTexts(column)) {
        const { numbers, texts } = interned(column);
        const words = named(`${table.name} ${name} texts`);
        await this.append(words, ['id INTEGER', 'text VARCHAR'], [INTEGER, VARCHAR], texts.length, [
          row => row,
          row => texts[row],
        ]);
        types.push(INTEGER);
        values.push(row => (numbers[row] < 0 ? null : numbers[row]));
        declared.push(`${named(name)} INTEGER`);
        const joined = named(`t${joins.length}`);
        joins.push(`LEFT JOIN ${words} ${joined} ON ${joined}.id = c.${named(name)}`);
        shown.push(`${joined}.text AS ${named(name)}`);
        continue;
      }
      const own = { text: VARCHAR, number: DOUBLE, whole: BIGINT, flag: BOOLEAN, map: MAP(VARCHAR, DOUBLE) };
      types.push(own[type]);
      declared.push(`${named(name)} ${DECLARED[type]}`);
      shown.push(`c.${named(name)}`);
      values.push(this.valuesOf(type, column));
    }
    await this.append(stored, declared, types, content.rows, values);
    const select = `SELECT ${shown.join(', ')} FROM ${stored} c ${joins.join(' ')}`;
    for (const name of [table.name, ...(table.aliases ?? [])])
      await this.connection.run(`CREATE OR REPLACE VIEW ${named(name)} AS ${select}`);
  }

  private valuesOf(type: SqlColumn['type'], column: ColumnContent | undefined): ValueAt {
    if (!column || isTexts(column)) return () => null;
    if (type === 'map')
      return row => {
        const entries = Object.entries((column[row] ?? {}) as Record<string, number>);
        return this.duckdb.mapValue(entries.map(([key, value]) => ({ key, value })));
      };
    if (type === 'number') return cellNumber(column);
    if (type === 'whole') {
      const at = cellNumber(column);
      return row => {
        const value = at(row);
        return value === null ? null : wholeOf(value);
      };
    }
    return row => (column[row] ?? null) as DuckDBValue;
  }

  private async append(
    table: string,
    declared: readonly string[],
    types: readonly DuckDBType[],
    rows: number,
    values: readonly ValueAt[],
  ): Promise<void> {
    await this.connection.run(`CREATE OR REPLACE TABLE ${table} (${declared.join(', ')})`);
    const appender = await this.connection.createAppender(table.slice(1, -1).replaceAll('""', '"'));
    for (let from = 0; from < rows; from += CHUNK) {
      const count = Math.min(CHUNK, rows - from);
      const chunk = this.duckdb.DuckDBDataChunk.create(types, count);
      for (const [c, at] of values.entries()) {
        const column: DuckDBValue[] = new Array(count);
        for (let i = 0; i < count; i++) column[i] = at(from + i);
        chunk.setColumnValues(c, column);
      }
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  }
}
