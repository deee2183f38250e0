/** From files to the figures of a run, for the commands that gate and follow runs. */
import { Analyzer } from '../analyze/analysis.js';
import { brokenFile } from '../analyze/broken-file.js';
import { UserError } from '../base/user-error.js';
import { openBenchRuns } from '../import/bench/open-bench.js';
import { damageCount } from '../import/damage-notes.js';
import type { BenchRun } from '../model/bench-run.js';
import { benchedRun, measureRun, measureSources, withBench } from '../run/collect.js';
import type { Run } from '../run/run.js';
import { requireFiles } from './command.js';
import type { measureOptions, Values } from './options.js';
import type { Output } from './output.js';
import { profileFor, settingsOf, tellLosses } from './profile-of.js';

export type MeasureValues = Partial<Values<(typeof measureOptions)[number]>>;

/** The run and its repeats. A repeat is of the kind the first one is: benchmarks of a benchmark, profiles of a profile. */
export async function measureRepeats(
  files: readonly string[],
  repeats: readonly string[],
  values: MeasureValues,
  output: Output,
): Promise<Run[]> {
  const runs = [await measuredRun(files, values, output)];
  const { bench, ...others } = values;
  for (const file of repeats)
    runs.push(
      files.length === 0
        ? await measuredRun([], { bench: file }, output)
        : await measuredRun([file], others, output),
    );
  return runs;
}

/** `files`: all of one run, its ranks; none where its benchmark is all there is. */
export async function measuredRun(
  files: readonly string[],
  values: MeasureValues,
  output: Output,
): Promise<Run> {
  if (values.bench === undefined) return measureProfiles(files, values, output);
  const bench = await openBench(values.bench);
  if (files.length === 0) return benchedRun(bench);
  return withBench(await measureProfiles(files, values, output), bench);
}

export function requireRun(command: string, files: readonly string[], { bench }: MeasureValues): void {
  if (bench === undefined) requireFiles(command, files);
}

async function openBench(file: string): Promise<BenchRun> {
  const runs = await openBenchRuns([file]);
  if (runs.length === 1) return runs[0];
  throw new UserError(
    'usage',
    `${file} contains ${runs.length} benchmark runs; expected one.`,
    'Save each run in a separate file.',
  );
}

async function measureProfiles(
  files: readonly string[],
  { iterations, marker, rules }: MeasureValues,
  output: Output,
): Promise<Run> {
  const profile = await profileFor(files, measureSources, output);
  // Figures of a damaged file are no measure of the run, whatever the verdict says.
  if (damageCount(profile.notes) > 0) tellLosses(profile, output);
  const broken = brokenFile(profile);
  // What is left of a run is no run: a gate must not pass or fail on it, and a baseline must not be made of it.
  if (broken)
    throw new UserError(
      'damaged',
      `${files.join(', ')} is truncated or damaged (${broken.text}).`,
      'Copy or export it again, and check its size.',
    );
  const run = measureRun(new Analyzer(profile, settingsOf({ iterations, marker, rules })));
  if (Object.keys(run.figures).length > 0) return run;
  throw new UserError(
    'not-recorded',
    `${run.files.join(', ')} has no metrics to check: it contains neither steps nor memory data.`,
    'stepscope info FILE shows what it contains and how to record what is missing.',
  );
}
