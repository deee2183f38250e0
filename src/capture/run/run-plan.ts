/**
 * Runs a plan here: no shell, a process group of its own, output passed through. The first interrupt asks the profiler
 * to stop and keep what it has, the second ends everything. Whatever happens, nothing that was started stays.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { onLostOutput } from '../../base/lost-output.js';
import { UserError } from '../../base/user-error.js';
import { STREAM_ENDING } from '../../catalog/file-formats.js';
import { iterationInLine } from '../../catalog/iteration-line.js';
import { PRIVATE_MODE, writeWhole } from '../../disk/write-whole.js';
import {
  type FreeBytes,
  freeBytesOf,
  NO_SPACE,
  placesWritten,
  RESERVE_BYTES,
  refuseFullDisk,
} from './free-space.js';
import { importStream } from './import-stream.js';
import { LogFile } from './log-file.js';
import {
  endMarked,
  MARK_VARIABLE,
  type MarkedProcess,
  newMark,
  nsysAmong,
  rememberDescendants,
  signalMarked,
  sleep,
} from './marked-processes.js';
import { isAgentReason, LastLines, OutputLines } from './output-lines.js';
import type { Runnable } from './runnable.js';
import { isWrittenReport, OutputWatch, reportsNamedIn, type WrittenFile } from './written-files.js';

export interface RunOptions {
  readonly force?: boolean;
  readonly timeoutMs?: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Each line the command prints. */
  readonly onLine?: (line: string) => void;
  readonly onIteration?: (iteration: number) => void;
  readonly onNotice?: (text: string) => void;
  /** Interrupts come from here; a test or a server run hands in its own. */
  readonly stop?: StopRequests;
  readonly freeBytes?: FreeBytes;
  /** How long nsys may take to write its report after it was asked to stop. */
  readonly graceMs?: number;
  /** Output goes here instead of a pipe: a server that lives on would end when nobody reads it any more. */
  readonly logFile?: string;
  /** When this comes first the command is let go: it runs on, and what it wrote so far counts. */
  readonly released?: Promise<void>;
  readonly onStarted?: (started: { readonly pid: number; readonly mark: string }) => void;
}

/** Calls back once for "stop and keep", once more for "end it". */
export interface StopRequests {
  listen(onRequest: () => void): () => void;
}

export type StoppedBy = 'interrupt' | 'timeout' | 'disk' | 'kill';

export interface RunResult {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stoppedBy?: StoppedBy;
  readonly files: readonly WrittenFile[];
  /** First and last the engine's own log named. */
  readonly iterations?: { readonly first: number; readonly last: number };
  readonly startedUtc: string;
  readonly endedUtc: string;
  /** What was still running afterwards and had to be ended. */
  readonly ended: readonly MarkedProcess[];
  readonly lastLines: readonly string[];
  readonly reason: string;
  /** Why the window was not recorded as asked for, where something was recorded nevertheless. */
  readonly incomplete?: UserError;
}

const GRACE_MS = 180_000;
const DISK_CHECK_MS = 2000;

/** A second request means "at once". A terminal that closes takes the output with it: both together are one request. */
export const terminalInterrupts: StopRequests = {
  listen(onRequest) {
    const signals = ['SIGINT', 'SIGTERM', 'SIGQUIT'] as const;
    let alone = false;
    const onAlone = () => {
      if (!alone) onRequest();
      alone = true;
    };
    for (const signal of signals) process.on(signal, onRequest);
    process.on('SIGHUP', onAlone);
    const unwatch = onLostOutput(onAlone);
    return () => {
      for (const signal of signals) process.off(signal, onRequest);
      process.off('SIGHUP', onAlone);
      unwatch();
    };
  },
};

