/** What `capture` and `doctor` look up on this machine: nsys, rights, room, versions. Missing is a fact, not an error. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { findNsys, type Nsys } from '../import/nsys-rep/find-nsys.js';

interface MachineFiles {
  readonly perfEventParanoid?: number;
  readonly adminOnlyCounters?: boolean;
}

/** `root` stands in front of /proc; tests put a tree of their own there. */
export function readRights(root = ''): MachineFiles {
  const paranoid = readFile(`${root}/proc/sys/kernel/perf_event_paranoid`);
  const params = readFile(`${root}/proc/driver/nvidia/params`);
  const adminOnly = /RmProfilingAdminOnly:\s*(\d)/.exec(params ?? '')?.[1];
  return {
    ...(paranoid !== undefined && /^-?\d+\s*$/.test(paranoid) ? { perfEventParanoid: Number(paranoid) } : {}),
    ...(adminOnly === undefined ? {} : { adminOnlyCounters: adminOnly === '1' }),
  };
}

function readFile(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Of the nearest folder that is there: -o may name one that is yet to be made. */
export function freeBytes(file: string): number | undefined {
  let folder = path.resolve(file);
  for (;;) {
    try {
      const { bavail, bsize } = fs.statfsSync(folder);
      return bavail * bsize;
    } catch {
      const parent = path.dirname(folder);
      if (parent === folder) return undefined;
      folder = parent;
    }
  }
}

/** Like `findNsys`, but a wrong $NSYS means none: to be told so is why one asks. */
export async function lookForNsys(): Promise<Nsys[]> {
  try {
    return await findNsys();
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** How to call it: by name where PATH leads to it. */
export function nsysCommand(nsys: Nsys, env: NodeJS.ProcessEnv = process.env): string {
  const onPath = (env.PATH ?? '').split(path.delimiter).map(folder => path.join(folder, 'nsys'));
  const first = onPath.find(file => fs.existsSync(file));
  return first !== undefined && path.resolve(first) === path.resolve(nsys.path) ? 'nsys' : nsys.path;
}
