/**
 * Nsight Systems SQLite exports (`nsys export --type sqlite`), schema versions from 2020 to 2026.
 * Read by decoding the file's pages, not through an SQL engine: several times faster, and memory does not grow with
 * the file but with what is kept.
 */
import { SqliteDatabase } from '../../base/sqlite/database.js';
import type { DecodeLosses } from '../../base/sqlite/decode-plan.js';
import { SQLITE_MAGIC } from '../../base/sqlite/pages.js';
import { UserError } from '../../base/user-error.js';
import { fileFormats } from '../../catalog/file-formats.js';
import { ProfileBuilder } from '../../model/builder.js';
import type { Profile } from '../../model/profile.js';
import { type TableName, tableNames } from '../../model/schema.js';
import { breather } from '../breathe.js';
import type { ImportContext, Importer } from '../importer.js';
import type { ProfileFile } from '../profile-file.js';
import { GpuMetricsReader } from './gpu-metrics.js';
import { MemoryUsageReader } from './memory-usage.js';
import { Metadata } from './metadata.js';
import { NvtxReader } from './nvtx.js';
import { Owners } from './owners.js';
import { decodeAll, startDecoders } from './parallel-decode.js';
import { signatureTables, sourcesOf } from './sources.js';
import { Stacks, stackTables } from './stack-sources.js';
import { StringIds } from './string-ids.js';
import { type TableImport, TableReader } from './table-reader.js';

const WARNING = 2;
const ERROR = 3;

/** Tables whose rows need more than a column-by-column copy. */
const specialReaders: Partial<
  Record<
    TableName,
    { table: string; Reader: new (database: SqliteDatabase, builder: ProfileBuilder) => TableImport }
  >
> = {
  ranges: { table: 'NVTX_EVENTS', Reader: NvtxReader },
  metricSamples: { table: 'GPU_METRICS', Reader: GpuMetricsReader },
  memoryEvents: { table: 'CUDA_GPU_MEMORY_USAGE_EVENTS', Reader: MemoryUsageReader },
};

export const nsysSqlite: Importer = {
  ...fileFormats.nsysSqlite,

  recognizes(head) {
    return [...SQLITE_MAGIC].every((c, i) => head[i] === c.charCodeAt(0));
  },

  async import(file: ProfileFile, context: ImportContext): Promise<Profile> {
    try {
      return await importExport(file, context);
    } catch (error) {
      // The engine's way to say that there is no memory for a column, or that a map is full.
      if (
        !(error instanceof RangeError) ||
        !/allocation failed|maximum size|Invalid .*length/.test(error.message)
      )
        throw error;
      throw new UserError(
        'too-large',
        `${file.name} needs more memory than is available (${error.message}).`,
        'Open it on a machine with more memory, or capture a shorter time range. A small file is damaged: export it again.',
      );
    }
  },
};

async function importExport(file: ProfileFile, context: ImportContext): Promise<Profile> {
  // Unpacking is the first half of the work for a packed file.
  const half = file.packed ? 0.5 : 0;
  const progress = (done: number) => context.onProgress?.(half + done * (1 - half));
  const source = await file.randomAccess(done => context.onProgress?.(done * half));
  const started = startDecoders(source.size, context.workers);
  try {
    return await importFrom(source, file, context, started, progress);
  } finally {
    for (const unused of started) void unused.terminate();
  }
}

async function importFrom(
  source: Awaited<ReturnType<ProfileFile['randomAccess']>>,
  file: ProfileFile,
  context: ImportContext,
  started: ReturnType<typeof startDecoders>,
  progress: (done: number) => void,
): Promise<Profile> {
  const database = new SqliteDatabase(source);
  if (!signatureTables.some(table => database.tables.has(table))) throw notAnExport(file, database);
  const builder = new ProfileBuilder();
  const owners = new Owners(builder);
  const strings = new StringIds(database, builder.strings);
  const readers = makeReaders(database, builder, context);
  const breathe = breather();
  const losses = await decodeAll(
    database.pages,
    source.fd,
    readers.map(reader => reader.job),
    { workers: context.workers, started },
    progress,
  );
  const stacks = new Stacks(database, builder, context);
  const lostStacks = stacks.read(strings);
  // Each reader is let go once finished: its working arrays are as large as the table's own columns.
  for (let i = 0; readers.length > 0; i++) {
    const reader = readers.shift()!;
    reader.finish(losses[i], strings, owners, stacks);
    await breathe();
  }
  stacks.finish(owners);

  const metadata = new Metadata(database, strings, builder);
  metadata.addIdleGpus();
  metadata.describeOwners(owners);
  metadata.setClock();
  const capture = metadata.capture(file, context.tables ? {} : countRows(database));
  noteDiagnostics(builder, database);
  noteHiddenKernels(builder, database);
  builder.damaged = damagedTables(database, context);
  // Last, when every table has been looked at.
  noteDamage(builder, file, database, strings, [...losses, ...lostStacks]);
  return builder.build(capture);
}

function notAnExport(file: ProfileFile, database: SqliteDatabase): UserError {
  if (database.damagedPages + database.damagedRows + database.damagedEntries > 0) {
    return new UserError(
      'damaged',
      `${file.name} is an SQLite database with a damaged table list.`,
      'It may be truncated: compare its size with the original, or export the report again.',
    );
  }
  return new UserError(
    'not-a-profile',
    `${file.name} is an SQLite database, but not an Nsight Systems export.`,
    'Create one with: nsys export --type sqlite REPORT.nsys-rep',
  );
}

