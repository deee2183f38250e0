/** From files to the metrics of a run, for the commands that gate and follow runs. */
import { Analyzer, tablesReadBy } from '../analyze/analysis.js';
import { UserError } from '../base/user-error.js';
import { measureRun, metricSources, type RunMetrics } from '../gate/run-metrics.js';
import { openProfile } from '../import/open.js';
import { readSettings, settingHelp, settingOptions } from './analysis-settings.js';
import type { OptionHelp, Output } from './command.js';

const { iterations, marker, rules } = settingOptions;
/** How steps and kernels are told; which of them is the metric's business, not the user's. */
export const measureOptions = { iterations, marker, rules } as const;
export const measureHelp: readonly OptionHelp[] = settingHelp.filter(({ flags }) =>
  /^--(iterations|marker|rules) /.test(flags),
);

export interface MeasureValues {
  readonly iterations?: string;
  readonly marker?: string;
  readonly rules?: string;
}

/** `files`: all of one run, its ranks. */
export async function measureFiles(
  files: readonly string[],
  { iterations: chosen, marker: pattern, rules: families }: MeasureValues,
  output: Output,
): Promise<RunMetrics> {
  const settings = readSettings({ iterations: chosen, marker: pattern, rules: families });
  const profile = await openProfile(files, {
    tables: tablesReadBy(metricSources),
    onProgress: (file, done) => output.progress(`reading ${file}`, done),
  });
  const run = measureRun(new Analyzer(profile, settings));
  output.clearProgress();
  if (Object.keys(run.figures).length > 0) return run;
  throw new UserError(
    'not-recorded',
    `${run.files.join(', ')} has no figures to gate on: neither steps nor memory were recorded.`,
    'stepscope info FILE says what is in it and how to record what is missing.',
  );
}
