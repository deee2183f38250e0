/** An SQLite file as tables: reads the schema, and small tables as plain rows. Big ones go through decode.ts. */
import type { ByteSource } from '../byte-source.js';
import { UserError } from '../user-error.js';
import { findLeaves, type Leaves } from './btree.js';
import { type DecodePlan, decodeLeaves, type Sink } from './decode.js';
import { SqlitePages } from './pages.js';

export interface SqliteTable {
  readonly name: string;
  readonly rootPage: number;
  readonly columns: readonly string[];
  /** Position of the INTEGER PRIMARY KEY column, whose value is the row id; -1 where there is none. */
  readonly rowIdColumn: number;
}

export type SmallValue = string | number | null;

export class SqliteDatabase {
  readonly pages: SqlitePages;
  readonly tables = new Map<string, SqliteTable>();
  /** Pages that could not be read, over all tables looked at so far. */
  damagedPages = 0;

  constructor(source: ByteSource) {
    this.pages = new SqlitePages(source);
    const master: SqliteTable = {
      name: 'sqlite_master',
      rootPage: 1,
      columns: ['type', 'name', 'tbl_name', 'rootpage', 'sql'],
      rowIdColumn: -1,
    };
    for (const row of this.smallRows(master)) {
      if (row.type !== 'table' || typeof row.sql !== 'string' || typeof row.name !== 'string') continue;
      if (typeof row.rootpage !== 'number' || /WITHOUT\s+ROWID\s*$/i.test(row.sql)) continue;
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
    const leaves = findLeaves(this.pages, table.rootPage);
    this.damagedPages += leaves.damagedPages;
    return leaves;
  }

  /** Rows of a small table as objects. Stops at `limit` rows: a stranger's file may hold any number. */
  smallRows(table: SqliteTable, limit = 200_000): Record<string, SmallValue>[] {
    const leaves = this.leaves(table);
    const texts: string[] = [];
    const decoder = new TextDecoder();
    const numbers = table.columns.map(() => new Float64Array(leaves.rows));
    const strings = table.columns.map(() => new Int32Array(leaves.rows));
    const read = (sinks: (Sink | undefined)[]) => {
      const plan: DecodePlan = { sinks, rowIdColumn: table.rowIdColumn };
      return decodeLeaves(this.pages, leaves, plan);
    };
    // Twice over: once for numbers, once for text. Small tables only, so the second pass is cheaper than a third kind of sink.
    const bad = new Set(read(numbers.map(into => ({ kind: 'number', into, missing: Number.NaN }))));
    const take = (bytes: Uint8Array, from: number, to: number) =>
      texts.push(decoder.decode(bytes.subarray(from, to))) - 1;
    read(strings.map(into => ({ kind: 'text', into, take })));
    const rows: Record<string, SmallValue>[] = [];
    for (let row = 0; row < leaves.rows && rows.length < limit; row++) {
      if (bad.has(row)) continue;
      const values: Record<string, SmallValue> = {};
      table.columns.forEach((column, c) => {
        const number = numbers[c][row];
        values[column] = strings[c][row] >= 0 ? texts[strings[c][row]] : Number.isNaN(number) ? null : number;
      });
      rows.push(values);
    }
    return rows;
  }
}

/** Column names of a CREATE TABLE statement, and which of them is the row id in disguise. */
export function parseCreateTable(sql: string): { columns: string[]; rowIdColumn: number } {
  const open = sql.indexOf('(');
  const columns: string[] = [];
  let rowIdColumn = -1;
  if (open < 0) return { columns, rowIdColumn };
  for (const definition of splitDefinitions(sql.slice(open + 1))) {
    const match = /^\s*(?:"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|(\w+))\s*([\s\S]*)$/.exec(definition);
    if (!match) continue;
    const name = match[1]?.replaceAll('""', '"') ?? match[2] ?? match[3] ?? match[4];
    const bare = match[4]?.toUpperCase();
    if (bare && ['PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN', 'CONSTRAINT'].includes(bare)) continue;
    if (/^INTEGER\b[\s\S]*\bPRIMARY\s+KEY\b/i.test(match[5]) && !/PRIMARY\s+KEY\s+DESC\b/i.test(match[5])) {
      rowIdColumn = columns.length;
    }
    columns.push(name);
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
