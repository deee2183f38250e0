/**
 * Where nsys is installed without its importer (distributions split the two), it leaves a raw stream. The importer of
 * the same installation makes the report of it.
 */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { STREAM_ENDING } from './written-files.js';

const IMPORT_TIMEOUT_MS = 30 * 60_000;

/** Beside the binary as called, beside what it links to, and where Debian puts it. */
function importerBeside(named: string): string | undefined {
  const nsys = onPath(named);
  const places = [nsys];
  try {
    places.push(fs.realpathSync(nsys));
  } catch {
    // Only the usual place is left.
  }
  const roots = [...places.map(place => path.join(path.dirname(place), '..')), '/usr/lib/nsight-systems'];
  for (const root of roots)
    for (const folder of folders(root)) {
      const place = path.join(root, folder, 'QdstrmImporter');
      if (fs.existsSync(place)) return place;
    }
  return undefined;
}

function onPath(name: string): string {
  if (name.includes('/')) return name;
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(folder => path.isAbsolute(folder));
  return folders.map(folder => path.join(folder, name)).find(place => fs.existsSync(place)) ?? name;
}

function folders(root: string): string[] {
  try {
    return fs.readdirSync(root).filter(name => name.startsWith('host-'));
  } catch {
    return [];
  }
}

export async function importStream(stream: string, nsys: string): Promise<string | undefined> {
  const importer = importerBeside(nsys);
  if (!importer) return undefined;
  const report = `${stream.slice(0, -STREAM_ENDING.length)}.nsys-rep`;
  // The importer refuses a name that is there, and an older report may be.
  const unfinished = `${stream.slice(0, -STREAM_ENDING.length)}.unfinished-${process.pid}.nsys-rep`;
  const args = ['-i', path.resolve(stream), '-o', path.resolve(unfinished)];
  const done = await new Promise<boolean>(resolve =>
    execFile(importer, args, { timeout: IMPORT_TIMEOUT_MS, maxBuffer: 2 ** 26 }, error => resolve(!error)),
  );
  if (!done || !fs.existsSync(unfinished) || fs.statSync(unfinished).size === 0) {
    fs.rmSync(unfinished, { force: true });
    return undefined;
  }
  fs.renameSync(unfinished, report);
  fs.rmSync(stream, { force: true });
  return report;
}
