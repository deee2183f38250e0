/** A figure that was measured, or what is missing and how to record it. Never a zero that stands for "not recorded". */
import type { Analysis, AnalysisResult, Analyzer } from '../analyze/analysis.js';
import type { Static } from '../base/document.js';
import type { missingSchema, readingSchema } from './document.js';

export type Reading = Static<typeof readingSchema>;
/** `what` follows "not recorded:". */
export type Missing = Static<typeof missingSchema>;

export const measured = (value: number, note?: string): Reading =>
  note === undefined ? { value } : { value, note };

export const missing = (what: string, hint: string): Missing => ({ value: null, what, hint });

/** The result of an analysis, or why it cannot answer. */
export function resultOf<Row extends { readonly key: string }>(
  analyzer: Analyzer,
  analysis: Analysis<Row, AnalysisResult<Row>>,
): AnalysisResult<Row> | Missing {
  const outcome = analyzer.run(analysis);
  if (outcome.status === 'ok') return outcome.result;
  if (outcome.status === 'not-recorded') return missing(outcome.what, outcome.hint);
  return missing(
    `${analysis.id} (it failed: ${outcome.message})`,
    'please report this with the type of the file',
  );
}

export const isMissingResult = (result: object): result is Missing =>
  'value' in result && (result as Missing).value === null;
