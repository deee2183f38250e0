/** `stepscope moe experiment`: the pair printed, run or judged; and whether the perfect run was balanced at all. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Block, TableBlock } from '../../analyze/block.js';
import { formatRelativeChange, formatShare, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { answerFromLoads } from '../../moe/answer.js';
import { measureExperts } from '../../moe/cost/measured-experts.js';
import { WRONG_OUTPUTS } from '../../moe/describe/describe-router-pair.js';
import { ratio } from '../../moe/describe/moe-words.js';
import {
  type ExperimentPlan,
  type PlannedRun,
  planExperiment,
  shellLine,
} from '../../moe/experiment/plan-experiment.js';
import { type PairPrediction, predictPair } from '../../moe/experiment/predicted.js';
import { text } from '../../report/text.js';
import type { Output } from '../command.js';
import { perfectRouterReport } from '../perfect-router-report.js';
import type { MachineSettings } from './moe-options.js';
import { readExpertWork, readSummary } from './read-moe.js';

/** More than rounding leaves in a plan that gives every expert the same. */
const BALANCED = 1.1;

export interface ExperimentOptions {
  readonly command: readonly string[];
  readonly repeats: number;
  readonly run: boolean;
  readonly record?: string;
  readonly folder: string;
  readonly learned: readonly string[];
  readonly perfect: readonly string[];
  readonly learnedLoads: readonly string[];
  readonly perfectLoads: readonly string[];
  readonly format: 'table' | 'json' | 'markdown';
}

export async function moeExperiment(
  options: ExperimentOptions,
  settings: MachineSettings,
  output: Output,
): Promise<number> {
  if (options.learned.length > 0 || options.perfect.length > 0) return judge(options, settings, output);
  const plan = planExperiment(options);
  if (!options.run) {
    output.out(printed(plan, options.folder));
    return 0;
  }
  fs.mkdirSync(options.folder, { recursive: true });
  for (const warning of plan.warnings) output.err(`note: ${warning}\n`);
  for (const run of plan.runs) await runOne(run, options.folder, output);
  const logs = (router: string) =>
    plan.runs.filter(run => run.router === router && run.timed).map(run => logOf(options.folder, run));
  const counted = (router: string) =>
    [path.join(options.folder, `${router}-check-experts`)].filter(folder => fs.existsSync(folder));
  return judge(
    {
      ...options,
      learned: logs('learned'),
      perfect: logs('perfect'),
      learnedLoads: counted('learned'),
      perfectLoads: counted('perfect'),
    },
    settings,
    output,
  );
}

const logOf = (folder: string, { name }: PlannedRun) => path.join(folder, `${name}.log`);

