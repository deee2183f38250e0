/** The user's cache folder, for the user alone: what Stepscope keeps between runs, each kind in a folder of its own. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

function userCache(env: NodeJS.ProcessEnv): string {
  if (env.STEPSCOPE_CACHE) return path.resolve(env.STEPSCOPE_CACHE);
  if (env.XDG_CACHE_HOME) return path.join(path.resolve(env.XDG_CACHE_HOME), 'stepscope');
  if (process.platform === 'darwin') return path.join(os.homedir(), 'Library', 'Caches', 'stepscope');
  if (process.platform === 'win32' && env.LOCALAPPDATA)
    return path.join(env.LOCALAPPDATA, 'stepscope', 'Cache');
  return path.join(os.homedir(), '.cache', 'stepscope');
}

export const ownCacheFolder = (kind: string, env: NodeJS.ProcessEnv = process.env): string | undefined =>
  ownFolder(() => path.join(userCache(env), kind));

/** The same folder where it is there already, without a trial whether it can be written: for what is read at each start. */
export function cacheFolderToRead(kind: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  try {
    const folder = path.join(userCache(env), kind);
    const { uid, mode } = fs.lstatSync(folder);
    return uid === process.getuid?.() && (mode & 0o170077) === 0o040000 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** The folder, made if need be, closed to others; undefined when it cannot be written or belongs to another. */
export function ownFolder(place: () => string): string | undefined {
  try {
    // Users without an account (containers) have no home to ask for.
    const folder = place();
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = fs.lstatSync(folder);
    if (!stat.isDirectory() || (process.getuid && stat.uid !== process.getuid())) return undefined;
    if (process.platform !== 'win32' && stat.mode & 0o077) fs.chmodSync(folder, 0o700);
    // Asking for permission is not enough: read-only file systems grant it. Only writing shows.
    fs.rmdirSync(fs.mkdtempSync(path.join(folder, 'probe-')));
    return folder;
  } catch {
    return undefined;
  }
}
