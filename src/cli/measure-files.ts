/** From files to the metrics of a run, for the commands that gate and follow runs. */
import { Analyzer, tablesReadBy } from '../analyze/analysis.js';
import { brokenFile } from '../analyze/broken-file.js';
import { UserError } from '../base/user-error.js';
import { openBenchRuns } from '../import/bench/open-bench.js';
import { openProfile } from '../import/open.js';
import type { BenchRun } from '../model/bench-run.js';
import { benchedRun, measureRun, measureSources, withBench } from '../run/collect.js';
import type { Run } from '../run/run.js';
import { readSettings, settingHelp, settingOptions } from './analysis-settings.js';
import type { OptionHelp, Output } from './command.js';

const { iterations, marker, rules } = settingOptions;
/** How steps and kernels are told; which of them is the metric's business, not the user's. */
export const measureOptions = { iterations, marker, rules } as const;
export const measureHelp: readonly OptionHelp[] = settingHelp.filter(({ flags }) =>
  /^--(iterations|marker|rules) /.test(flags),
);

/** A benchmark of the run, beside its profile or alone. */
export const benchOptions = { bench: { type: 'string' } } as const;
export const benchHelp: OptionHelp = {
  flags: '--bench FILE',
  meaning: 'what a benchmark of the run printed (see stepscope bench); also without a profile',
};

export interface MeasureValues {
  readonly bench?: string;
  readonly iterations?: string;
  readonly marker?: string;
  readonly rules?: string;
}

/** `files`: all of one run, its ranks; none where its benchmark is all there is. */
export async function measureFiles(
  files: readonly string[],
  values: MeasureValues,
  output: Output,
): Promise<Run> {
  if (values.bench === undefined) return measureProfiles(files, values, output);
  const bench = await openBench(values.bench);
  if (files.length === 0) return benchedRun(bench);
  return withBench(await measureProfiles(files, values, output), bench);
}

async function openBench(file: string): Promise<BenchRun> {
  const runs = await openBenchRuns([file]);
  if (runs.length === 1) return runs[0];
  throw new UserError(
    'usage',
    `${file} holds ${runs.length} benchmark runs, and one is asked for.`,
    'Keep each run in a file of its own.',
  );
}

async function measureProfiles(
  files: readonly string[],
  { iterations: chosen, marker: pattern, rules: families }: MeasureValues,
  output: Output,
): Promise<Run> {
  const settings = readSettings({ iterations: chosen, marker: pattern, rules: families });
  const profile = await openProfile(files, {
    tables: tablesReadBy(measureSources),
    onProgress: (file, done) => output.progress(`reading ${file}`, done),
  });
  const broken = brokenFile(profile);
  // What is left of a run is no run: a gate must not pass or fail on it, and a baseline must not be made of it.
  if (broken)
    throw new UserError(
      'damaged',
      `${files.join(', ')} is cut off or damaged (${broken.text}).`,
      'Copy or export it again, and check its size.',
    );
  const run = measureRun(new Analyzer(profile, settings));
  output.clearProgress();
  if (Object.keys(run.figures).length > 0) return run;
  throw new UserError(
    'not-recorded',
    `${run.files.join(', ')} has no figures to gate on: neither steps nor memory were recorded.`,
    'stepscope info FILE says what is in it and how to record what is missing.',
  );
}
