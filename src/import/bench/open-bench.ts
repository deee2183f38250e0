/** From paths to benchmark runs. Files are text and read whole, so their size is bounded; packing is undone on the way. */
import * as fs from 'node:fs';
import * as nodePath from 'node:path';
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { withoutPacking } from '../../catalog/file-formats.js';
import type { BenchRun } from '../../model/bench-run.js';
import { filesIn } from '../folder-files.js';
import { importersOf } from '../index.js';
import { CutOffError, ProfileFile } from '../profile-file.js';
import { inputOnDisk } from '../standard-input.js';
import { BenchContent } from './bench-content.js';
import { benchImporterFor, damagedBench } from './index.js';
import { joinAiperf } from './join-aiperf.js';

/** A million iteration lines; texts twice as large would not fit a string. */
const MOST_BYTES = 192 * 1024 * 1024;

interface OpenBench {
  /** Told which files of a folder hold no benchmark result. */
  readonly onPassedOver?: (folder: string, files: readonly string[]) => void;
}

export async function openBenchRuns(
  paths: readonly string[],
  { onPassedOver }: OpenBench = {},
): Promise<BenchRun[]> {
  const runs: BenchRun[] = [];
  for (const given of paths) {
    const { path, name } = await inputOnDisk(given);
    const opened = isFolder(path)
      ? await openBenchFolder(path, files => onPassedOver?.(given, files))
      : await openBenchFile(path, name);
    for (const run of opened) runs.push(run);
  }
  return runs;
}

/** A folder of results holds other files too; those are passed over. Files of folders in it go by their paths. */
async function openBenchFolder(
  folder: string,
  onPassedOver: (files: readonly string[]) => void,
): Promise<BenchRun[]> {
  const runs: BenchRun[] = [];
  const passedOver: string[] = [];
  for (const name of resultNamesIn(folder)) {
    const path = nodePath.join(folder, name);
    try {
      if (await isProfile(path)) passedOver.push(name);
      else for (const run of await openBenchFile(path, name)) runs.push(run);
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'not-a-profile') throw error;
      passedOver.push(name);
    }
  }
  if (runs.length === 0)
    throw new UserError(
      'not-found',
      `${folder} contains no benchmark result in a supported format.`,
      'Stepscope searches files that end in .json, .jsonl, .txt, .log, .md, .csv or .out, compressed or not.',
    );
  if (passedOver.length > 0) onPassedOver(passedOver);
  return joinAiperf(runs);
}

/** Profiles lie beside results, and are too large to be read as text for nothing. */
async function isProfile(path: string): Promise<boolean> {
  const file = ProfileFile.open(path);
  try {
    return (await importersOf(file)).length > 0;
  } finally {
    file.close();
  }
}

const isFolder = (path: string) => fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const RESULT_NAME = /\.(?:jsonl?|txt|log|md|csv|out)$/i;

/** c10 after c9, whatever the folders are called. */
function resultNamesIn(folder: string): string[] {
  const { names } = filesIn(folder, name => RESULT_NAME.test(withoutPacking(name)), { recursive: true });
  return [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

async function openBenchFile(path: string, name?: string): Promise<BenchRun[]> {
  const file = ProfileFile.open(path, name);
  try {
    return readBenchText(file.name, await benchText(file));
  } finally {
    file.close();
  }
}

/** The runs of a text; at least one, or a UserError. */
export function readBenchText(name: string, text: string): BenchRun[] {
  const content = new BenchContent(name, text);
  const runs = benchImporterFor(content).read(content);
  if (runs.length === 0) throw damagedBench(name);
  return runs;
}

export async function benchText(file: ProfileFile): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of file.chunks()) {
      size += chunk.length;
      if (size > MOST_BYTES) throw tooLarge(file.name);
      chunks.push(chunk);
    }
  } catch (error) {
    if (!(error instanceof CutOffError)) throw error;
    throw new UserError(
      'damaged',
      `${file.name} is compressed, and the archive is truncated or damaged.`,
      'Copy it again and compare its size with the original.',
    );
  }
  const bytes = Buffer.concat(chunks);
  // Windows redirects (`>` in PowerShell) write UTF-16.
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}

const tooLarge = (name: string) =>
  new UserError(
    'too-large',
    `${name} is larger than ${formatBytes(MOST_BYTES)}, too large for benchmark output.`,
    'Keep the part with the report, for example: tail -n 100000 LOG > report.txt',
  );
