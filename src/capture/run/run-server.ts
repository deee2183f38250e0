/**
 * A server under the profiler: the steps of the plan are followed while it runs. However that ends, the server is
 * stopped, unless it was to be kept and everything went well.
 */
import * as fs from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { writeWhole } from '../../disk/write-whole.js';
import type { PlanStep } from '../capture-plan.js';
import { WindowDriver } from './drive-window.js';
import { EngineWatch, textIn } from './engine-watch.js';
import { sleep } from './marked-processes.js';
import { agentReasonIn } from './output-lines.js';
import {
  AGENT_HINT,
  type RunOptions,
  type RunResult,
  runFailure,
  runPlan,
  terminalInterrupts,
} from './run-plan.js';
import type { PlannedFile, Runnable } from './runnable.js';
import { callServer, isAnswering, type LoadLevels, waitForServer } from './server-calls.js';
import { isWrittenReport, OutputWatch, type WrittenFile } from './written-files.js';

interface ServerOptions extends RunOptions {
  readonly url: string;
  readonly load: LoadLevels;
  readonly keepServer?: boolean;
  readonly healthTimeoutMs?: number;
  /** How long reports may take to appear after the load. */
  readonly reportTimeoutMs?: number;
  /** How long a driven load may show no progress. */
  readonly patienceMs?: number;
  /** How far the window is, in words; often. */
  readonly onProgress?: (text: string) => void;
}

/** Followed here; `start` and `stop` are whoever calls. */
interface Doing {
  readonly signal: AbortSignal;
  readonly lastLine: () => string;
  readonly watch: OutputWatch;
  readonly engine: EngineWatch;
  readonly driver: WindowDriver;
  /** Between the requests that open and close a window: where it is closed. */
  closing?: { readonly url: string } | undefined;
  isWatching?: true;
  /** Why our agent in the program records nothing. */
  agentReason?: string | undefined;
  /** Of our agent in the program. */
  progressFile?: string | undefined;
  /** Of the window, where it has a number. */
  lastIteration?: number | undefined;
}

/** No use in waiting for a report that nobody writes. */
function hopeless({ agentReason }: Doing): UserError | undefined {
  if (agentReason === undefined) return undefined;
  return new UserError('capture-failed', `No report will be written: ${agentReason}.`, AGENT_HINT);
}

