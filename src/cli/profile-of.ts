/** Opening what the user named, with progress, and the settings that options make. */
import {
  type Analyzer,
  type AnyAnalysis,
  type Outcome,
  type Settings,
  tablesReadBy,
} from '../analyze/analysis.js';
import type { Static } from '../base/document.js';
import { recordedWith } from '../capture/run/recorded-with.js';
import { openProfile } from '../import/open.js';
import type { Profile } from '../model/profile.js';
import type { TableName } from '../model/schema.js';
import { outcomeAsJson } from '../report/analysis-json.js';
import type { analyzeSchema } from '../report/analysis-schema.js';
import type { analysisOptions, Values } from './options.js';
import type { Output } from './output.js';
import { version } from './version.js';

/** `tables`: only what will be read is taken from the file; everything where it is not said. */
export async function profileOf(
  files: readonly string[],
  output: Output,
  tables?: ReadonlyMap<TableName, readonly string[]>,
  label = '',
): Promise<Profile> {
  const profile = await openProfile([...files, ...(await recordedWith(files))], {
    ...(tables ? { tables } : {}),
    cache: version(),
    onProgress: (file, done) => output.progress(`reading ${label}${file}`, done),
  });
  output.clearProgress();
  return profile;
}

export const profileFor = (
  files: readonly string[],
  sources: Parameters<typeof tablesReadBy>[0],
  output: Output,
  label?: string,
): Promise<Profile> => profileOf(files, output, tablesReadBy(sources), label);

export function settingsOf(
  values: Partial<Values<(typeof analysisOptions)[number] | 'model' | 'tp' | 'gpu'>>,
): Settings {
  const { whole, rules, requested, thresholds, tp, iterations, phase, marker, model, gpu } = values;
  return {
    ...(whole ? { whole } : {}),
    ...{ iterations, phase, marker, model, gpu },
    ...{ kernelRules: rules, requested: requested?.[0], policy: thresholds, tensorParallel: tp },
  };
}

export function runAll(analyzer: Analyzer, chosen: readonly AnyAnalysis[], output: Output): Outcome[] {
  const outcomes = chosen.map((analysis, i) => {
    output.progress('analyzing', i / chosen.length);
    return analyzer.run(analysis);
  });
  output.clearProgress();
  return outcomes;
}

/** The JSON document of what analyses gave: the same for every command. */
export function analyzeDocument(
  profile: Profile,
  outcomes: readonly Outcome[],
): Static<ReturnType<typeof analyzeSchema>> {
  return {
    schema: 'stepscope-analyze/1',
    files: profile.capture.files,
    clock: { kind: profile.clock, originNs: String(profile.originNs) },
    analyses: Object.fromEntries(outcomes.map(outcome => [outcome.analysis.id, outcomeAsJson(outcome)])),
    notes: profile.notes,
  };
}

/** What was lost is said with every result; standard output keeps the result alone. */
export function tellLosses({ notes }: Profile, output: Output): void {
  for (const { severity, count, text, example } of notes)
    if (severity === 'loss') output.err(`note: ${count} ${text}${example ? ` (e.g. ${example})` : ''}\n`);
}
