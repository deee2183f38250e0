/** The files to map: those named, those below folders, and those on a list. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { importersOf } from '../import/index.js';
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
    if (!stat.isDirectory()) {
      add(name);
      continue;
    }
    const { names, unreachable } = profileNames(name, true);
    passedOver.push(...unreachable);
    for (const file of names.map(own => path.join(name, own))) {
      if (!BESIDE_PROFILES.test(file) && (await mayBeProfile(file))) add(file);
      else passedOver.push(file);
    }
  }
  return { files: [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), passedOver };

  function add(name: string): void {
    const real = fs.realpathSync(name);
    const { size, mtimeMs } = fs.statSync(real);
    found.set(real, { path: real, bytes: size, mtimeMs: Math.round(mtimeMs) });
  }
}

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
