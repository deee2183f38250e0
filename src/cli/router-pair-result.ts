/** A pair of runs, with the learned and with the perfect router, read and judged. */
import { Analyzer, type Settings } from '../analyze/analysis.js';
import { stepBudget } from '../analyze/inference/step-budget.js';
import { UserError } from '../base/user-error.js';
import { isBenchmark } from '../import/bench/is-benchmark.js';
import { openBenchRuns } from '../import/bench/open-bench.js';
import type { BenchRun } from '../model/bench-run.js';
import { describeRouter, routerDocument } from '../moe/describe/describe-router-pair.js';
import { judgeRouter, ROUTER_THRESHOLD, type RouterSide } from '../moe/experiment/router-pair.js';
import { profileRun, profileSources } from '../run/collect.js';
import type { ProfiledRun } from '../run/run.js';
import type { Result } from './emit.js';
import type { Output } from './output.js';
import { profileFor } from './profile-of.js';

export interface RouterPair {
  /** Results of benchmarks, profiles, or both; several results are repeats, several profiles the ranks of one run. */
  readonly normal: readonly string[];
  readonly perfect: readonly string[];
  /** A gain above it makes routing the bottleneck. */
  readonly threshold?: number;
  /** How steps are found and chosen in profiles. */
  readonly settings?: Settings;
}

export async function routerPairResult(
  { normal, perfect, threshold = ROUTER_THRESHOLD, settings = {} }: RouterPair,
  output: Output,
): Promise<Result> {
  if (normal.length === 0 || perfect.length === 0)
    throw new UserError(
      'usage',
      'A pair needs a run with the normal router and one with the perfect router.',
      'For example: stepscope compare normal.json perfect.json --perfect-router',
    );
  const [a, b] = [await openSide(normal, settings, output), await openSide(perfect, settings, output)];
  requirePair(a, b);
  const verdict = judgeRouter(a, b, threshold);
  return {
    blocks: () => describeRouter(verdict),
    document: () => routerDocument({ normal, perfect }, verdict),
  };
}

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
  const analyzer = new Analyzer(await profileFor(paths, [stepBudget, ...profileSources], output), settings);
  const outcome = analyzer.run(stepBudget);
  if (outcome.status === 'not-recorded')
    throw new UserError(
      'not-recorded',
      `${paths[0]} does not show how long a step takes: not recorded: ${outcome.what}.`,
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
