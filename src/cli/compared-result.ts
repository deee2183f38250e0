/** What `compare` was given, read and compared: profiles, benchmarks, or a pair of routers. */
import { Analyzer, type Settings } from '../analyze/analysis.js';
import { csvCell } from '../base/csv-cell.js';
import { UserError } from '../base/user-error.js';
import { compareConfigurations, DEFAULT_THRESHOLD } from '../compare/compare-configurations.js';
import { comparisonDocument, csvFields, termsTable } from '../compare/comparison-json.js';
import { describeBenchDifference } from '../compare/describe-bench-difference.js';
import { comparisonBlocks, summaryTable } from '../compare/describe-comparison.js';
import { isBenchmark } from '../import/bench/is-benchmark.js';
import { openBenchRuns } from '../import/bench/open-bench.js';
import { comparisonPage } from '../report/html/comparison-page.js';
import { compareBenchRuns } from '../run/bench-difference.js';
import { comparedRun, comparedSources } from '../run/collect.js';
import type { ProfiledRun } from '../run/run.js';
import type { AskedConfiguration } from './asked-configurations.js';
import type { Result } from './emit.js';
import type { Output } from './output.js';
import { profileFor } from './profile-of.js';

/** A configuration of profiles: each run is a profile, with the log and the benchmark result that belong to it. */
interface ProfiledSide {
  readonly name: string;
  readonly runs: readonly (readonly string[])[];
}

/** Undefined: all are benchmarks. Otherwise each side has a profile; a benchmark and a profile have no figure in common. */
export async function profiledSides(
  asked: readonly AskedConfiguration[],
): Promise<readonly ProfiledSide[] | undefined> {
  const sides = await Promise.all(
    asked.map(async ({ name, runs }) => {
      const kinds = await Promise.all(runs.map(isBenchmark));
      return {
        name,
        profiles: runs.filter((_, i) => !kinds[i]),
        others: runs.filter((_, i) => kinds[i]),
      };
    }),
  );
  if (sides.every(({ profiles }) => profiles.length === 0)) return undefined;
  if (sides.some(({ profiles }) => profiles.length === 0))
    throw new UserError(
      'usage',
      'The inputs mix benchmark results and profiles.',
      'Compare benchmarks with benchmarks, and profiles with profiles. A result may accompany its profile: NAME=PROFILE,RESULT.',
    );
  return sides.map(({ name, profiles, others }) => {
    if (others.length > 0 && profiles.length > 1)
      throw new UserError(
        'usage',
        `${name} has ${profiles.length} profiles; it is unknown which of them ${others[0]} belongs to.`,
        'Give a log or a benchmark result only with a single profile.',
      );
    return { name, runs: profiles.map(profile => [profile, ...others]) };
  });
}

/** The first against each other one, repeats taken together. */
export async function comparedBenchmarks(asked: readonly AskedConfiguration[]): Promise<Result> {
  const [base, ...others] = await Promise.all(
    asked.map(async ({ name, runs }) => ({ name, runs: await openBenchRuns(runs) })),
  );
  const pairs = others.map(({ name, runs }) => ({ to: name, difference: compareBenchRuns(base.runs, runs) }));
  return {
    blocks: () => pairs.flatMap(({ to, difference }) => describeBenchDifference(base.name, to, difference)),
    document: () => ({
      schema: 'stepscope-compare-bench/1',
      comparisons: pairs.map(({ to, difference }) => ({ from: base.name, to, ...difference })),
    }),
  };
}

export async function comparedProfiles(
  asked: readonly ProfiledSide[],
  settings: Settings,
  { threshold = DEFAULT_THRESHOLD, onlyComparable }: { threshold?: number; onlyComparable: boolean },
  output: Output,
): Promise<Result> {
  const configurations: { name: string; runs: ProfiledRun[] }[] = [];
  for (const { name, runs } of asked) {
    const read: ProfiledRun[] = [];
    for (const run of runs) read.push(await readRun(run, settings, output));
    configurations.push({ name, runs: read });
  }
  const [base, ...others] = configurations;
  const comparisons = others.map(other => compareConfigurations(base, other, { threshold, onlyComparable }));
  const rows = () => [csvFields, ...termsTable(comparisons)];
  return {
    blocks: () => [
      ...(comparisons.length > 1 ? [summaryTable(comparisons)] : []),
      ...comparisons.flatMap(comparisonBlocks),
    ],
    document: () => comparisonDocument(comparisons, threshold),
    csv: () =>
      `${rows()
        .map(cells => cells.map(cell => csvCell(String(cell ?? ''))).join(','))
        .join('\n')}\n`,
    page: cutter => comparisonPage(comparisons, cutter),
    ...(await viewOf(asked)),
  };
}

/** The web view compares two runs, and shows their profiles alone. */
async function viewOf(asked: readonly ProfiledSide[]): Promise<Pick<Result, 'view'>> {
  const [base, other, ...more] = asked;
  if (more.length > 0 || base.runs.length > 1 || other.runs.length > 1) return {};
  const profilesOf = async ([files]: ProfiledSide['runs']) => {
    const isResult = await Promise.all(files.map(isBenchmark));
    return files.filter((_, i) => !isResult[i]);
  };
  const [files, compared] = [await profilesOf(base.runs), await profilesOf(other.runs)];
  return files.length > 0 && compared.length > 0 ? { view: { files, compared } } : {};
}

/** A function of its own, so that nothing holds the profile once its facts are known. */
async function readRun(files: readonly string[], settings: Settings, output: Output): Promise<ProfiledRun> {
  const profile = await profileFor(files, comparedSources, output);
  try {
    return comparedRun(new Analyzer(profile, settings));
  } catch (error) {
    // Of several files it must be said which one has no such step.
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.code, `${files[0]}: ${error.message}`, error.hint);
  }
}
