/** `stepscope compare` of benchmark results: the first against each other one, repeats taken together. */
import * as fs from 'node:fs';
import { UserError } from '../base/user-error.js';
import { describeBenchDifference } from '../compare/describe-bench-difference.js';
import { openBenchRuns } from '../import/bench/open-bench.js';
import { importersOf } from '../import/index.js';
import { ProfileFile } from '../import/profile-file.js';
import type { BenchRun } from '../model/bench-run.js';
import { markdown } from '../report/markdown.js';
import { text } from '../report/text.js';
import { compareBenchRuns } from '../run/bench-difference.js';
import type { Output } from './command.js';
import type { AskedConfiguration } from './compare-arguments.js';

/**
 * By content. What begins like a profile is one: reading gigabytes as text to find no benchmark in them would be a
 * waste. Whatever else it is, the benchmark formats say it better.
 */
export async function isBenchmark(path: string): Promise<boolean> {
  if (!fs.existsSync(path)) throw new UserError('not-found', `${path} does not exist.`, 'Check the path.');
  if (fs.statSync(path).isDirectory()) return false;
  const file = ProfileFile.open(path);
  try {
    return (await importersOf(file)).length === 0;
  } finally {
    file.close();
  }
}

/** All of them, or none; a benchmark and a profile have no figure in common. */
export async function areBenchmarks(asked: readonly AskedConfiguration[]): Promise<boolean> {
  const kinds: boolean[] = [];
  for (const { runs } of asked) for (const run of runs) kinds.push(await isBenchmark(run));
  if (!kinds.includes(true)) return false;
  if (!kinds.includes(false)) return true;
  throw new UserError(
    'usage',
    'Some of these are benchmark results and some are profiles.',
    'Compare benchmarks with benchmarks, and profiles with profiles.',
  );
}

export async function compareBenchmarks(
  asked: readonly AskedConfiguration[],
  format: 'table' | 'json' | 'markdown',
  output: Output,
): Promise<number> {
  const sides: { name: string; runs: BenchRun[] }[] = [];
  for (const { name, runs } of asked) sides.push({ name, runs: await openBenchRuns(runs) });
  const [base, ...others] = sides;
  const pairs = others.map(other => ({ other, difference: compareBenchRuns(base.runs, other.runs) }));
  if (format === 'json') {
    const comparisons = pairs.map(({ other, difference }) => ({
      from: base.name,
      to: other.name,
      ...difference,
    }));
    output.out(`${JSON.stringify({ schema: 'stepscope-compare-bench/1', comparisons }, null, 1)}\n`);
    return 0;
  }
  const blocks = pairs.flatMap(({ other, difference }) =>
    describeBenchDifference(base.name, other.name, difference),
  );
  output.out((format === 'markdown' ? markdown : text).render(blocks, output));
  return 0;
}
