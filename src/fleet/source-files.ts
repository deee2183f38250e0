/** The files to map: those named, those below folders, and those on a list. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { importersOf } from '../import/index.js';
import { isTableFolder, tableFiles } from '../import/nsys-tables/table-folder.js';
import { profileNames } from '../import/open.js';
import { ProfileFile } from '../import/profile-file.js';

export interface SourceFile {
  /** Absolute, without links: one file has one name on every machine that shares the folder. */
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

interface SourceFiles {
  readonly files: readonly SourceFile[];
  /** In folders, files with the name of a profile and other content: results, recipes. */
  readonly passedOver: readonly string[];
}

/** Written next to a profile and read with it. */
const BESIDE_PROFILES = /\.(?:agent|recipe)\.json$/;

/** Each file once, in order of path. A missing name is an error here, before anything begins. */
export async function sourceFiles(given: readonly string[]): Promise<SourceFiles> {
  const found = new Map<string, SourceFile>();
  const passedOver: string[] = [];
  for (const name of given) {
    const stat = fs.statSync(name, { throwIfNoEntry: false });
    if (!stat) throw new UserError('not-found', `${name} does not exist.`, 'Check the path.');
    if (!stat.isDirectory() || isTableFolder(name)) {
      add(name);
      continue;
    }
    const { names, unreachable } = profileNames(name, true);
    passedOver.push(...unreachable);
    for (const file of names.map(own => path.join(name, own))) {
      if (!BESIDE_PROFILES.test(file) && (await mayBeProfile(file))) add(file);
      else passedOver.push(file);
    }
    for (const folder of foldersIn(name)) if (isTableFolder(folder)) add(folder);
  }
  return { files: [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), passedOver };

  function add(name: string): void {
    const file = sourceFile(fs.realpathSync(name));
    found.set(file.path, file);
  }
}

/** An export that is a folder of tables is one file here. */
export function sourceFile(name: string): SourceFile {
  const parts = isTableFolder(name) ? tableFiles(name).map(table => path.join(name, table)) : [name];
  const stats = parts.map(part => fs.statSync(part, { throwIfNoEntry: false }));
  return {
    path: name,
    bytes: stats.reduce((sum, stat) => sum + (stat?.size ?? 0), 0),
    mtimeMs: Math.round(Math.max(...stats.map(stat => stat?.mtimeMs ?? 0))),
  };
}

const foldersIn = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => path.join(folder, name))
    .filter(name => fs.statSync(name, { throwIfNoEntry: false })?.isDirectory() === true);

/** False only for what is surely something else: an empty or damaged file is to be recorded as such. */
async function mayBeProfile(name: string): Promise<boolean> {
  let file: ProfileFile | undefined;
  try {
    file = ProfileFile.open(name);
    return (await importersOf(file)).length > 0 || file.unpackingFailed !== undefined;
  } catch {
    return true;
  } finally {
    file?.close();
  }
}

/** One path per line, relative to the folder of the list. */
export function filesOnList(list: string): string[] {
  const folder = path.dirname(path.resolve(list));
  return fs
    .readFileSync(list, 'utf8')
    .split('\n')
    .map(line => line.replace(/\r$/, ''))
    .filter(line => line !== '')
    .map(line => path.resolve(folder, line));
}
