/**
 * Copies an nsys export row by row into a new file. Only what a row holds can get into the copy, so free pages, gaps
 * between cells and the rest of overflow pages, where deleted rows live on, need no care of their own.
 */
import { readVarint } from '../base/sqlite/btree.js';
import { SqliteDatabase } from '../base/sqlite/database.js';
import type { SqlitePages } from '../base/sqlite/pages.js';
import { plainCreateTable } from '../base/sqlite/plain-create-table.js';
import { RecordEditor, schemaRecord } from '../base/sqlite/record.js';
import { parseCreateTable } from '../base/sqlite/schema-entry.js';
import { damage, walkIndex, walkTable } from '../base/sqlite/walk-rows.js';
import { IndexWriter } from '../base/sqlite/write-index.js';
import { FILE_HEADER, PageWriter, putU32 } from '../base/sqlite/write-page.js';
import { TableWriter } from '../base/sqlite/write-table.js';
import { UserError } from '../base/user-error.js';
import { signatureTables } from '../import/nsys-sqlite/sources.js';
import type { ProfileFile } from '../import/profile-file.js';
import { isKnownTable } from './allowed-export.js';
import { gatherFacts } from './nsys-facts.js';
import { NsysRules } from './nsys-rules.js';
import type { PageSink } from './output-file.js';
import type { Removals } from './removals.js';

export interface RedactSettings {
  readonly hashRanges: boolean;
  readonly removals: Removals;
  readonly onProgress: (done: number) => void;
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly root: number;
  readonly sql: string | undefined;
}

export async function redactNsys(file: ProfileFile, out: PageSink, settings: RedactSettings): Promise<void> {
  // Unpacking, looking, copying: what each takes of the time, roughly.
  const look = file.packed ? 0.3 : 0;
  const copying = look + (1 - look) * 0.3;
  settings.onProgress(0);
  const source = await file.randomAccess(done => settings.onProgress(done * look));
  if (file.unpackingFailed) throw damage();
  const database = new SqliteDatabase(source);
  const { pages } = database;
  if (pages.claimedPageCount > pages.pageCount || database.damagedPages > 0) throw damage();
  if (!signatureTables.some(table => database.tables.has(table))) {
    throw new UserError(
      'not-a-profile',
      `${file.name} is an SQLite database, but not an Nsight Systems export.`,
      'Create one with: nsys export --type sqlite REPORT.nsys-rep',
    );
  }
  const facts = gatherFacts(database, done => settings.onProgress(look + done * (copying - look)));
  if (database.damagedPages > 0 || database.damagedRows > 0) throw damage();
  const rules = new NsysRules(facts, settings.removals, settings.hashRanges);
  const copy = new DatabaseCopy(pages, out, settings, copying);
  for (const row of copy.schema) copy.add(row, rules);
  copy.finish(source);
}

class DatabaseCopy {
  readonly schema: readonly SchemaRow[];
  private readonly claimed: Uint8Array;
  private readonly writer: PageWriter;
  private readonly editor = new RecordEditor();
  private readonly written: Uint8Array[] = [];
  private readonly indexes = new Map<string, number>();
  private pagesDone = 0;

  constructor(
    private readonly pages: SqlitePages,
    private readonly out: PageSink,
    private readonly settings: RedactSettings,
    private readonly progressFrom: number,
  ) {
    this.claimed = new Uint8Array(pages.pageCount + 1);
    this.writer = new PageWriter(pages.pageSize, pages.usableSize, page => out.append(page));
    this.schema = this.readSchema();
  }

  private readSchema(): SchemaRow[] {
    const rows: SchemaRow[] = [];
    walkTable(this.pages, 1, this.claimed, row => {
      this.editor.read(row.bytes, row.from, row.to);
      const text = (column: number) => this.editor.text(column);
      rows.push({
        type: text(0),
        name: text(1),
        table: text(2),
        root: this.editor.number(3),
        sql: this.editor.isText(4) ? text(4) : undefined,
      });
    });
    return rows;
  }

