/** An SQLite file as tables: reads the schema, and small tables as plain rows. Big ones go through decode.ts. */
import type { ByteSource } from '../byte-source.js';
import { UserError } from '../user-error.js';
import { findLeaves, type Leaves, maxCells, singleLeaf } from './btree.js';
import { decodeLeaves } from './decode-leaves.js';
import type { DecodePlan, Sink } from './decode-plan.js';
import { SqlitePages } from './pages.js';
import { readSchemaEntry, type SmallRow, type SmallValue, type SqliteTable } from './schema-entry.js';

export { parseCreateTable, type SmallRow, type SmallValue, type SqliteTable } from './schema-entry.js';

export class SqliteDatabase {
  readonly pages: SqlitePages;
  readonly tables = new Map<string, SqliteTable>();
  /** Pages that could not be read, over all tables looked at so far. */
  damagedPages = 0;
  /** The same for rows of small tables, and pages of them that hold other content than their rows. */
  damagedRows = 0;
  oddPages = 0;
  /** Entries of the list of tables that make no sense: what they described cannot be found. */
  damagedEntries = 0;
  private readonly claimed: Uint8Array;
  private readonly known = new Map<SqliteTable, Leaves>();

  constructor(source: ByteSource) {
    this.pages = new SqlitePages(source);
    this.claimed = new Uint8Array(this.pages.pageCount + 1);
    const master: SqliteTable = {
      name: 'sqlite_master',
      rootPage: 1,
      columns: ['type', 'name', 'tbl_name', 'rootpage', 'sql'],
      rowIdColumn: -1,
    };
    for (const row of this.smallRows(master)) {
      const entry = readSchemaEntry(row);
      if (entry === 'damaged') this.damagedEntries++;
      else if (entry) this.tables.set(entry.name, entry);
    }
    if (this.tables.size === 0) {
      throw new UserError(
        'damaged',
        'The SQLite file contains no readable table.',
        'It may be truncated: compare its size with the original, or export the report again.',
      );
    }
  }

  leaves(table: SqliteTable): Leaves {
    let leaves = this.known.get(table);
    if (!leaves) {
      leaves = findLeaves(this.pages, table.rootPage, this.claimed);
      this.known.set(table, leaves);
      this.damagedPages += leaves.damagedPages;
    }
    return leaves;
  }

  /** Rows of a small table as objects. Stops at `limit` rows: a stranger's file may hold any number. */
  smallRows(table: SqliteTable, limit = 200_000): SmallRow[] {
    const leaves = this.leaves(table);
    const rows: SmallRow[] = [];
    const most = Math.min(leaves.rows, maxCells(this.pages));
    const numbers = table.columns.map(() => new Float64Array(most));
    const strings = table.columns.map(() => new Int32Array(most));
    const decoder = new TextDecoder();
    let texts: string[] = [];
    const take = (bytes: Uint8Array, from: number, to: number) =>
      texts.push(decoder.decode(bytes.subarray(from, to))) - 1;
    const { rowIdColumn } = table;
    const asNumbers: DecodePlan = {
      sinks: numbers.map(into => ({ kind: 'number', into, missing: Number.NaN })),
      rowIdColumn,
    };
    const asTexts: DecodePlan = {
      sinks: strings.map((into): Sink => ({ kind: 'text', into, take })),
      rowIdColumn,
    };
    for (let leaf = 0; leaf < leaves.pages.length && rows.length < limit; leaf++) {
      // Twice over: once for numbers, once for text. Cheaper than a third kind of sink, as the tables are small.
      const one = singleLeaf(leaves, leaf);
      const { badRows, oddPages } = decodeLeaves(this.pages, one, asNumbers);
      texts = [];
      decodeLeaves(this.pages, one, asTexts);
      this.damagedRows += badRows.length;
      this.oddPages += oddPages;
      const bad = new Set(badRows);
      for (let row = 0; row < one.rows && rows.length < limit; row++) {
        if (bad.has(row)) continue;
        const values: Record<string, SmallValue> = {};
        table.columns.forEach((column, c) => {
          if (strings[c][row] >= 0) values[column] = texts[strings[c][row]];
          else if (!Number.isNaN(numbers[c][row])) values[column] = numbers[c][row];
        });
        rows.push(values);
      }
    }
    return rows;
  }
}