function beginDoing(
  { url, load, onNotice, onProgress, patienceMs }: FollowOptions,
  outputs: readonly PlannedFile[],
  { signal, lastLine, force }: { signal: AbortSignal; lastLine: () => string; force: boolean },
): Doing {
  const watch = OutputWatch.begin(outputs, force);
  const engine = new EngineWatch();
  const wanted = outputs.reduce(
    (sum, { kind, count }) => sum + (kind === 'agent-sidecar' ? 0 : (count ?? 1)),
    0,
  );
  const driver: WindowDriver = new WindowDriver({
    ...{ url, load, engine, signal },
    hopeless: () => hopeless(doing),
    isWritten: () => wanted > 0 && watch.written().filter(isWrittenReport).length >= wanted,
    say: text => onNotice?.(text),
    progress: text => onProgress?.(text),
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
  const doing: Doing = { signal, lastLine, watch, engine, driver };
  return doing;
}

export async function runServer(
  plan: Runnable & { readonly steps: readonly PlanStep[] },
  options: ServerOptions,
): Promise<RunResult> {
  await refuseOther(plan.steps);
  const aborted = new AbortController();
  let lastLine = '';
  const doing = beginDoing(options, plan.outputs, {
    signal: aborted.signal,
    lastLine: () => lastLine,
    force: options.force === true,
  });
  doing.progressFile = plan.env.STEPSCOPE_PROGRESS;
  const passing = [plan.env.STEPSCOPE_PROGRESS, plan.env.STEPSCOPE_TRIGGER].filter(
    file => file !== undefined,
  );
  for (const file of passing) fs.rmSync(file, { force: true });
  let isInterrupted = false;
  let request = () => {};
  let letGo = () => {};
  const released = new Promise<void>(resolve => {
    letGo = resolve;
  });
  const unlisten = (options.stop ?? terminalInterrupts).listen(() => {
    const isFirst = !aborted.signal.aborted;
    isInterrupted = true;
    aborted.abort();
    // An engine that writes its own traces loses them when it is stopped while it records.
    if (isFirst && plan.nsysAt < 0 && doing.closing)
      void closeWindow(doing.closing, options).finally(request);
    else request();
  });
  const running = runPlan(plan, {
    ...options,
    stop: {
      listen(onRequest) {
        request = onRequest;
        return () => {};
      },
    },
    released,
    onLine: line => {
      lastLine = line;
      doing.engine.hear(line);
      doing.agentReason ??= agentReasonIn(line);
      options.onLine?.(line);
    },
  });
  const ended = running.then(
    () => aborted.abort(),
    () => aborted.abort(),
  );
  let failure: unknown;
  let asPlanned = false;
  try {
    for (const [at, step] of plan.steps.entries()) {
      if (aborted.signal.aborted) break;
      if (step.do === 'stop' && !options.keepServer) {
        asPlanned = true;
        request();
      } else if (step.do === 'wait-exit' && !options.keepServer) await ended;
      else await follow(step, options, doing, plan.steps.slice(at + 1));
    }
    if (options.keepServer && !aborted.signal.aborted) letGo();
    else if (!plan.steps.some(step => step.do === 'stop' || step.do === 'wait-exit')) request();
  } catch (error) {
    // What breaks off because the user stopped it is no failure, and a second request would kill the profiler.
    if (!isInterrupted) failure = error;
    // A server that does not respond may be ending: its own reason says more than ours.
    if (error instanceof UserError && error.code === 'unreachable')
      await Promise.race([ended, sleep(ENDING_MS)]);
    if (plan.nsysAt < 0 && doing.closing && !aborted.signal.aborted)
      await closeWindow(doing.closing, options);
    if (!isInterrupted) request();
  }
  try {
    await doing.driver.end();
    const result = await running;
    const isKept = result.files.some(isWrittenReport);
    // A server that ended by itself says more than the question it left without an answer.
    if (failure && !isKept && result.status !== 0 && !result.stoppedBy)
      throw runFailure(result, plan.outputs.length > 0) ?? failure;
    // What was recorded before it went wrong is kept, and shown with the reason.
    if (failure instanceof UserError && isKept) {
      const { stoppedBy: _, ...rest } = result;
      return { ...rest, incomplete: failure };
    }
    if (failure) throw failure;
    if (!asPlanned || result.stoppedBy !== 'interrupt') return result;
    // The plan's own stop is no interrupt of the user's.
    const { stoppedBy: _, ...rest } = result;
    return rest;
  } finally {
    aborted.abort();
    unlisten();
    for (const file of passing) fs.rmSync(file, { force: true });
  }
}

/** Requests would go to a server that is not profiled, and every result would be of that one. */
async function refuseOther(steps: readonly PlanStep[]): Promise<void> {
  const waiting = steps.find(step => step.do === 'wait-http');
  if (!waiting || !(await isAnswering(waiting.url))) return;
  throw new UserError(
    'usage',
    `${new URL(waiting.url).origin} already responds before the command is started: another server runs there.`,
    'Stop it, or choose another port. To profile the running server: --attach --server URL',
  );
}

const CLOSE_MS = 120_000;
const ENDING_MS = 2000;

/** Best effort: the engine may be the reason why it is closed. */
async function closeWindow(
  { url }: { readonly url: string },
  { onNotice }: Pick<RunOptions, 'onNotice'>,
): Promise<void> {
  onNotice?.('closing the window, so that the engine writes what it recorded');
  try {
    await callServer(url, undefined, AbortSignal.timeout(CLOSE_MS));
  } catch (error) {
    onNotice?.((error as Error).message);
  }
}

/** The engine's own start and stop addresses, of a server that runs already: nothing is started or ended here. */
export async function attachServer(
  steps: readonly PlanStep[],
  outputs: readonly PlannedFile[],
  options: Omit<ServerOptions, keyof RunOptions> &
    Pick<RunOptions, 'onNotice' | 'stop' | 'timeoutMs'> & {
      /** The engine closes the window itself after the steps asked for. */
      readonly closesItself?: boolean;
    },
): Promise<WrittenFile[]> {
  const aborted = new AbortController();
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
    aborted.abort();
  };
  const unlisten = (options.stop ?? terminalInterrupts).listen(interrupt);
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(interrupt, options.timeoutMs);
  const doing = beginDoing(options, outputs, { signal: aborted.signal, lastLine: () => '', force: true });
  const stopping = steps.findLastIndex(step => step.do === 'http');
  let begun = false;
  try {
    for (const [at, step] of steps.entries()) {
      if (at === stopping && begun) break;
      if (aborted.signal.aborted) break;
      // Interrupted in the middle of it, the server may have begun.
      await follow(step, options, doing, steps.slice(at + 1)).catch(error => {
        if (!isInterrupted) throw error;
      });
      begun ||= step.do === 'http';
    }
  } finally {
    unlisten();
    clearTimeout(timer);
    aborted.abort();
    await doing.driver.end();
    // Profiling must not go on in a server that is not ours, whatever happened in between.
    const last = steps[stopping];
    if (begun && last?.do === 'http') await stopProfile(last.url, options);
  }
  if (!begun && isInterrupted)
    throw new UserError(
      'capture-failed',
      'Stopped before the window opened: nothing was recorded.',
      'The server runs on as before.',
    );
  return doing.watch.written();
}

/** An engine that counts steps has often closed the window before it is asked to, and then answers with an error. */
async function stopProfile(
  url: string,
  { closesItself, onNotice }: { closesItself?: boolean } & Pick<RunOptions, 'onNotice'>,
): Promise<void> {
  try {
    await callServer(url, undefined, new AbortController().signal);
  } catch (error) {
    if (!closesItself || !(error instanceof UserError) || error.code !== 'capture-failed') throw error;
    onNotice?.('the server is no longer recording: the requested steps are done, or were not reached');
  }
}

type FollowOptions = Pick<
  ServerOptions,
  'healthTimeoutMs' | 'reportTimeoutMs' | 'load' | 'url' | 'onNotice' | 'onProgress' | 'patienceMs'
> &
  FarFiles;

/** Of our agent in a program on another machine. */
interface FarFiles {
  readonly trigger?: (file: string, text: string) => Promise<void>;
  readonly progress?: () => Promise<string | undefined>;
}

const FOLLOWED: ReadonlySet<PlanStep['do']> = new Set(['wait-http', 'http', 'load', 'trigger']);

/** The requests of a plan whose server somebody else starts, ends and fetches the files of. */
export async function followSteps(
  steps: readonly PlanStep[],
  { signal, ...options }: FollowOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const doing = beginDoing(options, [], { signal: ended.signal, lastLine: () => '', force: true });
  let isDone = false;
  try {
    for (const [at, step] of steps.entries()) {
      if (signal.aborted) return;
      if (FOLLOWED.has(step.do)) await follow(step, options, doing, steps.slice(at + 1));
    }
    isDone = true;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await doing.driver.end();
    if (!isDone && doing.closing) await closeWindow(doing.closing, options);
  }
}

async function follow(
  step: PlanStep,
  options: FollowOptions,
  doing: Doing,
  next: readonly PlanStep[],
): Promise<void> {
  const { signal, lastLine, engine, driver } = doing;
  const say = (text: string) => options.onNotice?.(text);
  if (step.do === 'wait-http') {
    say('waiting for the server');
    await waitForServer(step.url, options.healthTimeoutMs ?? step.timeoutS * 1000, { signal, lastLine });
  } else if (step.do === 'http') {
    say(step.why);
    await callServer(step.url, step.body, signal);
    doing.closing = closingOf(step, next);
  } else if (step.do === 'load') {
    if (!step.until || !step.shape || !options.load.drive) {
      await options.load.run(options.url, { signal, onNotice: say });
      return;
    }
    const { progressFile } = doing;
    const progress = progressFile === undefined ? options.progress : () => textIn(progressFile);
    if (!doing.isWatching) void engine.follow(options.url, signal, progress);
    doing.isWatching = true;
    doing.lastIteration = step.until.iteration;
    await driver.until(step.until, step.shape);
    if (!next.some(later => later.do === 'load')) await driver.end();
  } else if (step.do === 'trigger') {
    say(step.why);
    if (options.trigger) await options.trigger(step.file, String(step.steps));
    else writeWhole(step.file, String(step.steps));
  } else if (step.do === 'wait-reports') {
    say('waiting for the report');
    await waitForReports(doing, options.reportTimeoutMs ?? 300_000);
  }
}

/** An engine that closes the window itself can be asked to close it earlier. */
function closingOf({ url }: { readonly url: string }, next: readonly PlanStep[]): Doing['closing'] {
  const later = next.find(step => step.do === 'http');
  if (later) return later;
  return /\/start_profile$/.test(url) ? { url: url.replace(/start_profile$/, 'stop_profile') } : undefined;
}

/** There, and no longer growing. */
async function waitForReports(doing: Doing, timeoutMs: number): Promise<void> {
  const { watch, engine, signal, lastIteration: last } = doing;
  const until = Date.now() + timeoutMs;
  let before = '';
  while (Date.now() < until && !signal.aborted) {
    const reason = hopeless(doing);
    if (reason) throw reason;
    const files = watch.written().filter(({ path: file }) => fs.existsSync(file));
    const now = files.map(({ path: file, bytes }) => `${file} ${bytes}`).join('\n');
    if (files.some(isWrittenReport) && now === before) return;
    before = now;
    await sleep(1000);
  }
  if (!signal.aborted) throw noReport(engine.counters().iteration, last, timeoutMs);
}

function noReport(iteration: number | undefined, last: number | undefined, timeoutMs: number): UserError {
  if (iteration !== undefined && last !== undefined && iteration > last)
    return new UserError(
      'capture-failed',
      `No report was written within ${Math.round(timeoutMs / 1000)} s, although the engine is at iteration ${iteration}, past the window.`,
      'The engine did not open the range. Check its version (--engine-version) and its log for "Profiling started".',
    );
  return new UserError(
    'capture-failed',
    `No report was written after the load${iteration === undefined ? '' : `; the engine is at iteration ${iteration}`}.`,
    'The run did not reach the window: request earlier iterations, or send more requests.',
  );
}