  add(row: SchemaRow, rules: NsysRules): void {
    const isTable = row.type === 'table' && row.sql !== undefined && row.root > 0;
    // Indexes that a table's own constraints ask for have no statement, and SQLite wants them to be there.
    const isOwnIndex = row.type === 'index' && row.sql === undefined && row.root > 0;
    if (!isTable && !isOwnIndex) {
      this.settings.removals.add('schema', row.type);
      return;
    }
    if (!isKnownTable(row.table)) {
      if (isTable && !/^sqlite_stat/.test(row.name)) this.settings.removals.add('table', row.type);
      return;
    }
    const root =
      isTable && !/WITHOUT\s+ROWID\b/i.test(row.sql!.slice(row.sql!.lastIndexOf(')')))
        ? this.copyTable(row, rules)
        : this.copyIndex(row);
    const name = isTable ? row.name : `sqlite_autoindex_${row.table}_${this.indexNumber(row.table)}`;
    const sql = isTable ? plainCreateTable(row.name, row.sql!) : undefined;
    this.written.push(schemaRecord(row.type, name, row.table, root, sql));
  }

  /** SQLite numbers a table's own indexes in the order of its constraints. */
  private indexNumber(table: string): number {
    const number = (this.indexes.get(table) ?? 0) + 1;
    this.indexes.set(table, number);
    return number;
  }

  private copyTable({ name, sql, root }: SchemaRow, rules: NsysRules): number {
    const { editor } = this;
    const { removals } = this.settings;
    const rule = rules.ruleFor(name, parseCreateTable(sql!).columns);
    const table = new TableWriter(this.writer);
    walkTable(
      this.pages,
      root,
      this.claimed,
      row => {
        editor.read(row.bytes, row.from, row.to);
        if (editor.end < row.to) removals.add('binary', name);
        if (editor.hasText) rule(editor, row.rowId);
        if (editor.changed) {
          const record = editor.build();
          table.add(row.id, row.idLength, record, 0, record.length);
        } else table.add(row.id, row.idLength, row.bytes, row.from, editor.end);
      },
      () => this.progress(),
    );
    return table.finish().root;
  }

  /** Numbers stay in order. Text would not once it is changed, and where it must be unique it may not be any more. */
  private copyIndex({ table, root }: SchemaRow): number {
    let total = 0;
    let longest = 0;
    walkIndex(this.pages, root, new Uint8Array(this.claimed.length), (bytes, from, to) => {
      total++;
      longest = Math.max(longest, to - from);
      this.editor.read(bytes, from, to);
      if (this.editor.hasText) throw uniqueText(table);
    });
    const index = new IndexWriter(this.writer, total, longest);
    walkIndex(this.pages, root, this.claimed, (bytes, from, to) => index.add(bytes, from, to));
    return index.finish();
  }

  finish(source: { read(into: Uint8Array, position: number): number }): void {
    const table = new TableWriter(this.writer, true);
    this.written.forEach((record, i) => {
      const id = rowIdBytes(i + 1);
      table.add(id, id.length, record, 0, record.length);
    });
    const { firstPage } = table.finish();
    const header = new Uint8Array(FILE_HEADER);
    source.read(header, 0);
    // A plain file, not one whose newest pages are in a log beside it; no free pages, no map of pages.
    header[18] = 1;
    header[19] = 1;
    putU32(header, 28, this.writer.pageCount);
    header.fill(0, 32, 40);
    header.fill(0, 52, 56);
    header.fill(0, 64, 68);
    header.fill(0, 72, 92);
    // The count of pages is good for this version of the content.
    header.copyWithin(92, 24, 28);
    firstPage!.set(header);
    this.out.putFirst(firstPage!);
  }

  private progress(): void {
    const share = Math.min(1, ++this.pagesDone / this.pages.pageCount);
    this.settings.onProgress(this.progressFrom + share * (1 - this.progressFrom));
  }
}

/** A small number as SQLite writes row ids. */
function rowIdBytes(id: number): Uint8Array {
  const bytes = id < 128 ? [id] : [(id >> 7) | 0x80, id & 0x7f];
  if (id >= 16384 || readVarint(Uint8Array.from(bytes), 0) !== id) throw damage();
  return Uint8Array.from(bytes);
}

function uniqueText(table: string): UserError {
  return new UserError(
    'damaged',
    `Table ${table} requires unique or sorted text, which redaction cannot preserve.`,
    'No Nsight Systems export does this: export the report again (nsys export --type sqlite REPORT.nsys-rep).',
  );
}
