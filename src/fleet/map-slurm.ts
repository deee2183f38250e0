/**
 * Maps files with Slurm: one array job, a task per chunk. Whether a task is done is read from its result in the lake and
 * not from accounting, which many clusters do not have. A task that is gone without a result is submitted again, whether
 * it failed, its node died or somebody cancelled it; what it had mapped is in the lake and is not mapped twice.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { plural } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { shellQuote } from '../capture/shell-quote.js';
import type { MapEngine, MapRequest } from './map-files.js';
import { chunksOf, type JobFolder, outcomesOf, prepareJob, taskWords } from './map-job.js';
import { activeTasks, ControllerAway, cancelJob, submitArray } from './slurm.js';

interface SlurmOptions {
  /** How tasks call stepscope, as words. */
  readonly command: readonly string[];
  readonly workers: number;
  readonly chunkBytes?: number;
  readonly retries: number;
  /** Passed on to sbatch. */
  readonly submitOptions: readonly string[];
  /** Aborted: the job is cancelled. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly onState: (text: string) => void;
  readonly pollMs?: number;
}

const POLL_MS = 2_000;
/** Stands for the number of a task; in no name of a file. */
const TASK = '\0task\0';
/** A controller may be upgraded meanwhile; tasks go on without it. */
const PATIENCE_MS = 30 * 60_000;
/** Folders of other machines are seen late. */
const LATE_POLLS = 2;

export const mapWithSlurm =
  (options: SlurmOptions): MapEngine =>
  async (files, request, onDone) => {
    const job = prepareJob(request.lake, chunksOf(files, options.chunkBytes));
    const script = path.join(job.folder, 'task.sh');
    fs.writeFileSync(script, scriptOf(job, request, options), { mode: 0o755 });
    let open = new Set(job.chunks.keys());
    for (let attempt = 0; open.size > 0; attempt++) {
      if (attempt > options.retries) throw failed(job, open, options.retries);
      if (attempt > 0) options.say(`${plural(open.size, 'task')} ended without a result; submitting again.`);
      open = await runOnce(job, script, open, options, task => {
        for (const outcome of outcomesOf(job.folder, task)!) onDone(outcome);
      });
    }
  };

/** Submits some tasks and follows them to their end. Gives those that left no result. */
async function runOnce(
  { folder }: JobFolder,
  script: string,
  tasks: ReadonlySet<number>,
  { signal, submitOptions, workers, pollMs = POLL_MS, say, onState }: SlurmOptions,
  onResult: (task: number) => void,
): Promise<Set<number>> {
  const sbatch = [
    `--array=${[...tasks].join(',')}`,
    '--job-name=stepscope-fleet-map',
    `--output=${path.join(folder, 'logs', '%a-%A.log')}`,
    `--cpus-per-task=${workers}`,
    // Slurm would wait two minutes first, and a task that is gone is submitted again here.
    '--no-requeue',
    ...submitOptions,
  ];
  const job = await patiently(() => submitArray(script, sbatch), signal, pollMs);
  say(`Slurm job ${job}: ${plural(tasks.size, 'task')}, logs in ${path.join(folder, 'logs')}`);
  const waiting = new Set(tasks);
  const missed = new Map<number, number>();
  try {
    while (waiting.size > 0) {
      const active = await patiently(() => activeTasks(job), signal, pollMs);
      for (const task of [...waiting]) {
        if (outcomesOf(folder, task)) {
          waiting.delete(task);
          onResult(task);
        } else if (!active.has(task)) missed.set(task, (missed.get(task) ?? 0) + 1);
      }
      const gone = [...waiting].filter(task => (missed.get(task) ?? 0) > LATE_POLLS);
      if (gone.length === waiting.size) break;
      const running = [...active.values()].filter(state => state === 'RUNNING').length;
      onState(`Slurm job ${job}: ${running} running, ${tasks.size - waiting.size} of ${tasks.size} done`);
      await sleep(pollMs, undefined, { signal });
    }
  } catch (error) {
    // Whatever ends us, tasks that nobody waits for must not go on.
    await cancelJob(job).catch(() => undefined);
    if (signal.aborted) throw interrupted(job);
    throw error;
  }
  return waiting;
}

/** Asks until the controller answers. */
async function patiently<T>(question: () => Promise<T>, signal: AbortSignal, pollMs: number): Promise<T> {
  const giveUp = Date.now() + PATIENCE_MS;
  while (true) {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof ControllerAway)) throw error;
      if (Date.now() > giveUp)
        throw new UserError(
          'unreachable',
          `The Slurm controller has not answered for ${PATIENCE_MS / 60_000} minutes: ${error.message}`,
          'Run the same command again when it does: what is mapped stays in the lake.',
        );
      await sleep(pollMs, undefined, { signal });
    }
  }
}

function scriptOf({ folder }: JobFolder, request: MapRequest, { command, workers }: SlurmOptions): string {
  // The number is the only thing that differs, and the only part that the shell may expand.
  const words = taskWords(request, folder, TASK, workers).map(word =>
    word.split(TASK).map(shellQuote).join('"$SLURM_ARRAY_TASK_ID"'),
  );
  const line = [...command.map(shellQuote), ...words].join(' ');
  return `#!/bin/sh\n# One task of stepscope fleet map.\nexec ${line}\n`;
}

function failed({ folder, chunks }: JobFolder, open: ReadonlySet<number>, retries: number): UserError {
  const [first] = open;
  const files = [...open].reduce((sum, task) => sum + chunks[task].length, 0);
  return new UserError(
    'job-failed',
    `${plural(open.size, 'task')} with ${plural(files, 'file')} failed ${retries + 1} times${lastLogLine(folder, first)}.`,
    `The logs are in ${path.join(folder, 'logs')}. What was mapped is in the lake; the same command maps the rest.`,
  );
}

function lastLogLine(folder: string, task: number): string {
  const logs = path.join(folder, 'logs');
  const newest = fs
    .readdirSync(logs)
    .filter(name => name.startsWith(`${task}-`))
    .sort()
    .at(-1);
  if (newest === undefined) return '';
  const lines = fs.readFileSync(path.join(logs, newest), 'utf8').trim().split('\n');
  return lines[0] === '' ? '' : `; task ${task} last said: ${lines.at(-1)!.replace(/\.$/, '')}`;
}

const interrupted = (job: string) =>
  new UserError(
    'job-failed',
    `Interrupted: Slurm job ${job} was cancelled.`,
    'What was mapped is in the lake; the same command maps the rest.',
  );
