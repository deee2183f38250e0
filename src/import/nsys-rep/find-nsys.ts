/**
 * Finds every nsys on this machine, newest first: the one named by $NSYS alone where it is set, otherwise PATH and
 * the folders NVIDIA's packages install to.
 */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { NSYS_PLACES } from '../../catalog/nsys-places.js';
import { compareReleases } from './report-version.js';

export interface Nsys {
  readonly path: string;
  /** `2025.3.1.90`, without the build. */
  readonly version: string;
}

interface SearchPlaces {
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Stands in front of the install folders; tests put a tree of their own there. */
  readonly root: string;
}

const VERSION_TIMEOUT_MS = 10_000;

export async function findNsys(
  places: SearchPlaces = { env: process.env, platform: process.platform, root: '' },
): Promise<Nsys[]> {
  const named = places.env.NSYS;
  if (named) return [await namedNsys(named)];
  const found = await Promise.all(candidatePaths(places).map(nsysAt));
  return found
    .filter(nsys => nsys !== undefined)
    .sort((a, b) => compareReleases(numbers(b.version), numbers(a.version)));
}

/** A named binary is the only one tried: whoever names it does not want another. */
async function namedNsys(named: string): Promise<Nsys> {
  const nsys = await nsysAt(path.resolve(named));
  if (nsys) return nsys;
  throw new UserError(
    'needs-nsys',
    `NSYS is set to ${named}, which does not run as nsys.`,
    'Set it to the full path of the nsys binary (… /bin/nsys), or unset it to search the usual locations.',
  );
}

/** Every place that exists, each binary once however many links lead to it. */
export function candidatePaths({ env, platform, root }: SearchPlaces): string[] {
  const name = platform === 'win32' ? 'nsys.exe' : 'nsys';
  // Relative entries of PATH would run what lies in the folder of a stranger's report.
  const onPath = (env.PATH ?? '').split(path.delimiter).filter(folder => path.isAbsolute(folder));
  const places = [
    ...onPath.map(folder => path.join(folder, name)).filter(isFile),
    ...(NSYS_PLACES[platform] ?? []).flatMap(pattern => expandStars(root, pattern.split('/').slice(1))),
  ];
  const byTarget = new Map<string, string>();
  for (const place of places) {
    const target = fs.realpathSync(place);
    if (!byTarget.has(target)) byTarget.set(target, place);
  }
  return [...byTarget.values()];
}

function expandStars(base: string, parts: readonly string[]): string[] {
  if (parts.length === 0) return isFile(base) ? [base] : [];
  const [part, ...rest] = parts;
  if (!part.includes('*')) return expandStars(`${base}/${part}`, rest);
  const escaped = part.split('*').map(text => text.replace(/[.\\+?^${}()|[\]]/g, '\\$&'));
  const pattern = new RegExp(`^${escaped.join('.*')}$`);
  let names: string[] = [];
  try {
    names = fs.readdirSync(base === '' ? '/' : base).filter(name => pattern.test(name));
  } catch {
    // No such folder here.
  }
  return names.flatMap(name => expandStars(`${base}/${name}`, rest));
}

function isFile(place: string): boolean {
  try {
    return fs.statSync(place).isFile();
  } catch {
    return false;
  }
}

/** Asks a binary who it is; undefined when it does not run or is something else. */
function nsysAt(place: string): Promise<Nsys | undefined> {
  return new Promise(resolve => {
    execFile(place, ['--version'], { timeout: VERSION_TIMEOUT_MS }, (_error, output) => {
      const version = /Nsight Systems version (\d{4}(?:\.\d+)+)/.exec(String(output))?.[1];
      resolve(version === undefined ? undefined : { path: place, version });
    });
  });
}

const numbers = (version: string): number[] => version.split('.').map(Number);
