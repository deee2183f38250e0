/** One entry of a database's list of tables: what it describes, or that it is damaged. */

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
const createTable = /^CREATE\s+TABLE\s+(?:"((?:[^"]|"")+)"|`([^`]+)`|\[([^\]]+)\]|'([^']+)'|(\w+))\s*\(/i;

/**
 * The table of an entry; undefined for what is none, or has no pages of its own. SQLite writes the name three times
 * and the statement itself, so damage to one of them shows.
 */
export function readSchemaEntry(row: SmallRow): SqliteTable | 'damaged' | undefined {
  const { type, name, tbl_name: of, rootpage, sql } = row;
  if (type === 'index' || type === 'view' || type === 'trigger') return undefined;
  if (type !== 'table' || typeof name !== 'string' || name !== of || typeof sql !== 'string')
    return 'damaged';
  // Virtual tables have no pages.
  if (rootpage === 0 || rootpage === undefined)
    return /^CREATE\s+VIRTUAL\s/i.test(sql) ? undefined : 'damaged';
  if (typeof rootpage !== 'number') return 'damaged';
  if (/WITHOUT\s+ROWID\s*$/i.test(sql)) return undefined;
  const written = createTable.exec(sql)?.slice(1).find(Boolean)?.replaceAll('""', '"');
  const { columns, rowIdColumn } = parseCreateTable(sql);
  if (written !== name || columns.length === 0 || columns.some(hasControls)) return 'damaged';
  return { name, rootPage: rootpage, columns, rowIdColumn };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: looking for exactly those
const hasControls = (text: string): boolean => /[\u0000-\u001f\u007f\ufffd]/.test(text);

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

/** Plain text, comments, quoted text; then signs one by one, of which a quote or slash begins what has no end. */
const PIECE = /[^-/"'`(),]+|--[^\n]*\n?|\/\*[\s\S]*?\*\/|"[^"]*"|'[^']*'|`[^`]*`|\/\*|[\s\S]/g;

const LINE_COMMENT = /--[^\n]*\n?/g;

/** Splits at top-level commas, dropping comments; ends at the closing parenthesis. */
export function splitDefinitions(body: string): string[] {
  // As the profiler writes nearly all of them. A quote that holds two dashes is still there when comments are gone.
  const plain = body.replace(LINE_COMMENT, '');
  if (!/["'`(/]/.test(plain)) {
    const [definitions] = plain.split(')', 1);
    const parts = definitions.split(',');
    return parts.at(-1)!.trim() === '' ? parts.slice(0, -1) : parts;
  }
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  for (const [piece] of body.matchAll(PIECE)) {
    if (piece === '/*' || piece === '"' || piece === "'" || piece === '`') break;
    if (piece.startsWith('--') || piece.startsWith('/*')) continue;
    if (piece === '(') depth++;
    if (piece === ')' && depth-- === 0) break;
    if (piece === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += piece;
  }
  if (part.trim() !== '') parts.push(part);
  return parts;
}
