/** Results of analyses for machines: one versioned JSON document, and CSV of rows. */
import type { AnyAnalysis, Field, Outcome } from '../analyze/analysis.js';
import { csvCell } from '../base/csv-cell.js';
import type { Static } from '../base/document.js';
import type { outcomeSchema } from './analysis-schema.js';

export function outcomeAsJson(outcome: Outcome): Static<typeof outcomeSchema> {
  const { title, question } = outcome.analysis;
  if (outcome.status === 'ok') {
    const { rows, summary = {} } = outcome.result;
    return { status: 'ok', title, question, rows, summary };
  }
  if (outcome.status === 'failed') return { status: 'failed', title, question, message: outcome.message };
  return { status: 'not-recorded', title, question, what: outcome.what, hint: outcome.hint };
}

/** Base units and field names as in JSON; a map becomes one column per name. */
export function rowsAsCsv(analysis: AnyAnalysis, rows: readonly Readonly<Record<string, unknown>>[]): string {
  const fields = Object.entries(analysis.fields as Record<string, Field>).filter(
    ([, { kind }]) => kind !== 'list',
  );
  const columns = fields.flatMap(([name, { kind }]) => {
    if (kind !== 'map-ns')
      return [{ header: name, of: (row: Readonly<Record<string, unknown>>) => row[name] }];
    const keys = new Set(rows.flatMap(row => Object.keys((row[name] ?? {}) as object)));
    return [...keys].map(key => ({
      header: `${name}.${key}`,
      of: (row: Readonly<Record<string, unknown>>) => (row[name] as Record<string, number>)[key] ?? 0,
    }));
  });
  const lines = rows.map(row => columns.map(({ of }) => csvCell(String(of(row) ?? ''))).join(','));
  return `${[columns.map(({ header }) => csvCell(header)).join(','), ...lines].join('\n')}\n`;
}
