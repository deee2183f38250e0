/** Results of analyses as JSON, declared: what is alike of all of them, and the rows of each by its fields. */
import type { TProperties, TSchema } from 'typebox';
import type { AnyAnalysis, Field } from '../analyze/analysis.js';
import {
  anyObject,
  choice,
  document,
  either,
  flag,
  integer,
  list,
  mapOf,
  note,
  number,
  object,
  only,
  orNull,
  references,
  string,
  titled,
} from '../base/document.js';

const words = { title: string(), question: string() };

/** What an analysis gave, with rows of this form. */
const outcome = <Row extends TSchema>(row: Row) =>
  either([
    object({
      status: only('ok'),
      ...words,
      rows: list(row),
      summary: anyObject(),
    }),
    object({
      status: only('not-recorded'),
      ...words,
      what: string('what the capture is missing'),
      hint: string('how to capture it'),
    }),
    object({ status: only('failed'), ...words, message: string() }),
  ]);

export const outcomeSchema = outcome(anyObject());

const formOf = (id: string) => `stepscope-analyze-1/${id}`;

export function analysisSchema({ id, title, question, fields }: AnyAnalysis) {
  const row = Object.entries<Field>(fields).map(([name, field]) => [name, fieldSchema(field)] as const);
  return titled(formOf(id), title, question, outcome(object(Object.fromEntries(row) as TProperties)));
}

/** `originNs` is a whole number too large for JSON's. */
export const analyzeSchema = (analyses: readonly AnyAnalysis[]) =>
  document(
    'stepscope-analyze/1',
    'Analyses of a profile',
    'Output of stepscope analyze --json: the requested analyses, each with its own schema.',
    {
      files: list(string(), 'base names'),
      clock: object({
        kind: choice(['utc', 'session'], 'utc: times of different files are comparable'),
        originNs: string('reference point of times: nanoseconds, as text', { pattern: '^-?[0-9]+$' }),
      }),
      analyses: references<typeof outcomeSchema>(
        Object.fromEntries(analyses.map(({ id }) => [id, formOf(id)])),
        'by id',
      ),
      notes: list(note, 'data lost or anomalies found while reading'),
    },
  );

const units: Partial<Record<Field['kind'], string>> = {
  ns: 'nanoseconds',
  'ns-mean': 'nanoseconds',
  timestamp: 'nanoseconds on the clock of the profile',
  share: '0 to 1',
  bytes: 'bytes',
  'bytes-per-second': 'bytes per second',
  percent: 'percent',
};

function fieldSchema({ kind, about, optional }: Field): TSchema {
  const unit = units[kind];
  const description = unit ? `${about} (${unit})` : about;
  if (kind === 'map-ns') return mapOf(number(), `${about} (nanoseconds per name)`);
  if (kind === 'list') return list(anyObject(), description);
  const make = ({ text: string, flag, count: integer, id: integer } as const)[kind as string] ?? number;
  return optional ? orNull(make(description)) : make(description);
}
