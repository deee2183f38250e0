/** A CREATE TABLE statement with what the file format needs (names, types, keys) and without all else it may say. */
import { splitDefinitions } from './schema-entry.js';
import { damage } from './walk-rows.js';

const COLUMN = /^\s*(?:"(\w+)"|`(\w+)`|\[(\w+)\]|(\w+))\s*([\s\S]*)$/;
const TABLE_KEY = /^\s*(?:CONSTRAINT\s+\S+\s+)?(PRIMARY\s+KEY|UNIQUE)\s*\(([^()]*)\)/i;
const OTHER_CONSTRAINT = /^\s*(?:CHECK|FOREIGN|CONSTRAINT)\b/i;
const KEY_COLUMN = /^\s*["`[]?(\w+)["`\]]?(\s+(?:ASC|DESC))?\s*$/i;

export function plainCreateTable(table: string, sql: string): string {
  const open = sql.indexOf('(');
  if (open < 0) throw damage();
  const parts = splitDefinitions(sql.slice(open + 1)).map(definition => {
    const key = TABLE_KEY.exec(definition);
    if (key) return `${key[1].toUpperCase()} (${key[2].split(',').map(keyColumn).join(', ')})`;
    return OTHER_CONSTRAINT.test(definition) ? '' : plainColumn(definition);
  });
  const withoutRowId = /WITHOUT\s+ROWID\b/i.test(sql.slice(sql.lastIndexOf(')'))) ? ' WITHOUT ROWID' : '';
  return `CREATE TABLE ${table} (${parts.filter(Boolean).join(', ')})${withoutRowId}`;
}

function plainColumn(definition: string): string {
  const match = COLUMN.exec(definition);
  // A name in other signs than letters is none of NVIDIA's.
  if (!match) throw damage();
  const name = match[1] ?? match[2] ?? match[3] ?? match[4];
  const rest = match[5].replace(/'(?:[^']|'')*'|"[^"]*"/g, '');
  const type = /^(INTEGER|INT|TEXT|REAL|BLOB|NUMERIC)\b/i.exec(rest)?.[1].toUpperCase();
  const key = /\bPRIMARY\s+KEY(\s+DESC)?\b/i.exec(rest);
  return [
    `"${name}"`,
    type,
    /\bNOT\s+NULL\b/i.test(rest) ? 'NOT NULL' : '',
    key ? `PRIMARY KEY${key[1] ? ' DESC' : ''}` : '',
    /\bUNIQUE\b/i.test(rest) ? 'UNIQUE' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function keyColumn(text: string): string {
  const match = KEY_COLUMN.exec(text);
  if (!match) throw damage();
  return `"${match[1]}"${match[2]?.toUpperCase() ?? ''}`;
}
