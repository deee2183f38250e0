/**
 * A lake on disk. What counts lies in `run=…/rank=…/file=…/`, one folder per file, moved there whole; everything whose
 * name begins with an underscore is ours, and Spark and DuckDB pass over it:
 *
 *   _lake.json          the format
 *   _files/HASH.json    which partition holds the content with this hash, and its sums: each content counts once
 *   _broken/ID.json     files that could not be mapped, and why
 *   _tmp/               partitions being written
 *   _jobs/              lists and logs of jobs
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { writeWhole } from '../disk/write-whole.js';
import type { FileSummary } from './file-summary.js';
import { LAKE_FORMAT } from './lake-tables.js';

const MARK = '_lake.json';
const SCHEMA = 'stepscope-lake';
/** No file takes a day. */
const STALE_MS = 24 * 3600 * 1000;

/** The record of a file: where its content is in the lake, the file it came from, and its sums. */
export interface ContentClaim {
  readonly file: string;
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
  /** Below the lake. */
  readonly partition: string;
  readonly summary: FileSummary;
}

export interface BrokenFile {
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export class Lake {
  private constructor(readonly folder: string) {}

  static isAt(folder: string): boolean {
    return fs.existsSync(path.join(folder, MARK));
  }

  /** Makes it where there is none. */
  static create(folder: string): Lake {
    if (Lake.isAt(folder)) return Lake.open(folder);
    if (fs.existsSync(folder) && fs.readdirSync(folder).some(name => !name.startsWith('.')))
      throw new UserError(
        'usage',
        `${folder} exists and is not a lake.`,
        'Give --out a new folder, or one that fleet map has written.',
      );
    fs.mkdirSync(folder, { recursive: true });
    const mark = { schema: SCHEMA, format: LAKE_FORMAT };
    // Several tasks may begin at once: all write the same.
    writeWhole(path.join(folder, MARK), `${JSON.stringify(mark)}\n`);
    return Lake.open(folder);
  }

  static open(folder: string): Lake {
    const format = formatOf(folder);
    if (format === undefined)
      throw new UserError(
        fs.existsSync(folder) ? 'usage' : 'not-found',
        fs.existsSync(folder) ? `${folder} is not a lake.` : `${folder} does not exist.`,
        'Make one with: stepscope fleet map FILES… --out LAKE',
      );
    if (format !== LAKE_FORMAT)
      throw new UserError(
        'usage',
        `${folder} is a lake of format ${format}; this version reads and writes format ${LAKE_FORMAT}.`,
        format < LAKE_FORMAT
          ? 'Map the files again into a new folder: stepscope fleet map FILES… --out NEW'
          : 'Use the version of Stepscope that wrote it, or a newer one.',
      );
    return new Lake(path.resolve(folder));
  }

  private at(...parts: string[]): string {
    return path.join(this.folder, ...parts);
  }

  /** A folder of our own, made when it is needed. */
  own(name: '_files' | '_broken' | '_tmp' | '_jobs'): string {
    const folder = this.at(name);
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Of this content; undefined where it is not in the lake. */
  claimOf(file: string): ContentClaim | undefined {
    const claim = readJson<ContentClaim>(this.at('_files', `${file}.json`));
    return claim && fs.existsSync(this.at(claim.partition)) ? claim : undefined;
  }

  claims(): ContentClaim[] {
    const all = readAll<ContentClaim>(this.at('_files'));
    const odd = all.find(({ partition, summary }) => !partition || !summary);
    if (odd)
      throw new UserError(
        'damaged',
        `A record in ${this.at('_files')} is damaged: ${odd.file ?? 'it names no file'}.`,
        'Remove it, and map the file again.',
      );
    return all.filter(({ partition }) => fs.existsSync(this.at(partition)));
  }

  /**
   * Moves a finished partition to its place. Gives the claim that holds: another task may have been faster with the same
   * content, under this name or another, and then ours is dropped.
   */
  commit(draft: string, claim: ContentClaim): ContentClaim {
    const record = path.join(this.own('_files'), `${claim.file}.json`);
    try {
      writeWhole(record, `${JSON.stringify(claim)}\n`, { exclusive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const other = this.claimOf(claim.file);
      if (other) return other;
      // Whoever claimed it ended before moving it here, or somebody removed the partition.
      writeWhole(record, `${JSON.stringify(claim)}\n`);
    }
    const target = this.at(claim.partition);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    try {
      fs.renameSync(draft, target);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The same content at the same place: what lies there is what we bring.
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    }
    this.forgetBroken(claim.path);
    // A copy under another name may have taken over the claim before our partition was in place.
    const holder = this.claimOf(claim.file);
    if (!holder || holder.partition === claim.partition) return claim;
    fs.rmSync(target, { recursive: true, force: true });
    return holder;
  }

  /** What tasks on machines that died left behind; those of this machine go when the next file is mapped. */
  removeStaleDrafts(): void {
    const folder = this.own('_tmp');
    for (const name of fs.readdirSync(folder)) {
      const stat = fs.statSync(path.join(folder, name), { throwIfNoEntry: false });
      if (stat && Date.now() - stat.mtimeMs > STALE_MS)
        fs.rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  }

  recordBroken(broken: BrokenFile): void {
    writeWhole(path.join(this.own('_broken'), brokenName(broken.path)), `${JSON.stringify(broken)}\n`);
  }

  /** A file that was broken may have been copied again. */
  private forgetBroken(file: string): void {
    fs.rmSync(this.at('_broken', brokenName(file)), { force: true });
  }

  broken(): BrokenFile[] {
    return readAll<BrokenFile>(this.at('_broken')).sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

function formatOf(folder: string): number | undefined {
  const mark = readJson<{ schema?: string; format?: unknown }>(path.join(folder, MARK));
  return mark?.schema === SCHEMA && typeof mark.format === 'number' ? mark.format : undefined;
}

const brokenName = (file: string) => `${createHash('sha256').update(file).digest('hex').slice(0, 32)}.json`;

function readJson<Value>(file: string): Value | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Value;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readAll<Value>(folder: string): Value[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter(name => name.endsWith('.json') && !name.startsWith('.'))
    .flatMap(name => readJson<Value>(path.join(folder, name)) ?? []);
}
