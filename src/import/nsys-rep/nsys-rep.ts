/**
 * Nsight Systems reports. Their format is NVIDIA's own and changes, so nsys itself exports them to SQLite, into a
 * cache, and the export is opened as any other.
 */
import * as fs from 'node:fs';
import * as nodePath from 'node:path';
import { UserError } from '../../base/user-error.js';
import { fileFormats, reportStem, withoutPacking } from '../../catalog/file-formats.js';
import type { Profile } from '../../model/profile.js';
import { damageCount } from '../damage-notes.js';
import type { ImportContext, Importer } from '../importer.js';
import { nsysSqlite } from '../nsys-sqlite/nsys-sqlite.js';
import { CutOffError, ProfileFile } from '../profile-file.js';
import { ExportCache, hashContent } from './export-cache.js';
import { findNsys, type Nsys } from './find-nsys.js';
import { importRawStream, type StreamOutcome } from './raw-stream.js';
import {
  describeReader,
  describeVersion,
  isReport,
  type ReportVersion,
  reportVersion,
  streamVersion,
} from './report-version.js';
import { type ExportOutcome, runExport } from './run-export.js';

/** Exporting takes about as long as reading the export takes several times over. */
const EXPORT_SHARE = 0.8;

export const nsysRep: Importer = {
  ...fileFormats.nsysRep,

  recognizes(head) {
    return isReport(head) || streamVersion(head) !== undefined;
  },

  async import(file: ProfileFile, context: ImportContext): Promise<Profile> {
    const head = await file.head();
    const version = streamVersion(head) ?? reportVersion(head);
    const report = (done: number) => context.onProgress?.(done * EXPORT_SHARE);
    const first = await exported(file, version, report);
    try {
      const profile = await importExport(first.path, context);
      if (!first.isOld || damageCount(profile.notes) === 0)
        return asCaptured(profile, file, version, first.nsysVersion);
    } catch (error) {
      if (!first.isOld || !(error instanceof UserError)) throw error;
    }
    // What was kept does not read as it was written: it is made again from the report, once.
    fs.rmSync(first.path, { force: true });
    const again = await exported(file, version, report);
    return asCaptured(await importExport(again.path, context), file, version, again.nsysVersion);
  },
};

async function importExport(path: string, context: ImportContext): Promise<Profile> {
  const database = ProfileFile.open(path);
  try {
    return await nsysSqlite.import(database, {
      ...context,
      onProgress: done => context.onProgress?.(EXPORT_SHARE + done * (1 - EXPORT_SHARE)),
    });
  } finally {
    database.close();
  }
}

/** The export names itself and its exporter; a user knows the report and the version that captured it. */
function asCaptured(
  profile: Profile,
  file: ProfileFile,
  version: ReportVersion,
  nsysVersion: string,
): Profile {
  const { capture } = profile;
  return {
    ...profile,
    capture: {
      ...capture,
      profilerVersion: version.kind === 'release' ? version.release.join('.') : capture.profilerVersion,
      files: [file.name],
      sizeBytes: file.sizeBytes,
      settings: { ...capture.settings, EXPORTED_BY: `nsys ${nsysVersion}` },
    },
  };
}

/** The report as SQLite: from the cache (`isOld`), or by the newest nsys that can read it. */
async function exported(
  file: ProfileFile,
  version: ReportVersion,
  onProgress: (done: number) => void,
): Promise<{ path: string; nsysVersion: string; isOld: boolean }> {
  const cache = ExportCache.open();
  const content = hashContent(file.path);
  const found = await findNsys();
  // Without an nsys, what an earlier one exported still serves.
  const cached = found.length === 0 ? cache.find(content) : undefined;
  if (cached) return { ...cached, isOld: true };
  const isStream = !isReport(await file.head());
  if (isStream && found.length === 0) throw noImporter(file.name, version, []);
  /** What nsys is given in place of the file. */
  let prepared: string | undefined;
  let failure: ExportOutcome | undefined;
  try {
    for (const nsys of found) {
      const known = cache.find(content, nsys.version);
      if (known) return { ...known, isOld: true };
      if (isStream) prepared ??= await reportOfStream(file, version, cache);
      else if (file.packed) prepared ??= await unpack(file, cache);
      const target = cache.unfinished('.sqlite-export');
      try {
        const outcome = await runExport(nsys, prepared ?? file.path, target, onProgress);
        if (outcome.kind === 'done') {
          return {
            path: cache.keep(target, content, nsys.version),
            nsysVersion: nsys.version,
            isOld: false,
          };
        }
        // An older nsys does not read what a newer one finds damaged, so the first real failure is the one to tell.
        if (failure === undefined || failure.kind === 'refused') failure = outcome;
      } finally {
        cache.discard(target);
      }
    }
  } finally {
    if (prepared) cache.discard(prepared);
  }
  if (failure === undefined || failure.kind === 'refused') throw needsNsys(file, version, found);
  throw exportFailed(file.name, failure, found[0], cache);
}

