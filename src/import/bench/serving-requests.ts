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
  const errors = listAt(value, 'errors');
  const lengths = new Set([input, output, first, whole, errors].map(list => list.length).filter(n => n > 0));
  if (lengths.size !== 1 || input.length === 0) return [];
  return input.map((tokens, i) =>
    withoutAbsent({
      inputTokens: count(tokens),
      outputTokens: count(output[i]),
      e2eNs: seconds(whole[i]),
      ttftNs: seconds(first[i]),
      failed: typeof errors[i] === 'string' && errors[i] !== '' ? (true as const) : undefined,
    }),
  );
}

const count = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** 0 is written for requests that failed or were not streamed. */
const seconds = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? shiftDecimal(value, 9) : undefined;
