/** Results of analyses for machines: one versioned JSON document, CSV of rows, and the JSON Schema of both. */
import type { AnyAnalysis, Field, Json, Outcome } from '../analyze/analysis.js';
import { csvCell } from '../base/csv-cell.js';

export const ANALYZE_SCHEMA = 'stepscope-analyze/1';

export function outcomeAsJson(outcome: Outcome): { readonly [name: string]: Json } {
  const { title, question } = outcome.analysis;
  if (outcome.status === 'ok') {
    const { rows, summary = {} } = outcome.result;
    return { status: 'ok', title, question, rows: rows as readonly Json[], summary };
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

/** JSON Schema (2020-12) of one analysis in the document. */
export function analysisSchema(analysis: AnyAnalysis): Json {
  const fields = Object.entries(analysis.fields as Record<string, Field>);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `stepscope-analyze-1/${analysis.id}`,
    title: analysis.title,
    description: analysis.question,
    oneOf: [
      {
        type: 'object',
        properties: {
          status: { const: 'ok' },
          title: { type: 'string' },
          question: { type: 'string' },
          rows: {
            type: 'array',
            items: {
              type: 'object',
              properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field)])),
              required: fields.map(([name]) => name),
              additionalProperties: false,
            },
          },
          summary: { type: 'object' },
        },
        required: ['status', 'title', 'question', 'rows', 'summary'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: {
          status: { const: 'not-recorded' },
          title: { type: 'string' },
          question: { type: 'string' },
          what: { type: 'string', description: 'what the capture lacks' },
          hint: { type: 'string', description: 'how to capture it' },
        },
        required: ['status', 'title', 'question', 'what', 'hint'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: {
          status: { const: 'failed' },
          title: { type: 'string' },
          question: { type: 'string' },
          message: { type: 'string' },
        },
        required: ['status', 'title', 'question', 'message'],
        additionalProperties: false,
      },
    ],
  };
}

const units: Partial<Record<Field['kind'], string>> = {
  ns: 'nanoseconds',
  'ns-mean': 'nanoseconds',
  timestamp: 'nanoseconds on the clock of the profile',
  share: '0 to 1',
  bytes: 'bytes',
  'bytes-per-second': 'bytes per second',
  percent: 'percent',
};

function fieldSchema({ kind, about, optional }: Field): Json {
  const unit = units[kind];
  const description = unit ? `${about} (${unit})` : about;
  if (kind === 'map-ns')
    return {
      type: 'object',
      additionalProperties: { type: 'number' },
      description: `${about} (nanoseconds by name)`,
    };
  if (kind === 'list') return { type: 'array', items: { type: 'object' }, description };
  const type =
    kind === 'text'
      ? 'string'
      : kind === 'flag'
        ? 'boolean'
        : kind === 'count' || kind === 'id'
          ? 'integer'
          : 'number';
  return { type: optional ? [type, 'null'] : type, description };
}