/** nsys does not read what is packed, so it gets the report as it was. */
async function unpack(file: ProfileFile, cache: ExportCache): Promise<string> {
  const target = cache.unfinished('.nsys-rep');
  const fd = fs.openSync(target, 'wx', 0o600);
  try {
    for await (const chunk of file.chunks()) fs.writeSync(fd, chunk);
    return target;
  } catch (error) {
    cache.discard(target);
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw noSpace(file.name, cache);
    if (!(error instanceof CutOffError)) throw error;
    throw new UserError(
      'damaged',
      `${file.name} is truncated or damaged: it cannot be decompressed completely.`,
      'Copy it again.',
    );
  } finally {
    fs.closeSync(fd);
  }
}

function needsNsys({ name, path }: ProfileFile, version: ReportVersion, found: readonly Nsys[]): UserError {
  const captured = `${name} was captured with ${describeVersion(version)}`;
  const here = found.map(nsys => `nsys ${nsys.version} at ${nsys.path}`).join(', ');
  const what =
    found.length === 0
      ? `${captured}; opening it needs nsys, which was not found on this machine.`
      : `${captured}, which the installed version cannot read: ${here}.`;
  const beside = exportBeside(path);
  if (beside !== undefined)
    return new UserError(
      'needs-nsys',
      what,
      `Its export is in the same folder and does not need nsys: open ${beside}`,
    );
  return new UserError(
    'needs-nsys',
    what,
    `Install ${describeReader(version)} or set NSYS=/path/to/nsys. Or, on the machine that captured it, run ` +
      `nsys export --type sqlite ${name} and open the .sqlite.`,
  );
}

/** nsys writes the export of `a.nsys-rep` to `a.sqlite`, when asked for statistics too. */
function exportBeside(report: string): string | undefined {
  const { dir, base } = nodePath.parse(report);
  const stem = reportStem(base);
  const isExport = (name: string) =>
    fileFormats.nsysSqlite.endings.some(ending => withoutPacking(name) === `${stem}${ending}`);
  const beside = fs.readdirSync(dir === '' ? '.' : dir).find(isExport);
  return beside === undefined ? undefined : nodePath.join(dir, beside);
}

function exportFailed(name: string, failure: ExportOutcome, nsys: Nsys, cache: ExportCache): UserError {
  if (failure.kind === 'no-space') return noSpace(name, cache);
  const message = failure.kind === 'done' ? '' : failure.message;
  return new UserError(
    'damaged',
    `nsys ${nsys.version} could not export ${name}: ${message}`,
    'The report may be truncated: compare its size with the original, or capture again.',
  );
}

function noSpace(name: string, cache: ExportCache): UserError {
  return new UserError(
    'no-space',
    `The disk of ${cache.folder} is full: ${name} cannot be exported.`,
    'Free some disk space, or set STEPSCOPE_CACHE to a folder on a larger disk.',
  );
}

/** The report of a raw stream. The importer writes to the stream it reads, so it gets a copy. */
async function reportOfStream(
  file: ProfileFile,
  version: ReportVersion,
  cache: ExportCache,
): Promise<string> {
  const copy = await unpack(file, cache);
  const report = cache.unfinished('.nsys-rep');
  let outcome: StreamOutcome;
  try {
    outcome = await importRawStream(copy, report);
  } finally {
    cache.discard(copy);
  }
  if (outcome.kind === 'done') return report;
  cache.discard(report);
  if (outcome.kind === 'no-space') throw noSpace(file.name, cache);
  if (outcome.kind === 'no-importer') throw noImporter(file.name, version, outcome.found);
  throw new UserError(
    'damaged',
    `${file.name} is a raw stream (.qdstrm), and ${outcome.importer} could not make a report of it: ${outcome.message}.`,
    'The stream may be truncated: compare its size with the original, or capture again.',
  );
}

function noImporter(name: string, version: ReportVersion, found: readonly string[]): UserError {
  const by = describeVersion(version);
  const here = found.length === 0 ? 'none was found' : `only other versions were found: ${found.join(', ')}`;
  return new UserError(
    'needs-nsys',
    `${name} is a raw stream (.qdstrm) of ${by}, which only the importer (QdstrmImporter) of the same version reads; ${here}.`,
    `Install the complete ${by}, or set NSYS to its nsys. Or, on a machine that has it, run QdstrmImporter -i ${name} and open the .nsys-rep.`,
  );
}
