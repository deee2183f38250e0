/**
 * A server under the profiler: the steps of the plan are followed while it runs. However that ends, the server is
 * stopped, unless it was to be kept and everything went well.
 */
import * as fs from 'node:fs';
import { UserError } from '../../base/user-error.js';
import type { PlanStep } from '../capture-plan.js';
import { sleep } from './marked-processes.js';
import { type RunOptions, type RunResult, runFailure, runPlan, terminalInterrupts } from './run-plan.js';
import type { PlannedFile, Runnable } from './runnable.js';
import { callServer, type LoadLevels, waitForServer } from './server-calls.js';
import { isWrittenReport, OutputWatch, type WrittenFile } from './written-files.js';

interface ServerOptions extends RunOptions {
  readonly url: string;
  readonly load: LoadLevels;
  readonly keepServer?: boolean;
  readonly healthTimeoutMs?: number;
  /** How long reports may take to appear after the load. */
  readonly reportTimeoutMs?: number;
}

/** Followed here; `start` and `stop` are whoever calls. */
interface Doing {
  readonly signal: AbortSignal;
  readonly lastLine: () => string;
  readonly watch: OutputWatch;
}

export async function runServer(
  plan: Runnable & { readonly steps: readonly PlanStep[] },
  options: ServerOptions,
): Promise<RunResult> {
  const aborted = new AbortController();
  const watch = OutputWatch.begin(plan.outputs, options.force === true);
  let lastLine = '';
  let request = () => {};
  let letGo = () => {};
  const released = new Promise<void>(resolve => {
    letGo = resolve;
  });
  const unlisten = (options.stop ?? terminalInterrupts).listen(() => {
    aborted.abort();
    request();
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
      options.onLine?.(line);
    },
  });
  const ended = running.then(
    () => aborted.abort(),
    () => aborted.abort(),
  );
  const doing: Doing = { signal: aborted.signal, lastLine: () => lastLine, watch };
  let failure: unknown;
  let asPlanned = false;
  try {
    for (const step of plan.steps) {
      if (aborted.signal.aborted) break;
      if (step.do === 'stop' && !options.keepServer) {
        asPlanned = true;
        request();
      } else if (step.do === 'wait-exit' && !options.keepServer) await ended;
      else await follow(step, options, doing);
    }
    if (options.keepServer && !aborted.signal.aborted) letGo();
    else if (!plan.steps.some(step => step.do === 'stop' || step.do === 'wait-exit')) request();
  } catch (error) {
    failure = error;
    request();
  }
  try {
    const result = await running;
    // A server that ended by itself says more than the question it left without an answer.
    if (failure && !result.files.some(isWrittenReport) && result.status !== 0 && !result.stoppedBy)
      throw runFailure(result) ?? failure;
    if (failure) throw failure;
    if (!asPlanned || result.stoppedBy !== 'interrupt') return result;
    // The plan's own stop is no interrupt of the user's.
    const { stoppedBy: _, ...rest } = result;
    return rest;
  } finally {
    unlisten();
  }
}

/** The engine's own start and stop addresses, of a server that runs already: nothing is started or ended here. */
export async function attachServer(
  steps: readonly PlanStep[],
  outputs: readonly PlannedFile[],
  options: Omit<ServerOptions, keyof RunOptions> &
    Pick<RunOptions, 'onNotice' | 'stop'> & {
      /** The engine closes the window itself after the steps asked for. */
      readonly closesItself?: boolean;
    },
): Promise<WrittenFile[]> {
  const aborted = new AbortController();
  const unlisten = (options.stop ?? terminalInterrupts).listen(() => aborted.abort());
  const doing: Doing = {
    signal: aborted.signal,
    lastLine: () => '',
    watch: OutputWatch.begin(outputs, true),
  };
  const stopping = steps.findLastIndex(step => step.do === 'http');
  let begun = false;
  try {
    for (const [at, step] of steps.entries()) {
      if (at === stopping && begun) break;
      if (aborted.signal.aborted) break;
      await follow(step, options, doing);
      begun ||= step.do === 'http';
    }
  } finally {
    unlisten();
    // Profiling must not go on in a server that is not ours, whatever happened in between.
    const last = steps[stopping];
    if (begun && last?.do === 'http') await stopProfile(last.url, options);
  }
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

async function follow(
  step: PlanStep,
  options: Pick<ServerOptions, 'healthTimeoutMs' | 'reportTimeoutMs' | 'load' | 'url' | 'onNotice'>,
  { signal, lastLine, watch }: Doing,
): Promise<void> {
  const say = (text: string) => options.onNotice?.(text);
  if (step.do === 'wait-http') {
    say('waiting for the server');
    await waitForServer(step.url, options.healthTimeoutMs ?? step.timeoutS * 1000, { signal, lastLine });
  } else if (step.do === 'http') {
    say(step.why);
    await callServer(step.url, step.body, signal);
  } else if (step.do === 'load') {
    await options.load.run(options.url, { signal, onNotice: say });
  } else if (step.do === 'wait-reports') {
    say('waiting for the report');
    await waitForReports(watch, options.reportTimeoutMs ?? 300_000, signal);
  }
}

/** There, and no longer growing. */
async function waitForReports(watch: OutputWatch, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const until = Date.now() + timeoutMs;
  let before = '';
  while (Date.now() < until && !signal.aborted) {
    const files = watch.written().filter(({ path: file }) => fs.existsSync(file));
    const now = files.map(({ path: file, bytes }) => `${file} ${bytes}`).join('\n');
    if (files.some(isWrittenReport) && now === before) return;
    before = now;
    await sleep(1000);
  }
  if (!signal.aborted)
    throw new UserError(
      'capture-failed',
      'No report was written after the load.',
      'The run did not reach the window: request earlier iterations, or send more requests.',
    );
}