export async function runPlan(plan: Runnable, options: RunOptions = {}): Promise<RunResult> {
  const userEnv = options.env ?? process.env;
  const folder = path.dirname(path.resolve(plan.outputs[0]?.pattern ?? '.'));
  const freeBytes = options.freeBytes ?? freeBytesOf;
  const watch = OutputWatch.begin(plan.outputs, options.force === true);
  const places = placesWritten(folder, userEnv);
  refuseFullDisk(places, (plan.estimate?.bytes ?? 0) + (plan.estimate?.temporaryBytes ?? 0), freeBytes);

  for (const file of plan.files ?? []) putFile(file, options.force === true);

  const mark = newMark();
  const startedUtc = new Date().toISOString();
  const lines = new LastLines();
  let seen: { first: number; last: number } | undefined;
  const take = (line: string) => {
    lines.add(line);
    options.onLine?.(line);
    const found = iterationInLine(line);
    if (!found) return;
    seen = { first: Math.min(seen?.first ?? Infinity, found.iteration), last: found.iteration };
    options.onIteration?.(found.iteration);
  };

  const log = options.logFile === undefined ? undefined : LogFile.open(options.logFile);
  const [program, ...args] = plan.command;
  const child = spawn(program, args, {
    detached: true,
    stdio: log ? ['ignore', log.fd, log.fd] : ['ignore', 'pipe', 'pipe'],
    env: { ...userEnv, ...plan.env, ...pathOf(plan.env, userEnv), [MARK_VARIABLE]: mark },
  });
  const both = [child.stdout, child.stderr].map(stream => {
    const reader = new OutputLines(take);
    stream?.setEncoding('utf8').on('data', text => reader.push(text));
    return reader;
  });
  const unfollow = log?.follow(text => both[0].push(text));
  if (child.pid !== undefined) options.onStarted?.({ pid: child.pid, mark });
  const forget = rememberDescendants(mark, child.pid);

  const closed = new Promise<void>(resolve => void child.once('close', () => resolve()));
  let stoppedBy: StoppedBy | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  /** Whoever asks to stop may come too late. */
  let over = false;
  const killAll = () => {
    toGroup(child.pid, 'SIGKILL');
    signalMarked(mark, 'SIGKILL');
  };
  const ask = (why: StoppedBy, notice: string) => {
    if (over || stoppedBy !== undefined) return;
    stoppedBy = why;
    options.onNotice?.(notice);
    // nsys alone: it stops collecting, writes the report and ends its program. A second signal to the program itself
    // would end it before its last ranges are written.
    const profilers = plan.nsysAt === 0 ? [child.pid] : plan.nsysAt > 0 ? nsysAmong(mark) : [];
    if (profilers.length > 0) for (const pid of profilers) toProcess(pid, 'SIGINT');
    else toGroup(child.pid, 'SIGINT');
    graceTimer = setTimeout(() => {
      options.onNotice?.('the command does not stop: killing all its processes');
      killAll();
    }, options.graceMs ?? GRACE_MS);
  };
  const onRequest = () => {
    if (stoppedBy === undefined)
      return ask('interrupt', 'stopping, keeping what was recorded (press again to kill it)');
    stoppedBy = 'kill';
    options.onNotice?.('killing all processes');
    killAll();
  };
  const unlisten = (options.stop ?? terminalInterrupts).listen(onRequest);
  const timeout =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => ask('timeout', 'timeout reached: stopping, keeping what was recorded'),
          options.timeoutMs,
        );
  const diskTimer = setInterval(() => {
    const full = places.find(place => freeBytes(place) < RESERVE_BYTES / 2);
    if (full) ask('disk', `the disk of ${full} is nearly full: stopping, keeping what was recorded`);
  }, DISK_CHECK_MS);

  let letGo = false;
  options.released?.then(() => {
    letGo = true;
  });
  const kept = () => letGo && stoppedBy === undefined;
  let ended: readonly MarkedProcess[] = [];
  let end: { status: number | null; signal: NodeJS.Signals | null };
  try {
    end = await new Promise((resolve, reject) => {
      child.once('error', error => reject(notStarted(program, error)));
      child.once('exit', (status, signal) => resolve({ status, signal }));
      options.released?.then(() => resolve({ status: null, signal: null }));
    });
    if (!kept()) ended = await endMarked(mark, 5000);
    // What it printed last may still be in the pipe; a process that was kept may hold it open.
    if (!kept()) await Promise.race([closed, sleep(1000)]);
  } finally {
    over = true;
    forget();
    clearTimeout(timeout);
    clearTimeout(graceTimer);
    clearInterval(diskTimer);
    unlisten();
    if (kept()) child.unref();
    else killAll();
    unfollow?.();
    child.stdout?.destroy();
    child.stderr?.destroy();
    for (const reader of both) reader.end();
  }
  const files = await reportsOf(watch, plan, lines.all());
  return {
    ...end,
    ...(stoppedBy ? { stoppedBy } : {}),
    files,
    ...(seen ? { iterations: seen } : {}),
    startedUtc,
    endedUtc: new Date().toISOString(),
    ended,
    lastLines: lines.all(),
    reason: lines.reason(),
  };
}

