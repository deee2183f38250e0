/** Reads a pair of runs, with the learned and with the perfect router, and prints the verdict. */
import type { Settings } from '../analyze/analysis.js';
import { Analyzer, tablesReadBy } from '../analyze/analysis.js';
import { stepBudget } from '../analyze/inference/step-budget.js';
import { UserError } from '../base/user-error.js';
import { openBenchRuns } from '../import/bench/open-bench.js';
import { openProfile } from '../import/open.js';
import type { BenchRun } from '../model/bench-run.js';
import { answerLines, describeRouter } from '../moe/describe/describe-router-pair.js';
import {
  judgeRouter,
  ROUTER_THRESHOLD,
  type RouterSide,
  type RouterVerdict,
} from '../moe/experiment/router-pair.js';
import { markdown } from '../report/markdown.js';
import { PERFECT_ROUTER_SCHEMA } from '../report/perfect-router-json.js';
import { text } from '../report/text.js';
import { profileRun, profileSources } from '../run/collect.js';
import type { ProfiledRun } from '../run/run.js';
import type { Output } from './command.js';
import { isBenchmark } from './compare-benchmarks.js';

export interface PerfectRouterArguments {
  /** Results of benchmarks, profiles, or both; several results are repeats, several profiles the ranks of one run. */
  readonly normal: readonly string[];
  readonly perfect: readonly string[];
  readonly format?: 'table' | 'json' | 'markdown';
  /** A gain above it makes routing the bottleneck; 0.1 unless told. */
  readonly threshold?: number;
  /** How steps are found and chosen in profiles. */
  readonly settings?: Settings;
}

export async function perfectRouterReport(args: PerfectRouterArguments, output: Output): Promise<number> {
  const { normal, perfect, format = 'table', threshold = ROUTER_THRESHOLD, settings = {} } = args;
  if (normal.length === 0 || perfect.length === 0)
    throw new UserError(
      'usage',
      'A pair needs a run with the normal router and one with the perfect router.',
      'For example: stepscope compare normal.json perfect.json --perfect-router',
    );
  if (!(threshold > 0 && threshold < 10))
    throw new UserError('usage', `${threshold} is no threshold for a gain.`, 'Give a share: 0.1 is 10%.');
  const [a, b] = [await openSide(normal, settings, output), await openSide(perfect, settings, output)];
  output.clearProgress();
  requirePair(a, b);
  const verdict = judgeRouter(a, b, threshold);
  if (format === 'json') output.out(`${JSON.stringify(routerDocument(normal, perfect, verdict), null, 1)}\n`);
  else {
    const renderer = format === 'markdown' ? markdown : text;
    output.out(renderer.render(describeRouter(verdict), { width: output.width, color: output.color }));
  }
  return 0;
}

const routerDocument = (normal: readonly string[], perfect: readonly string[], verdict: RouterVerdict) => ({
  schema: PERFECT_ROUTER_SCHEMA,
  files: { normal, perfect },
  ...verdict,
  checks: verdict.checks.map(({ id, label, status, values: [normalValue, perfectValue] }) => ({
    id,
    label,
    status,
    normal: normalValue,
    perfect: perfectValue,
  })),
  lines: answerLines(verdict),
});

async function openSide(paths: readonly string[], settings: Settings, output: Output): Promise<RouterSide> {
  const runs: BenchRun[] = [];
  const profiles: string[] = [];
  for (const path of paths) {
    if (await isBenchmark(path)) runs.push(...(await openBenchRuns([path])));
    else profiles.push(path);
  }
  return { runs, ...(profiles.length > 0 ? { profile: await readProfile(profiles, settings, output) } : {}) };
}

async function readProfile(
  paths: readonly string[],
  settings: Settings,
  output: Output,
): Promise<ProfiledRun> {
  const profile = await openProfile(paths, {
    tables: tablesReadBy([stepBudget, ...profileSources]),
    onProgress: (name, done) => output.progress(`reading ${name}`, done),
  });
  const analyzer = new Analyzer(profile, settings);
  const outcome = analyzer.run(stepBudget);
  if (outcome.status === 'not-recorded')
    throw new UserError(
      'not-recorded',
      `${paths[0]} cannot tell how long a step takes: not recorded: ${outcome.what}.`,
      `${outcome.hint.charAt(0).toUpperCase()}${outcome.hint.slice(1)}.`,
    );
  return profileRun(analyzer);
}

/** Benchmarks on one side and profiles on the other have no figure in common. */
function requirePair(a: RouterSide, b: RouterSide): void {
  const both = (of: (side: RouterSide) => boolean) => of(a) && of(b);
  if (both(side => side.runs.length > 0) || both(side => side.profile !== undefined)) return;
  throw new UserError(
    'usage',
    'One side is a benchmark and the other a profile.',
    'Give benchmark results of both runs, or profiles of both.',
  );
}
