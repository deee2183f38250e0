/**
 * The second run of `capture --calibrate`: the same command and load, the same steps, no profiler. Whatever happens in
 * it, the capture is complete without it.
 */
import { UserError } from '../../base/user-error.js';
import type { PlanCalibration, PlanStep } from '../../capture/capture-plan.js';
import { type RunOptions, type RunResult, runPlan } from '../../capture/run/run-plan.js';
import { runServer } from '../../capture/run/run-server.js';
import type { WrittenFile } from '../../capture/run/written-files.js';
import type { Output } from '../output.js';

/** How a program that serves is waited for, loaded and stopped. */
interface Serving {
  readonly steps: readonly PlanStep[];
  readonly options: Omit<Parameters<typeof runServer>[1], keyof RunOptions>;
}

export async function runCalibration(
  { command, env, outputs }: PlanCalibration,
  options: RunOptions,
  serving: Serving | undefined,
  output: Output,
): Promise<readonly WrittenFile[]> {
  const run = { command, env, outputs, nsysAt: -1 };
  let result: RunResult;
  options.onNotice?.('running the same steps again, without a profiler');
  try {
    result = serving
      ? await runServer({ ...run, steps: serving.steps }, { ...options, ...serving.options })
      : await runPlan(run, options);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    output.err(`stepscope: the second run failed: ${error.message}\n`);
    return [];
  }
  const files = result.files.filter(({ bytes }) => bytes > 0);
  if (files.length === 0) {
    const how = result.stoppedBy ? 'was stopped' : 'ended';
    output.err(
      `stepscope: the second run ${how} before these steps; what they take without a profiler was not measured.\n`,
    );
  } else if (result.status !== 0 && result.status !== null && !result.stoppedBy)
    output.err(`stepscope: the second run ended with status ${result.status}; its step times are used.\n`);
  return files;
}
