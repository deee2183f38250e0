/**
 * A program that serves, about which we know only its address. With our agent in it, its steps are counted and a window
 * can be opened by writing a file; without it, everything from start to stop is recorded.
 */
import type { CaptureOptions, PlanStep } from './capture-plan.js';
import { demandOf, goalWords, requestShape } from './window-goal.js';

const READY_TIMEOUT_S = 1800;

/** Files that the agent writes and reads while the program runs. */
export const agentFiles = (stem: string) => ({
  progress: `${stem}.progress.json`,
  trigger: `${stem}.trigger`,
});

export function servingSteps(
  url: string,
  options: CaptureOptions,
  env: Readonly<Record<string, string>>,
): PlanStep[] {
  return [
    { do: 'start' },
    { do: 'wait-http', url, timeoutS: READY_TIMEOUT_S },
    ...loadSteps(options, env),
    { do: 'stop', signal: 'SIGINT', why: 'the report is written when the profiler stops' },
  ];
}

export function loadSteps(
  options: CaptureOptions,
  { STEPSCOPE_PROGRESS: progress, STEPSCOPE_TRIGGER: trigger }: Readonly<Record<string, string>>,
): PlanStep[] {
  const shape = requestShape(options);
  const demand = demandOf(options);
  const last = options.iterations?.at(-1)?.last;
  if (progress !== undefined && last !== undefined)
    return [{ do: 'load', why: 'until the window has ended', until: { iteration: last }, shape }];
  if (!demand || trigger === undefined) return [{ do: 'load', why: 'to profile' }];
  return [
    { do: 'load', why: goalWords(demand.goal), until: demand.goal, shape },
    { do: 'trigger', file: trigger, steps: demand.steps, why: 'opens the window' },
    { do: 'load', why: 'until these steps are done', until: { steps: demand.steps }, shape },
  ];
}
