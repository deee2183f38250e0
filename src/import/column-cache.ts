/**
 * Decoded columns of large files, kept for the next question about the same content: in the user's cache folder, for the
 * user alone, bounded, and only if decoding took a while. An entry is named by the content of the file (sampled, with size
 * and time of the last change), what was asked of it, and the version that decoded it, so that it holds exactly what the
 * importer would give. `--no-cache` or STEPSCOPE_NO_CACHE leaves it out.
 *
 *   magic · length of the header · header (serialized by V8) · columns, each at a multiple of eight bytes
 */
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { type AnyArray, allocate, type Storage, storageOf } from '../base/column.js';
import { StringTable } from '../base/string-table.js';
import { ownCacheFolder } from '../disk/cache-folder.js';
import { hashInput } from '../disk/content-hash.js';
import type { Profile } from '../model/profile.js';
import { columnsOf, type TableName, tableNames } from '../model/schema.js';
import type { ImportContext, Importer } from './importer.js';
import type { ProfileFile } from './profile-file.js';

/** Smaller files are decoded as fast as their columns are read. */
const usual = { bytes: 16e6, ms: 200 };
const MOST_ENTRY_BYTES = 2e9;
const KEEP_FILES = 64;
const KEEP_BYTES = 8e9;
const MAGIC = 'stepscope columns 2\n';
const ENDING = '.columns';
const ABANDONED_MS = 3600_000;

interface Piece {
  readonly table: string;
  readonly column: string;
  readonly storage: Storage;
  readonly length: number;
}

interface Header {
  readonly key: string;
  readonly rest: Omit<Profile, 'tables' | 'strings'>;
  readonly lengths: Readonly<Record<string, number>>;
  readonly pieces: readonly Piece[];
}

const aligned = (bytes: number) => Math.ceil(bytes / 8) * 8;

/** What `read` gives, from the cache where it holds the same. */
export async function throughColumnCache(
  file: ProfileFile,
  importer: Importer,
  context: ImportContext,
  read: () => Promise<Profile>,
  least = usual,
): Promise<Profile> {
  const folder = isWorthIt(file, importer, context, least.bytes) ? ownCacheFolder('columns') : undefined;
  if (folder === undefined) return read();
  const key = keyOf(file, importer, context);
  const entry = path.join(folder, `${createHash('sha256').update(key).digest('hex').slice(0, 40)}${ENDING}`);
  const known = readEntry(entry, key);
  if (known) return known;
  const begun = performance.now();
  const profile = await read();
  // Written while the question is answered; a full disk or another process is no reason to fail.
  if (performance.now() - begun >= least.ms)
    void writeEntry(folder, entry, key, profile).catch(() => undefined);
  return profile;
}

function isWorthIt(
  file: ProfileFile,
  { id }: Importer,
  { cache }: ImportContext,
  leastBytes: number,
): boolean {
  return (
    cache !== undefined &&
    process.env.STEPSCOPE_NO_CACHE === undefined &&
    file.sizeBytes >= leastBytes &&
    keptFormats.includes(id)
  );
}

/** Formats that are read from one file alone, whatever else this machine has. */
const keptFormats = ['nsys-sqlite', 'kineto-json', 'perfetto'];

function keyOf(
  { path: place, name }: ProfileFile,
  { id }: Importer,
  { cache, tables }: ImportContext,
): string {
  const { hash, bytes } = hashInput(place);
  const wanted =
    tables && [...tables].map(([table, columns]) => `${table}:${[...new Set(columns)].sort()}`).sort();
  return JSON.stringify([cache, id, name, hash, bytes, fs.statSync(place).mtimeMs, wanted ?? null]);
}

