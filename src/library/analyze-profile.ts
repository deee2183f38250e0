/** Analyses of a profile, by their id or by the analysis itself. */
import {
  type Analysis,
  type AnalysisResult,
  Analyzer,
  type AnyAnalysis,
  type Settings,
} from '../analyze/analysis.js';
import { chooseAnalyses, usualAnalyses } from '../analyze/index.js';
import type { Profile } from '../model/profile.js';

/** What an analysis gave. `not-recorded` is not "no problem": `hint` states what to capture. */
export type Answered<Row, Result extends AnalysisResult<Row> = AnalysisResult<Row>> =
  | { readonly status: 'ok'; readonly rows: readonly Row[]; readonly summary: NonNullable<Result['summary']> }
  | { readonly status: 'not-recorded'; readonly what: string; readonly hint: string }
  | { readonly status: 'failed'; readonly message: string };

/** A row of any analysis: its fields are described in docs/schemas and in docs/metrics.md. */
export type AnyRow = { readonly key: string } & { readonly [field: string]: unknown };

function answered(analyzer: Analyzer, analysis: AnyAnalysis): Answered<AnyRow> {
  const outcome = analyzer.run(analysis);
  if (outcome.status === 'failed') return { status: 'failed', message: outcome.message };
  if (outcome.status === 'not-recorded')
    return { status: 'not-recorded', what: outcome.what, hint: outcome.hint };
  const { rows, summary = {} } = outcome.result;
  return { status: 'ok', rows: rows as readonly AnyRow[], summary };
}

/** All usual analyses, or those named by id, each by its id. Shared results are computed once. */
export function analyzeProfile(
  profile: Profile,
  ids?: readonly string[],
  settings?: Settings,
): { readonly [id: string]: Answered<AnyRow> };
/** One analysis by id. */
export function analyzeProfile(profile: Profile, id: string, settings?: Settings): Answered<AnyRow>;
/** One analysis, built in or your own, with the types of its rows. */
export function analyzeProfile<Row extends { readonly key: string }, Result extends AnalysisResult<Row>>(
  profile: Profile,
  analysis: Analysis<Row, Result>,
  settings?: Settings,
): Answered<Row, Result>;
export function analyzeProfile(
  profile: Profile,
  asked: string | readonly string[] | AnyAnalysis = usualAnalyses.map(({ id }) => id),
  settings: Settings = {},
): unknown {
  const analyzer = new Analyzer(profile, settings);
  if (typeof asked === 'string') return answered(analyzer, chooseAnalyses([asked])[0]);
  if (!Array.isArray(asked)) return answered(analyzer, asked as AnyAnalysis);
  return Object.fromEntries(
    chooseAnalyses(asked).map(analysis => [analysis.id, answered(analyzer, analysis)]),
  );
}
