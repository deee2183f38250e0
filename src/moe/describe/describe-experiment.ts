/** The perfect-router experiment in words: the commands of the pair, whether it was balanced, what was predicted. */

import type { Block, TableBlock } from '../../analyze/block.js';
import { tableOf } from '../../analyze/table-of.js';
import { formatRelativeChange, formatShare, plural } from '../../base/units.js';
import type { MoeAnswer } from '../answer.js';
import { type ExperimentPlan, type PlannedRun, quote, shellLine } from '../experiment/plan-experiment.js';
import type { PairPrediction } from '../experiment/predicted.js';
import { WRONG_OUTPUTS } from './describe-router-pair.js';
import { ratio } from './moe-words.js';

/** More than rounding leaves in a plan that gives every expert the same. */
const BALANCED = 1.1;

export const logOf = (folder: string, { name }: PlannedRun): string => `${folder}/${name}.log`;

/** Timed runs of a router: those that say something about speed. */
export const logsOf = ({ runs }: ExperimentPlan, folder: string, router: string): string[] =>
  runs.filter(run => run.router === router && run.timed).map(run => logOf(folder, run));

/** Where a server is reached, and the options of `stepscope load` for it. */
export interface ServedLoad {
  readonly url: string;
  readonly words: readonly string[];
}

/** What the load measured on a server. */
export const resultOf = (folder: string, { name }: PlannedRun): string => `${folder}/${name}.json`;
export const resultsOf = ({ runs }: ExperimentPlan, folder: string, router: string): string[] =>
  runs.filter(run => run.router === router && run.timed).map(run => resultOf(folder, run));

/** A server runs in the background while it is loaded, and is stopped before the next one starts. */
function servedLines(run: PlannedRun, folder: string, { url, words }: ServedLoad): string {
  return [
    `${shellLine(run, logOf(folder, run))} & server=$!`,
    `until curl -sf ${quote(`${url}/health`)} > /dev/null; do kill -0 $server || exit 1; sleep 2; done`,
    `stepscope load ${[url, ...words].map(quote).join(' ')} -o ${quote(resultOf(folder, run))}`,
    'kill -INT $server; wait $server',
  ].join('\n');
}

/** The pair as a script for a shell, ending with the command that judges it. */
export function experimentScript(plan: ExperimentPlan, folder: string, served?: ServedLoad): string {
  const lines = plan.runs.map(
    run =>
      `${run.timed ? '' : '# counts tokens per expert; not a timing run\n'}${served ? servedLines(run, folder, served) : shellLine(run, logOf(folder, run))}`,
  );
  const files = (router: string) => (served ? resultsOf : logsOf)(plan, folder, router).join(` --${router} `);
  const checks = plan.runs.some(run => !run.timed)
    ? ` --learned-loads ${folder}/learned-check-experts --perfect-loads ${folder}/perfect-check-experts`
    : '';
  return [
    `# ${WRONG_OUTPUTS}`,
    ...plan.warnings.map(warning => `# note: ${warning}`),
    `mkdir -p ${folder}`,
    ...lines,
    `stepscope moe experiment --learned ${files('learned')} --perfect ${files('perfect')}${checks}`,
    '',
  ].join('\n');
}

/** Whether the switch did what it says: from counts, else from what the engine printed. */
export function describeBalance(
  counted: Pick<MoeAnswer, 'gpuImbalance' | 'machine'> | undefined,
  logs: { readonly prepared: number; readonly all: number },
): Block {
  return {
    kind: 'statement',
    id: 'moe-balance-check',
    title: 'Was it balanced?',
    lines: [balanceLine(counted, logs)],
  };
}

function balanceLine(
  counted: Pick<MoeAnswer, 'gpuImbalance' | 'machine'> | undefined,
  { prepared, all }: { readonly prepared: number; readonly all: number },
): string {
  if (counted) {
    const busiest = `the busiest of ${plural(counted.machine.gpus, 'GPU')} got ${ratio(counted.gpuImbalance)} the mean`;
    return counted.gpuImbalance <= BALANCED
      ? `The perfect run was balanced: ${busiest}.`
      : `THE PERFECT RUN WAS NOT BALANCED: ${busiest}. The switch did not reach every rank, or this model does not support it: the verdict above is invalid.`;
  }
  return prepared > 0
    ? `Balance of the perfect run: not counted; the engine log reports the perfect router in ${prepared} of ${plural(all, 'log')}.`
    : 'Balance of the perfect run: not counted. Count with --record A-B, or give counts with --perfect-loads, to verify that the switch reached every rank.';
}

export function describePrediction({ rows, explained, about }: PairPrediction): TableBlock {
  const gap =
    explained === null
      ? 'Experts were not faster in the perfect run: there is no gap to explain.'
      : `The prediction explains ${formatShare(explained)} of the measured gap in expert time.`;
  const said = { id: 'moe-prediction', title: 'Predicted vs measured', advice: `${about} ${gap}` };
  return tableOf(rows, said, [
    ['What', 'text', ({ what }) => what],
    ['Learned', 'ns-mean', ({ learnedNs }) => learnedNs],
    ['Perfect', 'ns-mean', ({ perfectNs }) => perfectNs],
    ['Predicted', 'text', ({ predicted }) => formatRelativeChange(predicted)],
    ['Measured', 'text', ({ measured }) => formatRelativeChange(measured)],
    ['Error (points)', 'text', ({ error }) => (error * 100).toFixed(1)],
  ]);
}
