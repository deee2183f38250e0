/** The map step: one file becomes one partition. Everything that maps files, on whichever machine, ends here. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Analyzer, tablesReadBy } from '../analyze/analysis.js';
import { brokenFile } from '../analyze/broken-file.js';
import { UserError } from '../base/user-error.js';
import { recordedWith } from '../capture/run/recorded-with.js';
import { sha256Of } from '../capture/run/write-recipe.js';
import { makeTemporaryFolder, removeTemporaryFolder } from '../disk/temporary-folder.js';
import { isTableFolder, tableFiles } from '../import/nsys-tables/table-folder.js';
import { openProfile } from '../import/open.js';
import { fileRows, fileSources, rankOfFile } from './file-rows.js';
import { summaryOf } from './file-summary.js';
import { type BrokenFile, Lake } from './lake.js';
import { partitionValue, runOfPath } from './run-name.js';
import { sourceFile } from './source-files.js';
import { writeTables } from './write-partition.js';

export interface MapTask {
  readonly path: string;
  readonly lake: string;
  /** Instead of what the path says. */
  readonly run?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tool: string;
}

export type MapOutcome =
  | { readonly status: 'mapped' | 'already'; readonly path: string; readonly partition: string }
  | {
      readonly status: 'broken';
      readonly path: string;
      readonly broken: Omit<BrokenFile, 'bytes' | 'mtimeMs'>;
    };

/** Spark and DuckDB read this as null. */
const NO_RANK = '__HIVE_DEFAULT_PARTITION__';

/** Throws where the lake cannot be written; what is wrong with the file is an outcome. */
export async function mapFile(task: MapTask): Promise<MapOutcome> {
  const lake = Lake.open(task.lake);
  const source = sourceFile(task.path);
  let read: Awaited<ReturnType<typeof readFile>>;
  try {
    const file = await contentHash(task.path);
    const claim = lake.claimOf(file);
    if (claim) return { status: 'already', path: task.path, partition: claim.partition };
    read = await readFile(task, source.bytes, file);
  } catch (error) {
    const broken = { ...source, ...reasonOf(error) };
    lake.recordBroken(broken);
    return { status: 'broken', path: task.path, broken };
  }
  const { file, rank, rows } = read;
  const run = partitionValue(task.run ?? runOfPath(task.path));
  const partition = path.join(`run=${run}`, `rank=${rank ?? NO_RANK}`, `file=${file}`);
  const folder = makeTemporaryFolder('stepscope-map-', lake.own('_tmp'));
  try {
    const draft = path.join(folder, 'partition');
    fs.mkdirSync(draft);
    await writeTables(draft, rows);
    const claim = lake.commit(draft, { file, ...source, partition, summary: summaryOf(rows) });
    const status = claim.path === task.path ? 'mapped' : 'already';
    return { status, path: task.path, partition: claim.partition };
  } finally {
    removeTemporaryFolder(folder);
  }
}

async function readFile(task: MapTask, bytes: number, file: string) {
  // One thread: the others map files of their own.
  const profile = await openProfile([task.path, ...(await recordedWith([task.path]))], {
    tables: tablesReadBy(fileSources),
    workers: 0,
  });
  const broken = brokenFile(profile);
  // What is left of a run is no run: its sums would look like a change.
  if (broken)
    throw new UserError(
      'damaged',
      `${task.path} is truncated or damaged (${broken.text}).`,
      'Copy or export it again, and check its size.',
    );
  const facts = { path: task.path, bytes, tool: task.tool, labels: task.labels };
  const rows = fileRows(new Analyzer(profile), facts);
  return { file, rank: rankOfFile(profile), rows };
}

/** Of the file and of what was recorded with it: another log is another result. */
async function contentHash(file: string): Promise<string> {
  const parts = isTableFolder(file)
    ? tableFiles(file).map(table => path.join(file, table))
    : [file, ...(await recordedWith([file]))];
  const [first, ...others] = parts;
  const own = await sha256Of(first);
  if (others.length === 0) return own.slice(0, 32);
  const hash = createHash('sha256').update(own);
  for (const part of others) hash.update(await sha256Of(part));
  return hash.digest('hex').slice(0, 32);
}

function reasonOf(error: unknown): Pick<BrokenFile, 'code' | 'message' | 'hint'> {
  if (error instanceof UserError) return { code: error.code, message: error.message, hint: error.hint };
  const { code, syscall, message, stack } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && typeof syscall === 'string')
    return { code, message, hint: 'Check the path and the permissions of the file.' };
  // Our own mistake must not stop the other files, and must not get lost either.
  return { code: 'bug', message, hint: `This is a bug in Stepscope: ${stack?.split('\n')[1]?.trim()}` };
}
