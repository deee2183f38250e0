/** Runs the pair of an experiment, and reads from files what the verdict does not say. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Block } from '../../analyze/block.js';
import { UserError } from '../../base/user-error.js';
import { answerFromLoads } from '../../moe/answer.js';
import { measureExperts } from '../../moe/cost/measured-experts.js';
import {
  describeBalance,
  describePrediction,
  logOf,
  logsOf,
} from '../../moe/describe/describe-experiment.js';
import type { ExperimentPlan, PlannedRun } from '../../moe/experiment/plan-experiment.js';
import { predictPair } from '../../moe/experiment/predicted.js';
import type { Output } from '../output.js';
import type { MachineSettings } from './machine.js';
import { readExperts, readSummary } from './read-moe.js';

/** Files of both runs: results or profiles, and counts of experts. */
export interface PairFiles {
  readonly learned: readonly string[];
  readonly perfect: readonly string[];
  readonly learnedLoads: readonly string[];
  readonly perfectLoads: readonly string[];
  /** Where the engine prints what it does, if not into the results. */
  readonly perfectLogs?: readonly string[];
}

export async function runExperiment(
  plan: ExperimentPlan,
  folder: string,
  output: Output,
): Promise<PairFiles> {
  fs.mkdirSync(folder, { recursive: true });
  for (const warning of plan.warnings) output.err(`note: ${warning}\n`);
  for (const run of plan.runs) await runOne(run, folder, output);
  return {
    learned: logsOf(plan, folder, 'learned'),
    perfect: logsOf(plan, folder, 'perfect'),
    ...countsIn(folder),
  };
}

/** What the runs with --record left. */
export function countsIn(folder: string): Pick<PairFiles, 'learnedLoads' | 'perfectLoads'> {
  const counted = (router: string) =>
    [path.join(folder, `${router}-check-experts`)].filter(name => fs.existsSync(name));
  return { learnedLoads: counted('learned'), perfectLoads: counted('perfect') };
}

/** Without a shell: what the user wrote is run word by word. */
async function runOne(run: PlannedRun, folder: string, output: Output): Promise<void> {
  const file = logOf(folder, run);
  output.err(`${run.name}: ${run.command.join(' ')}\n`);
  const log = fs.openSync(file, 'w');
  try {
    const [program, ...words] = run.command;
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(program, words, {
        shell: false,
        stdio: ['ignore', log, log],
        env: { ...process.env, ...run.env },
      });
      child.on('error', reject);
      child.on('close', resolve);
    });
    if (code !== 0) throw new UserError('usage', `${run.name} exited with status ${code}.`, `See ${file}`);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      'usage',
      `${run.command[0]} could not be started: ${(error as Error).message}.`,
      'Check the command after --',
    );
  } finally {
    fs.closeSync(log);
  }
}

/** What follows the verdict: was it balanced, and does what was predicted agree? */
export async function aboutPair(
  { learned, perfect, learnedLoads, perfectLoads, perfectLogs = perfect }: PairFiles,
  settings: MachineSettings,
  output: Output,
): Promise<Block[]> {
  const counted =
    perfectLoads.length > 0
      ? answerFromLoads(await readSummary(perfectLoads, settings, output), settings)
      : undefined;
  const balance = describeBalance(counted, {
    prepared: counted ? 0 : perfectLogs.filter(saysPrepared).length,
    all: perfectLogs.length,
  });
  const [before, after] = [await expertWorkIn(learned, output), await expertWorkIn(perfect, output)];
  // Profiles on both sides show experts apart from the rest: prediction beside measurement.
  if (!before || !after) return [balance];
  const loads = learnedLoads.length > 0 ? await readSummary(learnedLoads, settings, output) : undefined;
  const lost = loads ? answerFromLoads(loads, { ...settings, profile: before }).lostShare : undefined;
  return [balance, describePrediction(predictPair(measureExperts(before), measureExperts(after), lost))];
}

async function expertWorkIn(files: readonly string[], output: Output) {
  try {
    return (await readExperts(files, output)).profile;
  } catch (error) {
    // Benchmarks are no profiles, and not every profile has experts.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const LOOKED_AT = 4_000_000;

/** TensorRT-LLM says it in the beginning of its log. */
function saysPrepared(file: string): boolean {
  if (!fs.statSync(file).isFile()) return false;
  const handle = fs.openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(LOOKED_AT, fs.fstatSync(handle).size));
    fs.readSync(handle, bytes, 0, bytes.length, 0);
    return bytes.includes('Precomputing perfect router logits');
  } finally {
    fs.closeSync(handle);
  }
}
