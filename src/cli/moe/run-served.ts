/** The pair of an experiment with a server: each run starts it, loads it with the same requests, measures and stops it. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { PlanStep } from '../../capture/capture-plan.js';
import { readLaunch } from '../../capture/launchers.js';
import { readProgram } from '../../capture/read-command.js';
import { runServer } from '../../capture/run/run-server.js';
import type { LoadLevels } from '../../capture/run/server-calls.js';
import { presets } from '../../catalog/engine-programs.js';
import { writeWhole } from '../../disk/write-whole.js';
import { runLoad } from '../../load/run-load.js';
import {
  logOf,
  logsOf,
  resultOf,
  resultsOf,
  type ServedLoad,
} from '../../moe/describe/describe-experiment.js';
import type { ExperimentPlan, PlannedRun } from '../../moe/experiment/plan-experiment.js';
import { lengthsText } from '../../stats/lengths.js';
import { agentFolder } from '../capture/capture-question.js';
import { load } from '../commands/load.js';
import { loadPlan } from '../load-plan.js';
import type { Values } from '../options.js';
import type { Output } from '../output.js';
import { readCall } from '../read-call.js';
import { countsIn, type PairFiles } from './run-experiment.js';

export const servedOptions = [
  ...(['pressure', 'sent', 'sentInput', 'sentOutput', 'dataset', 'seed', 'server', 'healthTimeout'] as const),
] as const;
type ServedValues = Values<(typeof servedOptions)[number]>;

/** Large enough that experts see many tokens. */
const LEVEL = 'concurrent:32';
const READY_TIMEOUT_S = 1800;

export interface ServedExperiment {
  readonly load: ServedLoad;
  /** What both routers need: the agent, where the engine has no perfect router of its own. */
  readonly env: Readonly<Record<string, string>>;
  readonly healthTimeoutMs: number;
}

/** Undefined where the command ends by itself: then it brings its own load. */
export function servedExperiment(
  command: readonly string[],
  values: ServedValues,
): ServedExperiment | undefined {
  if (command.length === 0) return undefined;
  const program = readProgram(readLaunch(command).program);
  if (!program.server && values.server === undefined) return undefined;
  const url = values.server ?? `http://${program.address ?? `localhost:${presets[program.preset].port}`}`;
  const { pressure = LEVEL, sent, sentInput, sentOutput, dataset, seed } = values;
  const words = [
    ...['--levels', pressure, '--seed', String(seed)],
    ...(sent === undefined ? [] : ['--requests', String(sent)]),
    // The same prompts in every run; each starts with an empty prefix cache.
    ...(dataset === undefined ? ['--prefix', 'seeded'] : ['--dataset', dataset]),
    ...(sentInput ? ['--input-tokens', lengthsText(sentInput)] : []),
    ...(sentOutput ? ['--output-tokens', lengthsText(sentOutput)] : []),
  ];
  const byAgent = program.engine.package !== undefined && !program.engine.windowByVariable;
  const before = process.env.PYTHONPATH;
  return {
    load: { url: url.replace(/\/+$/, ''), words },
    env: byAgent ? { PYTHONPATH: `${agentFolder()}${before ? `:${before}` : ''}` } : {},
    healthTimeoutMs: (values.healthTimeout ?? READY_TIMEOUT_S * 1e9) / 1e6,
  };
}

export async function runServedExperiment(
  plan: ExperimentPlan,
  served: ServedExperiment,
  folder: string,
  output: Output,
): Promise<PairFiles> {
  fs.mkdirSync(folder, { recursive: true });
  for (const warning of plan.warnings) output.err(`note: ${warning}\n`);
  // Mistakes are told before a server takes minutes to load its model.
  readCall({ ...load, name: 'load' }, served.load.words, output);
  for (const run of plan.runs) await runOne(run, served, folder, output);
  return {
    learned: resultsOf(plan, folder, 'learned'),
    perfect: resultsOf(plan, folder, 'perfect'),
    ...countsIn(folder),
    perfectLogs: logsOf(plan, folder, 'perfect'),
  };
}

async function runOne(
  run: PlannedRun,
  { load: { url, words }, healthTimeoutMs }: ServedExperiment,
  folder: string,
  output: Output,
): Promise<void> {
  const logFile = logOf(folder, run);
  output.err(`${run.name}: ${run.command.join(' ')}\n`);
  const requests: LoadLevels = {
    async run(address, { signal }) {
      const { values } = readCall({ ...load, name: 'load' }, words, output);
      const document = await runLoad(loadPlan([address], values, process.env), signal, (level, done) =>
        output.progress(`${run.name}, ${level.name}`, done),
      );
      output.clearProgress();
      // Half a measurement is none.
      if (signal.aborted) return;
      writeWhole(resultOf(folder, run), `${JSON.stringify(document)}\n`);
    },
  };
  const steps: PlanStep[] = [
    { do: 'start' },
    { do: 'wait-http', url: `${url}/health`, timeoutS: READY_TIMEOUT_S },
    { do: 'load', why: 'to measure' },
    { do: 'stop', signal: 'SIGINT', why: 'the next run starts it again' },
  ];
  fs.rmSync(resultOf(folder, run), { force: true });
  const runnable = { command: run.command, env: run.env, nsysAt: -1, outputs: [], steps };
  const result = await runServer(runnable, { url, load: requests, logFile, healthTimeoutMs }).catch(error => {
    if (error instanceof UserError)
      throw new UserError(error.code, `${run.name}: ${error.message}`, `See ${logFile}`);
    throw error;
  });
  if (fs.existsSync(resultOf(folder, run))) return;
  if (result.stoppedBy)
    throw new UserError(
      'capture-failed',
      `Stopped in ${run.name}. The results of the runs before it are in ${path.resolve(folder)}.`,
      'Judge those: stepscope moe experiment --learned FILE… --perfect FILE…',
    );
  throw new UserError(
    'capture-failed',
    `${run.name}: the server ended with status ${result.status} before it was measured${result.reason ? `: ${result.reason}` : ''}.`,
    `See ${logFile}`,
  );
}
