/** Running analyses with progress, and the JSON document of all they gave: the same for every command. */
import type { Analyzer, AnyAnalysis, Outcome } from '../analyze/analysis.js';
import type { Profile } from '../model/profile.js';
import { ANALYZE_SCHEMA, outcomeAsJson } from '../report/analysis-json.js';
import type { Output } from './command.js';

export function runAll(analyzer: Analyzer, chosen: readonly AnyAnalysis[], output: Output): Outcome[] {
  const outcomes = chosen.map((analysis, i) => {
    output.progress('analyzing', i / chosen.length);
    return analyzer.run(analysis);
  });
  output.clearProgress();
  return outcomes;
}

export function analyzeDocument(profile: Profile, outcomes: readonly Outcome[]): unknown {
  return {
    schema: ANALYZE_SCHEMA,
    files: profile.capture.files,
    clock: { kind: profile.clock, originNs: String(profile.originNs) },
    analyses: Object.fromEntries(outcomes.map(outcome => [outcome.analysis.id, outcomeAsJson(outcome)])),
    notes: profile.notes,
  };
}
