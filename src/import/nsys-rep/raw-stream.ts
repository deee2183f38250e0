/**
 * Raw streams (.qdstrm): what nsys leaves if it does not find its importer, which distributions package separately.
 * The importer of exactly the same version turns a stream into a report. It lies next to an nsys, not necessarily the
 * one that wrote the stream, so every installation is searched.
 *
 * The importer appends to the stream it reads (29 bytes in 2022.4.2), so a user's file is only given to it as a copy.
 */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { candidatePaths } from './find-nsys.js';

export type StreamOutcome =
  | { readonly kind: 'done'; readonly importer: string }
  /** No importer accepted this version; `found` is what there is. */
  | { readonly kind: 'no-importer'; readonly found: readonly string[] }
  | { readonly kind: 'no-space' }
  | { readonly kind: 'failed'; readonly importer: string; readonly message: string };

const IMPORT_TIMEOUT_MS = 30 * 60_000;
/** 2022.4.2: "Qdstrm version 2025.3.1.9-df9881f is not supported. The QdstrmImporter and qdstrm file versions must match". */
const OTHER_VERSION = /versions? must match|version \S+ is not supported/i;
const NO_SPACE = /no space left|disk is full|disk quota/i;
/** Where Debian puts the importer, whichever nsys was called. */
const USUAL_ROOT = '/usr/lib/nsight-systems';

/** Importers next to the named nsys, then next to every other nsys of this machine. */
function findImporters(named?: string): string[] {
  const all = candidatePaths({ env: process.env, platform: process.platform, root: '' });
  const { NSYS } = process.env;
  const calls = [
    ...(named === undefined ? [] : [onPath(named)]),
    ...(NSYS ? [path.resolve(NSYS)] : []),
    ...all,
  ];
  const roots = [...calls.flatMap(rootsOf), USUAL_ROOT];
  const found = roots.flatMap(root =>
    folders(root, 'host-').map(folder => importerIn(path.join(root, folder))),
  );
  return [...new Set(found.filter(place => place !== undefined))];
}

/** Makes a report of a stream that may be changed. `named`: the nsys that wrote it, if known. */
export async function importRawStream(
  stream: string,
  report: string,
  named?: string,
): Promise<StreamOutcome> {
  const found = findImporters(named);
  let failure: StreamOutcome | undefined;
  for (const importer of found) {
    // The importer does not overwrite, and half a report must not keep the name of a whole one.
    fs.rmSync(report, { force: true });
    const { ok, output } = await run(importer, ['-i', path.resolve(stream), '-o', path.resolve(report)]);
    if (ok && (fs.statSync(report, { throwIfNoEntry: false })?.size ?? 0) > 0)
      return { kind: 'done', importer };
    fs.rmSync(report, { force: true });
    if (NO_SPACE.test(output)) return { kind: 'no-space' };
    if (!OTHER_VERSION.test(output)) failure ??= { kind: 'failed', importer, message: lastLine(output) };
  }
  return failure ?? { kind: 'no-importer', found };
}

/** The folder above the binary as called and above its target; a wrapper of the CUDA toolkit has a folder beside it. */
function rootsOf(nsys: string): string[] {
  const places = [nsys];
  try {
    places.push(fs.realpathSync(nsys));
  } catch {
    // Only the name as given is left.
  }
  return places
    .map(place => path.join(path.dirname(place), '..'))
    .flatMap(root => [root, ...folders(root, 'nsight-systems-').map(folder => path.join(root, folder))]);
}

function importerIn(folder: string): string | undefined {
  const name = process.platform === 'win32' ? 'QdstrmImporter.exe' : 'QdstrmImporter';
  const place = path.join(folder, name);
  return fs.existsSync(place) ? fs.realpathSync(place) : undefined;
}

function onPath(name: string): string {
  if (name.includes('/')) return name;
  const places = (process.env.PATH ?? '').split(path.delimiter).filter(folder => path.isAbsolute(folder));
  return places.map(folder => path.join(folder, name)).find(place => fs.existsSync(place)) ?? name;
}

function folders(root: string, prefix: string): string[] {
  try {
    return fs.readdirSync(root).filter(name => name.startsWith(prefix));
  } catch {
    return [];
  }
}

function run(importer: string, args: readonly string[]): Promise<{ ok: boolean; output: string }> {
  return new Promise(resolve =>
    execFile(importer, args, { timeout: IMPORT_TIMEOUT_MS, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ ok: !error, output: `${stdout}\n${stderr}\n${error?.message ?? ''}` }),
    ),
  );
}

/** What the importer says, without its progress bar and the command line that Node repeats. */
function lastLine(output: string): string {
  const lines = output.split(/[\r\n]+/).map(line => line.replace(/[^\x20-\x7e]/g, '').trim());
  const said = lines.filter(line => line !== '' && !/\d+%/.test(line) && !line.startsWith('Command failed'));
  return (said.at(-1) ?? 'it gave no reason').replace(/\.$/, '').slice(0, 300);
}