function makeReaders(
  database: SqliteDatabase,
  builder: ProfileBuilder,
  context: ImportContext,
): TableImport[] {
  const readers: TableImport[] = [];
  for (const name of tableNames) {
    const plain = sourcesOf(name, database.tables.keys()).filter(source => database.tables.has(source.table));
    const special = specialReaders[name];
    const hasSpecial = special !== undefined && database.tables.has(special.table);
    const hasStacks = name === 'stackFrames' && stackTables.some(table => database.tables.has(table));
    if (plain.length === 0 && !hasSpecial && !hasStacks) continue;
    if (context.tables && !context.tables.has(name)) {
      builder.skipped.push(name);
      continue;
    }
    for (const source of plain) {
      readers.push(new TableReader(database, name, source, builder, context.tables?.get(name)));
    }
    if (hasSpecial) readers.push(new special.Reader(database, builder));
  }
  return readers;
}

/** Tables of which nothing is left because of damage: their root cannot be read, or no sound entry names them. */
function damagedTables(database: SqliteDatabase, context: ImportContext): TableName[] {
  const isGone = (table: string) => {
    const known = database.tables.get(table);
    if (!known) return database.damagedEntries > 0;
    const { rows, damagedPages } = database.leaves(known);
    return rows === 0 && damagedPages > 0;
  };
  return tableNames.filter(name => {
    if (context.tables && !context.tables.has(name)) return false;
    const special = specialReaders[name];
    const sources = sourcesOf(name, database.tables.keys()).map(source => source.table);
    const others = name === 'stackFrames' ? stackTables : special ? [special.table] : [];
    const tables = [...sources, ...others];
    return tables.some(isGone);
  });
}

function noteDamage(
  builder: ProfileBuilder,
  file: ProfileFile,
  database: SqliteDatabase,
  strings: StringIds,
  losses: readonly DecodeLosses[],
): void {
  const { pages } = database;
  if (file.unpackingFailed) {
    const text =
      'the compressed file is truncated or damaged; all numbers are incomplete and some may be wrong';
    builder.notes.add('damaged-archive', 'loss', text, file.unpackingFailed);
  }
  const missing = pages.claimedPageCount - pages.pageCount;
  if (missing > 0) {
    const text = 'pages are missing at the end of the truncated file; all numbers are incomplete';
    builder.notes.add(
      'cut-off',
      'loss',
      text,
      `${pages.pageCount} of ${pages.claimedPageCount} pages are present`,
      missing,
    );
  }
  if (database.damagedEntries > 0) {
    const text = 'entries of the table list are damaged; their contents are missing from all numbers';
    builder.notes.add('damaged-tables', 'loss', text, '', database.damagedEntries);
  }
  if (database.damagedPages > 0) {
    const text = 'database pages could not be read; their rows are lost and all numbers are incomplete';
    builder.notes.add('damaged-pages', 'loss', text, '', database.damagedPages);
  }
  const odd = losses.reduce((sum, loss) => sum + loss.oddPages, strings.oddPages + database.oddPages);
  if (odd > 0) {
    const text = 'database pages do not match their rows; rows are missing and all numbers are incomplete';
    builder.notes.add('odd-pages', 'loss', text, '', odd);
  }
  const rows = losses.reduce(
    (sum, { badRows }) => sum + badRows.length,
    strings.badRows + database.damagedRows,
  );
  if (rows > 0)
    builder.notes.add('damaged-rows', 'loss', 'rows could not be decoded and were left out', '', rows);
  const misfits = losses.reduce((sum, loss) => sum + loss.misfits, 0);
  if (misfits > 0) {
    const text =
      'values are invalid for their column (for example, text instead of a number, or more than 32 bits) and count as not recorded';
    builder.notes.add('not-numbers', 'loss', text, '', misfits);
  }
}

/** Said whatever was asked for: numbers over kernels are not what they seem when replays are blocks. */
function noteHiddenKernels(builder: ProfileBuilder, database: SqliteDatabase): void {
  const table = database.tables.get('CUPTI_ACTIVITY_KIND_GRAPH_TRACE');
  const replays = table ? database.leaves(table).rows : 0;
  if (replays === 0) return;
  const text =
    'CUDA graph replays were recorded as single blocks: no number here includes their kernels (capture with --cuda-graph-trace=node)';
  builder.notes.add('graph-blocks', 'loss', text, '', replays);
}

/** Warnings and errors the profiler wrote about its own run: dropped buffers, missing rights, late start. */
function noteDiagnostics(builder: ProfileBuilder, database: SqliteDatabase): void {
  const table = database.tables.get('DIAGNOSTIC_EVENT');
  for (const row of table ? database.smallRows(table, 10_000) : []) {
    const lost = /dropped|lost|overflow|insufficient|incomplete/i.test(String(row.text));
    if (row.severity !== WARNING && row.severity !== ERROR) continue;
    if (/^Errors? (?:occurred )?(?:when|while) processing/.test(String(row.text)))
      builder.notes.add(
        'profiler-failed',
        'loss',
        'errors of the profiler when it processed what it had recorded',
        String(row.text),
      );
    else if (lost)
      builder.notes.add(
        'profiler-lost-data',
        'loss',
        'reports by the profiler of lost data',
        String(row.text),
      );
    else
      builder.notes.add(
        'profiler-warning',
        'warning',
        'warnings by the profiler about its own operation',
        String(row.text),
      );
  }
}

/** Rows per table of the file, those that are not modelled included. */
function countRows(database: SqliteDatabase): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, table] of database.tables) {
    if (name.startsWith('ENUM_') || name.startsWith('sqlite_')) continue;
    const { rows } = database.leaves(table);
    if (rows > 0) counts[name] = rows;
  }
  return counts;
}