function printed({ runs, warnings }: ExperimentPlan, folder: string): string {
  const lines = runs.map(
    run =>
      `${run.timed ? '' : '# counts experts, says nothing about speed\n'}${shellLine(run, logOf(folder, run))}`,
  );
  const files = (router: string) =>
    runs
      .filter(run => run.router === router && run.timed)
      .map(run => logOf(folder, run))
      .join(` --${router} `);
  const checks = runs.some(run => !run.timed)
    ? ` --learned-loads ${folder}/learned-check-experts --perfect-loads ${folder}/perfect-check-experts`
    : '';
  return [
    `# ${WRONG_OUTPUTS}`,
    ...warnings.map(warning => `# note: ${warning}`),
    `mkdir -p ${folder}`,
    ...lines,
    `stepscope moe experiment --learned ${files('learned')} --perfect ${files('perfect')}${checks}`,
    '',
  ].join('\n');
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
    if (code !== 0) throw new UserError('usage', `${run.name} ended with status ${code}.`, `See ${file}`);
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

async function judge(options: ExperimentOptions, settings: MachineSettings, output: Output): Promise<number> {
  const { learned, perfect, format } = options;
  const status = await perfectRouterReport({ normal: learned, perfect, format }, output);
  // One document on standard output; the rest is for people.
  if (format === 'json') return status;
  const blocks = [
    ...(await balanceBlocks(options, settings, output)),
    ...(await predictionBlocks(options, settings, output)),
  ];
  if (blocks.length > 0) output.out(`\n${text.render(blocks, output)}`);
  return status;
}

/** Whether the switch did what it says: from counts, else from what the engine printed. */
async function balanceBlocks(
  options: ExperimentOptions,
  settings: MachineSettings,
  output: Output,
): Promise<Block[]> {
  const lines: string[] = [];
  if (options.perfectLoads.length > 0) {
    const answer = answerFromLoads(await readSummary(options.perfectLoads, settings, output), settings);
    const even = answer.gpuImbalance <= BALANCED;
    lines.push(
      even
        ? `The perfect run was balanced: the busiest of ${plural(answer.machine.gpus, 'GPU')} got ${ratio(answer.gpuImbalance)} the mean.`
        : `THE PERFECT RUN WAS NOT BALANCED: the busiest of ${plural(answer.machine.gpus, 'GPU')} got ${ratio(answer.gpuImbalance)} the mean. The switch did not reach every rank, or this model does not support it: the verdict above is void.`,
    );
  } else {
    const seen = options.perfect.filter(file =>
      /Precomputing perfect router logits/.test(beginning(file)),
    ).length;
    lines.push(
      seen > 0
        ? `Balance of the perfect run: not counted; the engine says it prepared the perfect router in ${seen} of ${plural(options.perfect.length, 'log')}.`
        : 'Balance of the perfect run: not counted. Count with --record A-B, or give counts with --perfect-loads, to know that the switch reached every rank.',
    );
  }
  return [{ kind: 'statement', id: 'moe-balance-check', title: 'Was it balanced?', lines }];
}

const LOOKED_AT = 4_000_000;

function beginning(file: string): string {
  if (!fs.statSync(file).isFile()) return '';
  const handle = fs.openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(LOOKED_AT, fs.fstatSync(handle).size));
    fs.readSync(handle, bytes, 0, bytes.length, 0);
    return bytes.toString('latin1');
  } finally {
    fs.closeSync(handle);
  }
}

/** Profiles on both sides show experts apart from the rest: prediction beside measurement. */
async function predictionBlocks(
  options: ExperimentOptions,
  settings: MachineSettings,
  output: Output,
): Promise<Block[]> {
  const [learned, perfect] = [
    await profileOf(options.learned, output),
    await profileOf(options.perfect, output),
  ];
  if (!learned || !perfect) return [];
  const loads =
    options.learnedLoads.length > 0 ? await readSummary(options.learnedLoads, settings, output) : undefined;
  const lost = loads ? answerFromLoads(loads, { ...settings, profile: learned }).lostShare : undefined;
  return describePrediction(predictPair(measureExperts(learned), measureExperts(perfect), lost));
}

async function profileOf(files: readonly string[], output: Output) {
  try {
    return await readExpertWork(files, output);
  } catch (error) {
    // Benchmarks are no profiles, and not every profile has experts.
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function describePrediction({ rows, explained, about }: PairPrediction): Block[] {
  const table: TableBlock = {
    kind: 'table',
    id: 'moe-prediction',
    title: 'Predicted beside measured',
    rows: rows.length,
    columns: [
      { header: 'What', kind: 'text', values: rows.map(({ what }) => what) },
      { header: 'Learned', kind: 'ns-mean', values: rows.map(({ learnedNs }) => learnedNs) },
      { header: 'Perfect', kind: 'ns-mean', values: rows.map(({ perfectNs }) => perfectNs) },
      {
        header: 'Predicted',
        kind: 'text',
        values: rows.map(({ predicted }) => formatRelativeChange(predicted)),
      },
      {
        header: 'Measured',
        kind: 'text',
        values: rows.map(({ measured }) => formatRelativeChange(measured)),
      },
      { header: 'Error (points)', kind: 'text', values: rows.map(({ error }) => (error * 100).toFixed(1)) },
    ],
    advice: `${about} ${explained === null ? 'The perfect run’s experts were not faster: there is no gap to explain.' : `Of the measured gap in expert time the prediction explains ${formatShare(explained)}.`}`,
  };
  return [table];
}
