/**
 * A map as tasks for a scheduler. All that machines share is the folder of the lake: lists of files lie in it before the
 * job begins, and each task leaves its result there. A task is the plain command `stepscope fleet map --list …`.
 */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Lake } from './lake.js';
import type { MapOutcome } from './map-file.js';
import type { MapRequest, mapDocument } from './map-files.js';
import type { SourceFile } from './source-files.js';

export interface JobFolder {
  readonly folder: string;
  readonly chunks: readonly (readonly SourceFile[])[];
}

const DEFAULT_CHUNK_BYTES = 4e9;
/** Small sets are spread too. */
const LEAST_CHUNKS = 8;
/** Slurm's MaxArraySize is 1001 unless set. */
const MOST_CHUNKS = 1000;

/** About equally many bytes each: the largest file first, always to the chunk with least. */
export function chunksOf(files: readonly SourceFile[], chunkBytes?: number): SourceFile[][] {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const target = chunkBytes ?? Math.min(DEFAULT_CHUNK_BYTES, total / LEAST_CHUNKS);
  const wanted = target > 0 ? Math.ceil(total / target) : 1;
  const count = Math.max(1, Math.min(wanted, files.length, MOST_CHUNKS));
  const chunks = Array.from({ length: count }, () => ({ bytes: 0, files: [] as SourceFile[] }));
  const bySize = [...files].sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1));
  for (const file of bySize) {
    const lightest = chunks.reduce((least, chunk) => (chunk.bytes < least.bytes ? chunk : least));
    lightest.files.push(file);
    lightest.bytes += file.bytes;
  }
  return chunks.map(chunk => chunk.files);
}

/** In the lake, since that is what all machines can write to. */
export function prepareJob(lake: string, chunks: readonly (readonly SourceFile[])[]): JobFolder {
  const stamp = new Date().toISOString().replaceAll(/[^\d]/g, '').slice(0, 14);
  const folder = path.join(Lake.open(lake).own('_jobs'), `${stamp}-${randomBytes(3).toString('hex')}`);
  for (const name of ['lists', 'results', 'logs']) fs.mkdirSync(path.join(folder, name), { recursive: true });
  chunks.forEach((files, i) => {
    fs.writeFileSync(listOf(folder, i), `${files.map(file => file.path).join('\n')}\n`);
  });
  return { folder, chunks };
}

const listOf = (folder: string, task: number | string) => path.join(folder, 'lists', `${task}.txt`);
const resultOf = (folder: string, task: number | string) => path.join(folder, 'results', `${task}.json`);

/** Words of the command of a task. `number`: as the scheduler writes it, such as a variable. */
export const taskWords = (
  { lake, run, labels }: Pick<MapRequest, 'lake' | 'run' | 'labels'>,
  folder: string,
  number: string,
  workers: number,
): string[] => [
  ...['fleet', 'map', '--list', listOf(folder, number), '--out', lake, '--workers', String(workers)],
  ...(run === undefined ? [] : ['--run', run]),
  ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
  ...['--json', '--output', resultOf(folder, number), '--force'],
];

type MapDocument = ReturnType<typeof mapDocument>;

/** What a task found; undefined where it has not ended, or ended without a result. */
export function outcomesOf(folder: string, task: number): MapOutcome[] | undefined {
  let text: string;
  try {
    text = fs.readFileSync(resultOf(folder, task), 'utf8');
  } catch {
    return undefined;
  }
  const { partitions, broken } = (JSON.parse(text) as { readonly data: MapDocument }).data;
  return [
    ...partitions,
    ...broken.map((own): MapOutcome => ({ status: 'broken', path: own.path, broken: own })),
  ];
}