/** Next to the output; one of the same content is ours of a run before. */
function putFile({ path: file, text }: { path: string; text: string }, force: boolean): void {
  const there = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
  if (there === text) return;
  if (there !== undefined && !force)
    throw new UserError(
      'usage',
      `${file} already exists.`,
      'It would hold settings of the engine. Choose another -o, or overwrite it: --force',
    );
  writeWhole(file, text, { mode: PRIVATE_MODE });
}

/** A stream becomes a report where an importer is there. */
async function reportsOf(
  watch: OutputWatch,
  plan: Runnable,
  said: readonly string[],
): Promise<WrittenFile[]> {
  for (const { path: file, bytes } of watch.written())
    if (file.endsWith(STREAM_ENDING) && bytes > 0) await importStream(file, plan.command[plan.nsysAt]);
  const files = watch.written();
  if (files.some(({ kind }) => kind === 'nsys-report') || plan.nsysAt < 0) return files;
  const elsewhere = reportsNamedIn(said);
  if (elsewhere.length === 0) return files;
  throw new UserError(
    'capture-failed',
    `nsys wrote the report to ${elsewhere[0]} instead of the requested path.`,
    'Copy it from there; the requested name was taken or the folder was not writable.',
  );
}

/** What to say when a run left nothing to open; undefined when there is something. */
export function runFailure(result: RunResult, wantsReport = true): UserError | undefined {
  if (result.files.some(isWrittenReport)) return undefined;
  if (result.lastLines.some(line => NO_SPACE.test(line)))
    return new UserError(
      'no-space',
      'The disk filled up before the report was written.',
      'Free some disk space, choose another -o or TMPDIR, or capture fewer iterations.',
    );
  const how = result.signal ? `was killed by ${result.signal}` : `exited with status ${result.status}`;
  if (result.stoppedBy === 'interrupt' || result.stoppedBy === 'kill')
    return new UserError(
      'capture-failed',
      `Stopped before a report was written: the command ${how}.`,
      'One Ctrl-C stops and keeps what was recorded; with -c cudaProfilerApi, nothing is recorded before the window opens.',
    );
  const hint = isAgentReason(result.reason)
    ? 'The agent reports this. Run it in an environment whose PyTorch finds the GPU, or record a PyTorch trace: --torch-trace FILE'
    : result.status === 0
      ? 'It ended before the window: request earlier iterations, or send more requests.'
      : 'Run it without the profiler first; the lines above are its output.';
  return new UserError(
    'capture-failed',
    `${wantsReport ? 'No report was written: the' : 'The'} command ${how}${result.reason ? `: ${result.reason}` : ''}.`,
    hint,
  );
}

function notStarted(program: string, error: Error): UserError {
  const { code } = error as NodeJS.ErrnoException;
  const why =
    code === 'ENOENT'
      ? 'is not installed, or not on PATH'
      : code === 'EACCES'
        ? 'is not executable for this user'
        : error.message;
  return new UserError(
    'capture-failed',
    `${program} ${why}.`,
    'stepscope doctor shows what is missing on this machine.',
  );
}

function toProcess(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

const toGroup = (pid: number | undefined, signal: NodeJS.Signals) => {
  if (pid !== undefined) toProcess(-pid, signal);
};

/** What is on Python's path already stays on it, behind what the plan puts there. */
export function pathOf(
  planned: Readonly<Record<string, string>>,
  own: { readonly PYTHONPATH?: string },
): Record<string, string> {
  if (planned.PYTHONPATH === undefined || !own.PYTHONPATH) return {};
  return { PYTHONPATH: `${planned.PYTHONPATH}:${own.PYTHONPATH}` };
}
