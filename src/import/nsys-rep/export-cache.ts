/**
 * Exports kept between runs, in the user's cache folder and never beside the report. A name says what it was made
 * from (content of the report) and by what (version of nsys). Exports hold environments of processes, so the folder
 * is for the user alone.
 */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { ownCacheFolder, ownFolder } from '../../disk/cache-folder.js';
import { type HashPlan, hashFile } from '../../disk/content-hash.js';

const KEEP_FILES = 50;
const KEEP_BYTES = 20e9;
/** An export still unfinished after a day was interrupted. */
const ABANDONED_MS = 24 * 3600 * 1000;
/** Reports up to here are hashed whole, at about a second per gigabyte; larger ones at their ends and in between. */
const ofReports: HashPlan = { wholeBytes: 2 ** 30, blockBytes: 4 * 2 ** 20, blocks: 64 };

export class ExportCache {
  private constructor(readonly folder: string) {}

  static open(env: NodeJS.ProcessEnv = process.env): ExportCache {
    return new ExportCache(ownCacheFolder('nsys-exports', env) ?? temporaryFolder());
  }

  path(content: string, nsysVersion: string): string {
    return path.join(this.folder, `${content}-${nsysVersion}.sqlite`);
  }

  /** A finished export of this content, by this nsys or, when none is named, by any. */
  find(content: string, nsysVersion?: string): { path: string; nsysVersion: string } | undefined {
    const names = fs
      .readdirSync(this.folder)
      .filter(name => name.endsWith('.sqlite') && name.startsWith(`${content}-`));
    const wanted = names
      .sort()
      .findLast(name => !nsysVersion || name === path.basename(this.path(content, nsysVersion)));
    if (!wanted) return undefined;
    const found = path.join(this.folder, wanted);
    const now = new Date();
    try {
      fs.utimesSync(found, now, now);
    } catch {
      // Another process pruned it just now.
      return undefined;
    }
    return { path: found, nsysVersion: wanted.slice(content.length + 1, -'.sqlite'.length) };
  }

  /** A name to write to; it becomes an export only when `keep` renames it. */
  unfinished(suffix = ''): string {
    return path.join(this.folder, `${process.pid}-${randomBytes(8).toString('hex')}.unfinished${suffix}`);
  }

  keep(unfinished: string, content: string, nsysVersion: string): string {
    const target = this.path(content, nsysVersion);
    fs.renameSync(unfinished, target);
    this.prune(target);
    return target;
  }

  discard(unfinished: string): void {
    for (const suffix of ['', '-journal', '-wal', '-shm']) fs.rmSync(unfinished + suffix, { force: true });
  }

  /** Removes the oldest beyond the limits, and what interrupted runs left; never the one in use. */
  prune(inUse: string, keepFiles = KEEP_FILES, keepBytes = KEEP_BYTES): void {
    const entries = fs.readdirSync(this.folder).flatMap(name => {
      const file = path.join(this.folder, name);
      const stat = fs.statSync(file, { throwIfNoEntry: false });
      return stat?.isFile() ? [{ file, bytes: stat.size, used: Math.max(stat.atimeMs, stat.mtimeMs) }] : [];
    });
    const isExport = (file: string) => file.endsWith('.sqlite');
    for (const { file, used } of entries) {
      if (!isExport(file) && file.includes('.unfinished') && used < Date.now() - ABANDONED_MS) {
        fs.rmSync(file, { force: true });
      }
    }
    let files = 0;
    let bytes = 0;
    const newestFirst = (a: { file: string; used: number }, b: { file: string; used: number }) =>
      Number(b.file === inUse) - Number(a.file === inUse) || b.used - a.used;
    for (const entry of entries.filter(({ file }) => isExport(file)).sort(newestFirst)) {
      files++;
      bytes += entry.bytes;
      if (entry.file !== inUse && (files > keepFiles || bytes > keepBytes))
        fs.rmSync(entry.file, { force: true });
    }
  }
}

/** Names a file by its content. */
export const hashContent = (file: string): string => hashFile(file, ofReports).digest.slice(0, 40);

/** A fixed name in the shared folder serves the next run too, if it is really ours. */
function temporaryFolder(): string {
  const shared = path.join(os.tmpdir(), `stepscope-cache-${process.getuid?.() ?? 'user'}`);
  return ownFolder(() => shared) ?? fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-cache-'));
}
