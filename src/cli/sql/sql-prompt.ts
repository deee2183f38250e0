/** Questions one after another: a prompt with completion of tables and columns, and a history of the user's own. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { UserError } from '../../base/user-error.js';
import { ownCacheFolder } from '../../disk/cache-folder.js';
import { writeWhole } from '../../disk/write-whole.js';
import type { SqlSession } from '../../sql/sql-session.js';
import type { SqlTable } from '../../sql/sql-table.js';
import type { Output } from '../output.js';

const KEYWORDS = [
  'SELECT',
  'FROM',
  'WHERE',
  'GROUP BY',
  'ORDER BY',
  'LIMIT',
  'JOIN',
  'USING',
  'sum(',
  'count(*)',
  'avg(',
];
const COMMANDS = ['.tables', '.schema', '.help', '.quit'];
const KEPT_LINES = 500;
const HELP = `End a question with ; or an empty line. Tab completes.
  .tables         list the tables
  .schema TABLE   list its columns
  .quit           leave (also Ctrl-D)
`;

/** What may stand at the end of a line. Columns of tables that are named come first. */
export function completions(tables: readonly SqlTable[], line: string): [string[], string] {
  const begun = /[.\w]*$/.exec(line)?.[0] ?? '';
  if (begun.startsWith('.') && line.trim() === begun)
    return [COMMANDS.filter(command => command.startsWith(begun)), begun];
  const isNamed = ({ name, aliases = [] }: SqlTable) =>
    [name, ...aliases].some(own => new RegExp(`\\b${own}\\b`, 'i').test(line));
  const named = tables.filter(isNamed);
  const words = [
    ...(named.length > 0 ? named : []).flatMap(({ columns }) => columns.map(({ name }) => name)),
    ...tables.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    ...KEYWORDS,
  ];
  const own = begun.toLowerCase();
  return [[...new Set(words)].filter(word => word.toLowerCase().startsWith(own)), begun];
}

function historyFile(): string | undefined {
  const folder = ownCacheFolder('sql');
  return folder === undefined ? undefined : path.join(folder, 'history');
}

const readHistory = (file: string | undefined): string[] =>
  file !== undefined && fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

/** `show` prints an answer; Ctrl-C stops the question under way, or clears the line. */
export async function promptSql(
  session: SqlSession,
  output: Output,
  show: (sql: string) => Promise<void>,
): Promise<void> {
  const file = historyFile();
  const lines = createInterface({
    ...{
      input: process.stdin,
      output: process.stdout,
      historySize: KEPT_LINES,
      removeHistoryDuplicates: true,
    },
    history: readHistory(file),
    completer: (line: string) => completions(session.tables, line),
    prompt: 'stepscope> ',
  });
  lines.on('history', (history: string[]) => {
    if (file !== undefined) writeWhole(file, `${history.slice(0, KEPT_LINES).join('\n')}\n`, { mode: 0o600 });
  });
  lines.on('SIGINT', () => {
    session.interrupt();
    question = '';
    output.out('\n');
    lines.prompt();
  });
  let question = '';
  lines.prompt();
  for await (const line of lines) {
    const text = line.trim();
    if (question === '' && text.startsWith('.')) {
      if (text === '.quit' || text === '.exit') break;
      output.out(commandAnswer(session.tables, text));
    } else {
      question += `${line}\n`;
      if (text === '' || text.endsWith(';')) {
        const asked = question.trim();
        question = '';
        if (asked !== '') await answered(asked, show, output);
      }
    }
    lines.prompt();
  }
  lines.close();
}

async function answered(sql: string, show: (sql: string) => Promise<void>, output: Output): Promise<void> {
  try {
    await show(sql);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    output.err(`${error.message}\n${error.hint}\n`);
  }
}

function commandAnswer(tables: readonly SqlTable[], text: string): string {
  const [command, name] = text.split(/\s+/);
  if (command === '.tables')
    return tables.map(({ name: own, about }) => `${own.padEnd(20)}  ${about}\n`).join('');
  if (command !== '.schema') return HELP;
  const table = tables.find(own => own.name === name || own.aliases?.includes(name));
  if (!table) return `There is no table ${name ?? ''}. .tables lists them.\n`;
  return table.columns
    .map(column => `${column.name.padEnd(24)} ${column.type.padEnd(7)} ${column.about}\n`)
    .join('');
}
