/**
 * Decodes the leaf pages of many tables on several threads. The columns are shared memory, so nothing is copied:
 * each thread takes the next few leaves from a common counter and writes its rows where they belong.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Leaves } from '../../base/sqlite/btree.js';
import { type DecodePlan, decodeLeaves } from '../../base/sqlite/decode.js';
import type { SqlitePages } from '../../base/sqlite/pages.js';

export interface DecodeJob {
  readonly leaves: Leaves;
  readonly plan: DecodePlan;
  /** Text goes through a callback, which cannot cross threads. */
  readonly thisThreadOnly: boolean;
}

export interface Task {
  readonly job: number;
  readonly from: number;
  readonly to: number;
}

/** Below this many rows starting a thread costs more than it saves. */
const ROWS_WORTH_A_WORKER = 200_000;
/** About 4 MB of file at a time: even shares at the end, few trips to the counter. */
const LEAVES_PER_TASK = 1024;

/** Runs all jobs; gives the rows of each that could not be read. */
export async function decodeAll(
  pages: SqlitePages,
  fd: number,
  jobs: readonly DecodeJob[],
  workers: number | undefined,
  onProgress: (done: number) => void,
): Promise<number[][]> {
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
  const useful = rows < ROWS_WORTH_A_WORKER ? 0 : Math.min(availableParallelism() - 1, 7, tasks.length - 1);
  const helpers = Math.max(0, Math.min(useful, workers ?? useful));
  const next = new Int32Array(new SharedArrayBuffer(4));
  const bad: number[][] = jobs.map(() => []);
  const merge = (found: Map<number, number[]>) => {
    for (const [job, list] of found) for (const row of list) bad[job].push(row);
  };

  const running = Array.from({ length: helpers }, () =>
    startWorker({ fd, size: pages.source.size, jobs, tasks, next }),
  );
  jobs.forEach((job, index) => {
    if (job.thisThreadOnly) merge(new Map([[index, decodeLeaves(pages, job.leaves, job.plan)]]));
  });
  merge(runTasks(pages, jobs, tasks, next, taken => onProgress(taken / tasks.length)));
  for (const worker of running) merge(await worker);
  return bad;
}

/** Takes tasks until none is left. */
export function runTasks(
  pages: SqlitePages,
  jobs: readonly DecodeJob[],
  tasks: readonly Task[],
  next: Int32Array,
  onTask: (taken: number) => void = () => {},
): Map<number, number[]> {
  const bad = new Map<number, number[]>();
  for (let taken = Atomics.add(next, 0, 1); taken < tasks.length; taken = Atomics.add(next, 0, 1)) {
    const { job, from, to } = tasks[taken];
    const rows = decodeLeaves(pages, jobs[job].leaves, jobs[job].plan, from, to);
    if (rows.length > 0) bad.set(job, [...(bad.get(job) ?? []), ...rows]);
    onTask(taken);
  }
  return bad;
}

export interface WorkerInput {
  readonly fd: number;
  readonly size: number;
  readonly jobs: readonly DecodeJob[];
  readonly tasks: readonly Task[];
  readonly next: Int32Array;
}

function startWorker(input: WorkerInput): Promise<Map<number, number[]>> {
  const jobs = input.jobs.map(job =>
    job.thisThreadOnly ? { ...job, plan: { sinks: [], rowIdColumn: -1 } } : job,
  );
  const worker = new Worker(new URL('./decode-worker.js', import.meta.url), {
    workerData: { ...input, jobs },
  });
  const result = new Promise<Map<number, number[]>>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  // Handled where it is awaited; without this an early failure would count as unhandled.
  result.catch(() => {});
  return result;
}
