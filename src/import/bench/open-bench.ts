/** From paths to benchmark runs. Files are text and read whole, so their size is bounded; packing is undone on the way. */
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import type { BenchRun } from '../../model/bench-run.js';
import { CutOffError, ProfileFile } from '../profile-file.js';
import { inputOnDisk } from '../standard-input.js';
import { BenchContent } from './bench-content.js';
import { benchImporterFor, damagedBench } from './index.js';

/** A million iteration lines; texts twice as large would not fit a string. */
const MOST_BYTES = 192 * 1024 * 1024;

export async function openBenchRuns(paths: readonly string[]): Promise<BenchRun[]> {
  const runs: BenchRun[] = [];
  for (const path of paths) for (const run of await openBenchFile(path)) runs.push(run);
  return runs;
}

async function openBenchFile(given: string): Promise<BenchRun[]> {
  const { path, name } = await inputOnDisk(given);
  const file = ProfileFile.open(path, name);
  try {
    return readBenchText(file.name, await textOf(file));
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

async function textOf(file: ProfileFile): Promise<string> {
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
      `${file.name} is packed, and the archive is cut off or damaged.`,
      'Copy it again, and compare its size with the original.',
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
    `${name} is larger than ${formatBytes(MOST_BYTES)}, more than a benchmark's output should be.`,
    'Keep the part with the report, for example: tail -n 100000 LOG > report.txt',
  );
