/** The lists of a detailed serving result (`--save-detailed`, `--output-details`): one entry per request, in seconds. */
import { shiftDecimal } from '../../base/decimal-shift.js';
import type { JsonObject } from '../../base/json/json-object.js';
import type { BenchRequest } from '../../model/bench-run.js';
import { listAt } from './json-fields.js';
import { withoutAbsent } from './trtllm-iteration.js';

/** None unless every list that is there has the same length: rows must not be shifted against each other. */
export function requestRows(value: JsonObject): BenchRequest[] {
  const input = listAt(value, 'input_lens');
  const output = listAt(value, 'output_lens');
  const first = listAt(value, 'ttfts');
  const whole = listAt(value, 'latencies').length > 0 ? listAt(value, 'latencies') : listAt(value, 'e2els');
  const gaps = listAt(value, 'itls');
  const starts = listAt(value, 'start_times');
  const errors = listAt(value, 'errors');
  const lengths = new Set(
    [input, output, first, whole, gaps, starts, errors].map(list => list.length).filter(n => n > 0),
  );
  if (lengths.size !== 1 || input.length === 0) return [];
  return input.map((tokens, i) =>
    withoutAbsent({
      inputTokens: count(tokens),
      outputTokens: count(output[i]),
      startNs: seconds(starts[i]),
      e2eNs: seconds(whole[i]) ?? sumOfGaps(first[i], gaps[i]),
      ttftNs: seconds(first[i]),
      failed: typeof errors[i] === 'string' && errors[i] !== '' ? (true as const) : undefined,
    }),
  );
}

const count = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Clients that do not write the whole write its parts: the first token, and the time between any two pieces. */
function sumOfGaps(first: unknown, gaps: unknown): number | undefined {
  const begin = seconds(first);
  if (begin === undefined || !Array.isArray(gaps)) return undefined;
  let sum = begin;
  for (const gap of gaps) {
    if (typeof gap !== 'number' || !Number.isFinite(gap) || gap < 0) return undefined;
    sum += shiftDecimal(gap, 9);
  }
  return sum;
}

/** 0 is written for requests that failed or were not streamed. */
const seconds = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? shiftDecimal(value, 9) : undefined;
