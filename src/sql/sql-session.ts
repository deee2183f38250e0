/**
 * Questions in SQL about one source. Tables are loaded when a question names them; then the database is closed to files,
 * other databases and changes of its settings, and only questions are answered. Rows, bytes and time are bounded.
 */
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { NotRecorded } from '../analyze/analysis.js';
import { UserError } from '../base/user-error.js';
import { type DuckDb, inMemory, loadDuckDb } from '../disk/open-duckdb.js';
import { TableLoader } from './load-table.js';
import type { SqlColumn, SqlTable, TableContent } from './sql-table.js';

/** What a question may take. More rows are left out and counted as such; more time or memory is an error. */
interface SqlBounds {
  readonly rows: number;
  readonly bytes: number;
  readonly timeMs: number;
}

export interface SqlAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly SqlValue[])[];
  /** false: there are more rows, which the bounds left out. */
  readonly complete: boolean;
}

export type SqlValue =
  | string
  | number
  | boolean
  | null
  | readonly SqlValue[]
  | { readonly [name: string]: SqlValue };

/** Where tables come from: a profile or a lake. */
export interface SqlSource {
  readonly tables: readonly SqlTable[];
  /** Called with tables that are about to be loaded, before `content`. */
  prepare(tables: readonly SqlTable[]): Promise<void>;
  content(table: SqlTable): TableContent | Promise<TableContent>;
}

const MEMORY = '2GB';
/** Tables above this many rows are loaded with the columns that the question names. */
const LARGE_ROWS = 200_000;

export class SqlSession {
  /** Columns that are loaded, by table. */
  private readonly loaded = new Map<string, ReadonlySet<string>>();
  private readonly missing = new Map<string, NotRecorded>();
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly source: SqlSource,
    private readonly duckdb: DuckDb,
    private readonly connection: DuckDBConnection,
  ) {}

  static async open(source: SqlSource, memory = MEMORY): Promise<SqlSession> {
    const duckdb = await loadDuckDb();
    // One thread: the order of rows and of sums is the same every time.
    const database = await duckdb.DuckDBInstance.create(':memory:', { ...inMemory(memory), threads: '1' });
    const connection = await database.connect();
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
    return new SqlSession(source, duckdb, connection);
  }

  get tables(): readonly SqlTable[] {
    return this.source.tables;
  }

  /** One at a time, in the order they were asked. */
  query(sql: string, bounds: SqlBounds): Promise<SqlAnswer> {
    const answer = this.turn.then(() => this.ask(sql, bounds));
    this.turn = answer.catch(() => undefined);
    return answer;
  }

  /** Stops the question under way. */
  interrupt(): void {
    this.connection.interrupt();
  }

  close(): void {
    this.connection.closeSync();
  }

  private async ask(sql: string, bounds: SqlBounds): Promise<SqlAnswer> {
    // DuckDB has no words for a question without any.
    if (sql.trim() === '') throw notOne(0);
    const statements = await this.connection.extractStatements(sql).catch(error => {
      throw mistake(error as Error);
    });
    if (statements.count !== 1) throw notOne(statements.count);
    await this.loadNamed(sql);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.connection.interrupt();
    }, bounds.timeMs);
    try {
      const prepared = await statements.prepare(0);
      const { SELECT, EXPLAIN } = this.duckdb.StatementType;
      if (prepared.statementType !== SELECT && prepared.statementType !== EXPLAIN)
        throw new UserError(
          'usage',
          'Only questions are answered: SELECT, WITH, FROM, DESCRIBE, SHOW and EXPLAIN.',
          'The data of a profile cannot be changed, and no files can be read or written.',
        );
      return await this.read(await prepared.stream(), bounds);
    } catch (error) {
      if (isLate)
        throw new UserError(
          'too-large',
          `The question took longer than ${bounds.timeMs / 1000} s and was stopped.`,
          'Ask for less, or give more time (--timeout).',
        );
      throw error instanceof UserError ? error : this.explained(error as Error);
    } finally {
      clearTimeout(timer);
    }
  }

  private async read(
    result: Awaited<ReturnType<Awaited<ReturnType<DuckDBConnection['prepare']>>['stream']>>,
    { rows: most, bytes: mostBytes }: SqlBounds,
  ): Promise<SqlAnswer> {
    const types = result.columnTypes();
    const columns = result.columnNames().map((name, c) => ({ name, type: String(types[c]) }));
    const rows: SqlValue[][] = [];
    let bytes = 0;
    for (;;) {
      const chunk = await result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) return { columns, rows, complete: true };
      for (const values of chunk.getRows()) {
        const row = values.map(plain);
        bytes += JSON.stringify(row).length;
        if (rows.length >= most || bytes > mostBytes) return { columns, rows, complete: false };
        rows.push(row);
      }
    }
  }

  /** Loads what the question may mean: a word in it that is the name of a table. */
  private async loadNamed(sql: string): Promise<void> {
    const words = new Set(sql.toLowerCase().match(/[a-z_][a-z_0-9]*/g) ?? []);
    const isNamed = ({ name, aliases = [] }: SqlTable) => [name, ...aliases].some(own => words.has(own));
    const wanted = this.source.tables.filter(
      table => isNamed(table) && !this.missing.has(table.name) && !this.has(table, sql, words),
    );
    if (wanted.length === 0) return;
    await this.source.prepare(wanted);
    const loader = new TableLoader(this.duckdb, this.connection);
    for (const table of wanted) {
      try {
        const content = await this.source.content(table);
        const columns = content.rows > LARGE_ROWS ? columnsNamed(table, sql, words) : table.columns;
        await loader.load(table, content, columns);
        this.loaded.set(table.name, new Set(columns.map(({ name }) => name)));
      } catch (error) {
        if (!(error instanceof NotRecorded)) throw error;
        this.missing.set(table.name, error);
      }
    }
  }

  private has(table: SqlTable, sql: string, words: ReadonlySet<string>): boolean {
    const known = this.loaded.get(table.name);
    return known !== undefined && columnsNamed(table, sql, words).every(({ name }) => known.has(name));
  }

  /** A table that is not there may be one that was not recorded: that is another answer than an empty one. */
  private explained(error: Error): UserError {
    const name = /Table with name "?([a-z_0-9]+)"? does not exist/i.exec(error.message)?.[1]?.toLowerCase();
    const table = this.source.tables.find(own => own.name === name || own.aliases?.includes(name ?? ''));
    const missing = table && this.missing.get(table.name);
    if (missing)
      return new UserError(
        missing.damaged ? 'damaged' : 'not-recorded',
        `${name}: ${missing.damaged ? 'damaged' : 'not recorded'}: ${missing.what}.`,
        missing.damaged ? missing.hint : `To record it: ${missing.hint}`,
      );
    return mistake(error);
  }
}

