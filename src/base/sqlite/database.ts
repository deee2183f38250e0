/** An SQLite file as tables: reads the schema, and small tables as plain rows. Big ones go through decode.ts. */
import type { ByteSource } from '../byte-source.js';
import { UserError } from '../user-error.js';
import { findLeaves, type Leaves, maxCells, singleLeaf } from './btree.js';
import { type DecodePlan, decodeLeaves, type Sink } from './decode.js';
import { SqlitePages } from './pages.js';

export interface SqliteTable {
  readonly name: string;
  readonly rootPage: number;
  readonly columns: readonly string[];
  /** Position of the INTEGER PRIMARY KEY column, whose value is the row id; -1 where there is none. */
  readonly rowIdColumn: number;
}

export type SmallValue = string | number;
/** Values by column; NULL is absent. */
export type SmallRow = Readonly<Partial<Record<string, SmallValue>>>;

/** SQLite's own limit, so that a stranger's schema cannot ask for more. */
const MAX_COLUMNS = 2000;

export class SqliteDatabase {
  readonly pages: SqlitePages;
  readonly tables = new Map<string, SqliteTable>();
  /** Pages that could not be read, over all tables looked at so far. */
  damagedPages = 0;
  /** The same for rows of small tables, and pages of them that hold other content than their rows. */
  damagedRows = 0;
  oddPages = 0;
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
      if (row.type !== 'table' || typeof row.sql !== 'string' || typeof row.name !== 'string') continue;
      // Virtual tables have no pages.
      if (typeof row.rootpage !== 'number' || row.rootpage === 0 || /WITHOUT\s+ROWID\s*$/i.test(row.sql))
        continue;
      this.tables.set(row.name, { name: row.name, rootPage: row.rootpage, ...parseCreateTable(row.sql) });
    }
    if (this.tables.size === 0) {
      throw new UserError(
        'damaged',
        'The SQLite file holds no readable table.',
        'It may be cut off: compare its size with the original, or export the report again.',
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

/** Column names of a CREATE TABLE statement, and which of them is the row id in disguise. */
export function parseCreateTable(sql: string): { columns: string[]; rowIdColumn: number } {
  const open = sql.indexOf('(');
  const columns: string[] = [];
  const types: string[] = [];
  let rowIdColumn = -1;
  if (open < 0) return { columns, rowIdColumn };
  for (const definition of splitDefinitions(sql.slice(open + 1)).slice(0, MAX_COLUMNS)) {
    const match = /^\s*(?:"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|(\w+))\s*([\s\S]*)$/.exec(definition);
    if (!match) continue;
    const name = match[1]?.replaceAll('""', '"') ?? match[2] ?? match[3] ?? match[4];
    const bare = match[4]?.toUpperCase();
    if (bare && ['PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN', 'CONSTRAINT'].includes(bare)) {
      const key = /\bPRIMARY\s+KEY\s*\(\s*["`[]?(\w+)["`\]]?\s*\)/i.exec(definition)?.[1];
      const column = key === undefined ? -1 : columns.indexOf(key);
      if (column >= 0 && /^INTEGER\s*($|\s[A-Z])/i.test(types[column])) rowIdColumn = column;
      continue;
    }
    if (/^INTEGER\b[\s\S]*\bPRIMARY\s+KEY\b/i.test(match[5]) && !/PRIMARY\s+KEY\s+DESC\b/i.test(match[5])) {
      rowIdColumn = columns.length;
    }
    columns.push(name);
    types.push(match[5]);
  }
  return { columns, rowIdColumn };
}

/** Splits at top-level commas, dropping comments; ends at the closing parenthesis. */
function splitDefinitions(body: string): string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  for (let i = 0; i < body.length; i++) {
    const c = body[i];
    if (c === '-' && body[i + 1] === '-') {
      while (i < body.length && body[i] !== '\n') i++;
      continue;
    }
    if (c === '/' && body[i + 1] === '*') {
      const close = body.indexOf('*/', i + 2);
      if (close < 0) break;
      i = close + 1;
      continue;
    }
    if (c === '"' || c === "'" || c === '`') {
      const close = body.indexOf(c, i + 1);
      if (close < 0) break;
      part += body.slice(i, close + 1);
      i = close;
      continue;
    }
    if (c === '(') depth++;
    if (c === ')' && depth-- === 0) break;
    if (c === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += c;
  }
  if (part.trim() !== '') parts.push(part);
  return parts;
}
