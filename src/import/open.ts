/**
 * From paths to one Profile: finds the importer of each file, takes a folder as all the ranks in it, merges several
 * files of one run, and adds what its logs and benchmark results show.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Note } from '../base/notes.js';
import { UserError } from '../base/user-error.js';
import {
  type FileFormat,
  fileFormats,
  reportStem,
  STREAM_ENDING,
  withoutPacking,
} from '../catalog/file-formats.js';
import { mergeProfiles } from '../model/merge.js';
import type { Profile } from '../model/profile.js';
import { joinSidecars } from './agent-sidecar/join-sidecars.js';
import { throughColumnCache } from './column-cache.js';
import { type Companion, nothingButCompanions, readCompanion, withCompanions } from './companions.js';
import { filesIn } from './folder-files.js';
import type { ImportContext } from './importer.js';
import { importerFor, importers } from './index.js';
import { isTableFolder, withTablesAsExport } from './nsys-tables/table-folder.js';
import { assertOneRun } from './one-run.js';
import { ProfileFile } from './profile-file.js';
import { withRanks } from './run-ranks.js';
import { inputOnDisk } from './standard-input.js';

interface OpenContext extends Omit<ImportContext, 'onProgress'> {
  /** Told which file is being read and how far it is. */
  readonly onProgress?: (file: string, done: number) => void;
  /** What messages call the file, where its path means nothing to the user. */
  readonly name?: string;
}

export async function openProfile(paths: readonly string[], context: OpenContext = {}): Promise<Profile> {
  const profiles: Profile[] = [];
  const passedOver: string[] = [];
  const companions: Companion[] = [];
  for (const given of paths) {
    const input = await inputOnDisk(given);
    const { files, unreachable } = expand(input.path);
    passedOver.push(...unreachable);
    const isFolder = files[0] !== input.path;
    const opened = profiles.length + companions.length;
    for (const file of files) {
      try {
        profiles.push(await openFile(file, { name: input.name, ...context }));
      } catch (error) {
        if (!(error instanceof UserError) || error.code !== 'not-a-profile') throw error;
        // A folder of results holds more than profiles; what was named one by one must be something we know.
        const companion = isFolder ? undefined : await readCompanion(file, input.name ?? context.name);
        if (companion) companions.push(companion);
        else if (isFolder) passedOver.push(path.basename(file));
        else throw error;
      }
    }
    if (profiles.length + companions.length === opened) throw noProfileIn(given);
  }
  if (profiles.length === 0 && companions.length > 0) throw nothingButCompanions(companions);
  const ranked = withRanks(joinSidecars(profiles));
  const ranks = profiles.flatMap(({ capture }) => capture.ranks);
  if (ranked.length > 1) assertOneRun(ranked, ranks);
  const merged = ranked.length === 1 ? await withOwnRanks(ranked[0]) : mergeProfiles(ranked);
  const profile = withCompanions(merged, companions, context.tables);
  if (passedOver.length === 0) return profile;
  const text = 'files in the folder are not profiles and were skipped';
  const note: Note = {
    code: 'passed-over',
    severity: 'warning',
    text,
    count: passedOver.length,
    example: passedOver[0],
  };
  return { ...profile, notes: [...profile.notes, note] };
}

/** Ranks within a file need the catalogue of kernels: it is loaded where several processes use a GPU. */
async function withOwnRanks(profile: Profile): Promise<Profile> {
  if (new Set(profile.streams.map(({ process }) => process)).size < 2) return profile;
  return (await import('./process-ranks.js')).withProcessRanks(profile);
}

function noProfileIn(folder: string): UserError {
  return new UserError(
    'not-found',
    `${folder} contains no profile.`,
    'A folder must contain the ranks of one run: files that end in .sqlite, .nsys-rep, .json or .pftrace, compressed (.gz, .zst, .xz) or not.',
  );
}

/** A folder of tables is one export. */
function openFile(filePath: string, context: OpenContext): Promise<Profile> {
  if (!isTableFolder(filePath)) return openPlainFile(filePath, context);
  const name = context.name ?? path.basename(path.resolve(filePath));
  return withTablesAsExport(filePath, file => openPlainFile(file, { ...context, name }));
}

async function openPlainFile(filePath: string, context: OpenContext): Promise<Profile> {
  const file = ProfileFile.open(filePath, context.name);
  try {
    const importer = await importerFor(file);
    const own = { ...context, onProgress: (done: number) => context.onProgress?.(file.name, done) };
    return await throughColumnCache(file, importer, own, () => importer.import(file, own));
  } finally {
    file.close();
  }
}

const isOf = ({ endings }: FileFormat, name: string) =>
  endings.some(ending => withoutPacking(name.toLowerCase()).endsWith(ending));

/** Of one run nsys may leave a stream, the report made of it and the export made of that: the last one is read. */
function latestStages(names: readonly string[]): string[] {
  const latest = new Map<string, number>();
  for (const name of names)
    latest.set(reportStem(name), Math.max(stageOf(name), latest.get(reportStem(name)) ?? 0));
  return names.filter(name => stageOf(name) === 0 || stageOf(name) === latest.get(reportStem(name)));
}

/** 0: not written by nsys. */
function stageOf(name: string): number {
  if (isOf(fileFormats.nsysSqlite, name)) return 3;
  if (!isOf(fileFormats.nsysRep, name)) return 0;
  return withoutPacking(name.toLowerCase()).endsWith(STREAM_ENDING) ? 1 : 2;
}

/** What a folder of profiles may hold, by name; the content decides later. */
const isProfileName = (name: string) => importers.some(format => isOf(format, name));

function expand(given: string): { files: string[]; unreachable: readonly string[] } {
  let stat: fs.Stats;
  try {
    stat = fs.statSync(given);
  } catch {
    throw new UserError('not-found', `${given} does not exist.`, 'Check the path.');
  }
  if (!stat.isDirectory() || isTableFolder(given)) return { files: [given], unreachable: [] };
  const { names, unreachable } = profileNames(given);
  if (names.length === 0) throw noProfileIn(given);
  return { files: names.map(name => path.join(given, name)), unreachable };
}

/** Profiles in a folder, ranks in their order; of a stream, a report and its export, the latest. */
export function profileNames(
  folder: string,
  recursive = false,
): { names: string[]; unreachable: readonly string[] } {
  const { names, unreachable } = filesIn(folder, isProfileName, { recursive });
  return { names: latestStages(names).sort(byNumbersInName), unreachable };
}

/** rank10 after rank9. */
function byNumbersInName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