/** Columns that are named, or all where the question may mean all. */
function columnsNamed({ columns }: SqlTable, sql: string, words: ReadonlySet<string>): readonly SqlColumn[] {
  const isOpen = !words.has('select') || /\*|\bcolumns\s*\(/i.test(sql.replace(/count\s*\(\s*\*\s*\)/gi, ''));
  const isAbout = /^\s*(describe|show|pragma|summarize)\b/i.test(sql);
  if (isOpen || isAbout) return columns;
  const named = columns.filter(({ name }) => words.has(name.toLowerCase()));
  return named.length > 0 ? named : columns.slice(0, 1);
}

const notOne = (count: number): UserError =>
  new UserError(
    'usage',
    count === 0 ? 'No SQL was given.' : `${count} statements were given.`,
    'Ask one question at a time, for example: SELECT count(*) FROM kernels',
  );

/** As JSON has it; whole numbers beyond 2^53 are text. */
function plain(value: DuckDBValue): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  const { entries, items } = value as { entries?: unknown; items?: readonly DuckDBValue[] };
  if (Array.isArray(entries))
    return Object.fromEntries(
      entries.map(({ key, value: own }: { key: DuckDBValue; value: DuckDBValue }) => [
        String(key),
        plain(own),
      ]),
    );
  if (Array.isArray(items)) return items.map(plain);
  if (entries !== null && typeof entries === 'object')
    return Object.fromEntries(
      Object.entries(entries as Record<string, DuckDBValue>).map(([name, own]) => [name, plain(own)]),
    );
  return String(value);
}

/** What DuckDB found wrong, in two lines. */
function mistake({ message }: Error): UserError {
  const [first, ...others] = message.split('\n').filter(line => line.trim() !== '');
  if (/^(Permission|Invalid Input) Error.*(disabled|locked)/.test(first))
    return new UserError(
      'usage',
      'SQL here reads no files, attaches nothing and changes no settings.',
      'Give the files on the command line: stepscope sql "SELECT …" FILE…',
    );
  if (/^Out of Memory Error/.test(first))
    return new UserError(
      'too-large',
      'The question needs more memory than it may have.',
      'Ask for less: fewer rows, or sums.',
    );
  const hint = others.find(line => /did you mean|candidate/i.test(line))?.trim();
  return new UserError('usage', first, hint ?? 'stepscope sql --tables lists the tables and columns.');
}