function readEntry(entry: string, key: string): Profile | undefined {
  let fd: number;
  try {
    fd = fs.openSync(entry, 'r');
  } catch {
    return undefined;
  }
  try {
    const { size } = fs.fstatSync(fd);
    const start = new Uint8Array(MAGIC.length + 4);
    if (fs.readSync(fd, start) < start.length || !Buffer.from(start).toString('latin1').startsWith(MAGIC))
      return undefined;
    const headerBytes = new DataView(start.buffer).getUint32(MAGIC.length, true);
    const header = Buffer.alloc(headerBytes);
    fs.readSync(fd, header);
    const { rest, lengths, pieces, ...own } = deserialize(header) as Header;
    if (own.key !== key) return undefined;
    let position = aligned(start.length + headerBytes);
    const columns = new Map<string, AnyArray>();
    for (const { table, column, storage, length } of pieces) {
      // Shared, as the columns of a reader are: helpers of analyses may be threads.
      const cells = allocate(storage, length, true);
      if (position + cells.byteLength > size) return undefined;
      readFully(fd, cells, position);
      columns.set(`${table}.${column}`, cells);
      position += aligned(cells.byteLength);
    }
    const now = new Date();
    fs.utimesSync(entry, now, now);
    const tables = Object.fromEntries(
      Object.entries(lengths).map(([name, length]) => {
        const own = pieces.filter(({ table }) => table === name);
        return [
          name,
          {
            length,
            ...Object.fromEntries(own.map(({ column }) => [column, columns.get(`${name}.${column}`)])),
          },
        ];
      }),
    ) as Profile['tables'];
    const strings = StringTable.unpack(
      columns.get('strings.bytes') as Uint8Array,
      columns.get('strings.ends') as Float64Array,
    );
    return { ...rest, tables, strings };
  } catch {
    // Cut off or of another V8: it is made again.
    return undefined;
  } finally {
    fs.closeSync(fd);
  }
}

const LARGEST_READ = 1 << 30;

function readFully(fd: number, cells: AnyArray, position: number): void {
  const bytes = new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength);
  for (let done = 0; done < bytes.length; ) {
    const got = fs.readSync(fd, bytes, done, Math.min(LARGEST_READ, bytes.length - done), position + done);
    if (got === 0) throw new Error('cut off');
    done += got;
  }
}

async function writeEntry(folder: string, entry: string, key: string, profile: Profile): Promise<void> {
  const { tables, strings, ...rest } = profile;
  const parts: { readonly piece: Piece; readonly cells: AnyArray }[] = [];
  const lengths: Record<string, number> = {};
  for (const name of tableNames) {
    const table = tables[name as TableName] as unknown as
      | (Record<string, AnyArray> & { length: number })
      | undefined;
    if (!table) continue;
    lengths[name] = table.length;
    for (const [column] of columnsOf(name)) {
      const cells = table[column];
      if (cells)
        parts.push({
          piece: { table: name, column, storage: storageOf(cells), length: table.length },
          cells,
        });
    }
  }
  const { bytes, ends } = strings.pack();
  parts.push({
    piece: { table: 'strings', column: 'bytes', storage: 'u8', length: bytes.length },
    cells: bytes,
  });
  parts.push({
    piece: { table: 'strings', column: 'ends', storage: 'f64', length: ends.length },
    cells: ends,
  });
  const header = serialize({ key, rest, lengths, pieces: parts.map(({ piece }) => piece) } satisfies Header);
  const start = Buffer.alloc(MAGIC.length + 4);
  start.write(MAGIC, 'latin1');
  start.writeUInt32LE(header.length, MAGIC.length);
  const size = parts.reduce(
    (sum, { cells }) => sum + aligned(cells.byteLength),
    start.length + header.length,
  );
  if (size > MOST_ENTRY_BYTES) return;
  const unfinished = path.join(folder, `${process.pid}-${randomBytes(8).toString('hex')}.unfinished`);
  const file = await fs.promises.open(unfinished, 'wx', 0o600);
  try {
    let position = 0;
    const put = async (content: Uint8Array) => {
      await file.write(content, 0, content.length, position);
      position += content.length;
      position = aligned(position);
    };
    await put(Buffer.concat([start, header]));
    for (const { cells } of parts)
      await put(new Uint8Array(cells.buffer, cells.byteOffset, cells.byteLength));
    await file.truncate(position);
    await file.close();
    fs.renameSync(unfinished, entry);
  } catch (error) {
    await file.close().catch(() => undefined);
    fs.rmSync(unfinished, { force: true });
    throw error;
  }
  prune(folder, entry);
}

/** Removes the oldest beyond the bounds, and what interrupted runs left. */
function prune(folder: string, newest: string): void {
  const entries = fs.readdirSync(folder).flatMap(name => {
    const file = path.join(folder, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    return stat ? [{ file, bytes: stat.size, used: stat.mtimeMs }] : [];
  });
  for (const { file, used } of entries)
    if (file.endsWith('.unfinished') && used < Date.now() - ABANDONED_MS) fs.rmSync(file, { force: true });
  let [files, bytes] = [0, 0];
  const kept = entries.filter(({ file }) => file.endsWith(ENDING));
  kept.sort((a, b) => Number(b.file === newest) - Number(a.file === newest) || b.used - a.used);
  for (const entry of kept) {
    files++;
    bytes += entry.bytes;
    if (entry.file !== newest && (files > KEEP_FILES || bytes > KEEP_BYTES))
      fs.rmSync(entry.file, { force: true });
  }
}
