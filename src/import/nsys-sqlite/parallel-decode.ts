/**
 * Decodes the leaf pages of many tables on several threads. The columns are shared memory, so nothing is copied:
 * each thread takes the next few leaves from a common counter and writes its rows where they belong.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Leaves } from '../../base/sqlite/btree.js';
import { decodeLeaves } from '../../base/sqlite/decode-leaves.js';
import type { CompactPart, Decoded, DecodePlan } from '../../base/sqlite/decode-plan.js';
import type { SqlitePages } from '../../base/sqlite/pages.js';
import { UserError } from '../../base/user-error.js';
import { breather } from '../breathe.js';

export interface DecodeJob {
  readonly leaves: Leaves;
  readonly plan: DecodePlan;
  /** Text goes through a callback, which cannot cross threads. */
  readonly thisThreadOnly: boolean;
}

interface Task {
  readonly job: number;
  readonly from: number;
  readonly to: number;
}

/** Below this many rows starting a thread costs more than it saves. */
const ROWS_WORTH_A_WORKER = 200_000;
/** About 4 MB of file at a time: even shares at the end, few trips to the counter. */
const LEAVES_PER_TASK = 1024;

/** A file of so many bytes has rows enough: threads start while its tables are looked through. */
const BYTES_WORTH_A_WORKER = 64e6;

const mostHelpers = (workers: number | undefined): number =>
  Math.min(availableParallelism() - 1, 7, workers ?? 7);

/** Threads that wait for jobs. Those that `decodeAll` leaves in the list are to be ended. */
export function startDecoders(fileBytes: number, workers: number | undefined): Worker[] {
  const count = fileBytes < BYTES_WORTH_A_WORKER ? 0 : Math.max(0, mostHelpers(workers));
  return Array.from({ length: count }, startDecoder);
}

const startDecoder = () => new Worker(new URL('./decode-worker.js', import.meta.url));

/** Runs all jobs; says for each what could not be read. */
export async function decodeAll(
  pages: SqlitePages,
  fd: number,
  jobs: readonly DecodeJob[],
  { workers, started }: { readonly workers: number | undefined; readonly started: Worker[] },
  onProgress: (done: number) => void,
): Promise<Decoded[]> {
  const tasks: Task[] = [];
  let rows = 0;
  jobs.forEach((job, index) => {
    if (job.thisThreadOnly) return;
    rows += job.leaves.rows;
    const count = job.leaves.pages.length;
    for (let from = 0; from < count; from += LEAVES_PER_TASK) {
      tasks.push({ job: index, from, to: Math.min(count, from + LEAVES_PER_TASK) });
    }
  });
  const useful = rows < ROWS_WORTH_A_WORKER ? 0 : tasks.length - 1;
  const helpers = Math.max(0, Math.min(useful, mostHelpers(workers)));
  const next = new Int32Array(new SharedArrayBuffer(4));
  const losses = jobs.map(() => ({
    badRows: [] as number[],
    oddPages: 0,
    misfits: 0,
    parts: [] as CompactPart[],
  }));
  const merge = (found: JobLosses) => {
    for (const [job, { badRows, oddPages, misfits, parts }] of found) {
      for (const part of parts) losses[job].parts.push(part);
      for (const row of badRows) losses[job].badRows.push(row);
      losses[job].oddPages += oddPages;
      losses[job].misfits += misfits;
    }
  };

  const running = Array.from({ length: helpers }, () =>
    lossesOf(started.shift() ?? startDecoder(), { fd, size: pages.source.size, jobs, tasks, next }),
  );
  const breathe = breather();
  for (const [index, job] of jobs.entries()) {
    if (!job.thisThreadOnly) continue;
    merge([[index, decodeLeaves(pages, job.leaves, job.plan)]]);
    await breathe();
  }
  for (;;) {
    const done = runTask(pages, jobs, tasks, next);
    if (!done) break;
    merge([done.losses]);
    onProgress(done.taken / tasks.length);
    await breathe();
  }
  for (const worker of running) merge(await worker);
  for (const { parts } of losses) parts.sort((a, b) => a.first - b.first);
  return losses;
}

/** What each task lost, by job. */
type JobLosses = [job: number, losses: Decoded][];

/** Takes the next task, if one is left. */
function runTask(
  pages: SqlitePages,
  jobs: readonly DecodeJob[],
  tasks: readonly Task[],
  next: Int32Array,
): { readonly taken: number; readonly losses: JobLosses[number] } | undefined {
  const taken = Atomics.add(next, 0, 1);
  if (taken >= tasks.length) return undefined;
  const { job, from, to } = tasks[taken];
  return { taken, losses: [job, decodeLeaves(pages, jobs[job].leaves, jobs[job].plan, from, to)] };
}

/** Takes tasks until none is left. */
export function runTasks(
  pages: SqlitePages,
  jobs: readonly DecodeJob[],
  tasks: readonly Task[],
  next: Int32Array,
): JobLosses {
  const found: JobLosses = [];
  for (let done = runTask(pages, jobs, tasks, next); done; done = runTask(pages, jobs, tasks, next))
    found.push(done.losses);
  return found;
}

export interface WorkerInput {
  readonly fd: number;
  readonly size: number;
  readonly jobs: readonly DecodeJob[];
  readonly tasks: readonly Task[];
  readonly next: Int32Array;
}

export type WorkerAnswer =
  | { readonly losses: JobLosses }
  | { readonly failed: ConstructorParameters<typeof UserError> };

function lossesOf(worker: Worker, input: WorkerInput): Promise<JobLosses> {
  const jobs = input.jobs.map(job =>
    job.thisThreadOnly ? { ...job, plan: { sinks: [], rowIdColumn: -1 } } : job,
  );
  worker.postMessage({ ...input, jobs } satisfies WorkerInput);
  const result = new Promise<JobLosses>((resolve, reject) => {
    let answer: WorkerAnswer | undefined;
    worker.once('message', (given: WorkerAnswer) => {
      answer = given;
    });
    // Until a thread has ended it holds what it was given: columns, and ids as large that nobody needs any more.
    worker.once('exit', () => {
      if (!answer) reject(new Error('a thread ended without an answer'));
      else if ('losses' in answer) resolve(answer.losses);
      else reject(new UserError(...answer.failed));
    });
    worker.once('error', reject);
  });
  // Handled where it is awaited; without this an early failure would count as unhandled.
  result.catch(() => {});
  return result;
}
