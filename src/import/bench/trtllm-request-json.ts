/**
 * `trtllm-bench … --request_json`: one object per request, times in nanoseconds of a monotonic clock
 * (tensorrt_llm/bench/dataclasses/statistics.py, RequestRecord). The file holds no summary, so the figures are
 * computed from its rows by the tool's own rule: the percentile q of n is the one at place ⌊n·q⌋, not interpolated.
 * Without streaming the time of the first token is −1 or missing; TTFT and TPOT are then not measured.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { BenchRequest, LatencyName } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { has, numberAt } from './json-fields.js';
import { RunDraft } from './run-draft.js';
import { withoutAbsent } from './trtllm-iteration.js';

const isRequest = (value: unknown): value is JsonObject =>
  isJsonObject(value) && has(value, 'start_timestamp', 'end_timestamp', 'num_input_tokens');

const rowsOf = ({ documents: [first] }: BenchContent): readonly unknown[] =>
  Array.isArray(first?.value) ? first.value : [];

export const trtllmRequestJson: BenchImporter = {
  id: 'trtllm-request-json',
  label: 'trtllm-bench --request_json',
  recognizes: content => rowsOf(content).some(isRequest),
  read(content) {
    const draft = new RunDraft('trtllm-bench').text('framework', 'TensorRT-LLM');
    for (const row of rowsOf(content)) {
      if (isRequest(row)) draft.requests.push(request(row));
      else draft.notes.add('other-rows', 'warning', 'rows that are not requests were left out');
    }
    summarize(draft);
    draft.notes.add('computed', 'info', 'metrics are computed from the requests in the file');
    return [draft.build(content.file, trtllmRequestJson.id)];
  },
};

function request(row: JsonObject): BenchRequest {
  const time = (name: string) => positive(numberAt(row, name));
  const streamed = time('first_token_timestamp') !== undefined;
  return withoutAbsent({
    id: numberAt(row, 'id'),
    inputTokens: positive(numberAt(row, 'num_input_tokens')),
    outputTokens: positive(
      numberAt(row, 'num_total_output_tokens') ??
        numberAt(row, 'num_output_tokens') ??
        numberAt(row, 'output_tokens'),
    ),
    startNs: numberAt(row, 'start_timestamp'),
    e2eNs: time('end_to_end_latency'),
    ttftNs: streamed ? time('time_to_first_token') : undefined,
    // One-token answers have no time per further token; the tool writes 0.
    tpotNs: streamed ? time('intertoken_latency') : undefined,
    failed: (numberAt(row, 'error_tokens') ?? 0) > 0 ? (true as const) : undefined,
  });
}

const positive = (value: number | undefined) =>
  value !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;

function summarize(draft: RunDraft): void {
  const { requests } = draft;
  const failed = requests.filter(row => row.failed).length;
  draft.number('counts.completed', requests.length - failed).number('counts.errors', failed);
  draft.number('load.requests', requests.length);
  const whole = requests.filter(row => row.startNs !== undefined && row.e2eNs !== undefined);
  if (whole.length !== requests.length || whole.length === 0) return;
  const begin = whole.reduce((least, row) => Math.min(least, row.startNs!), Infinity);
  const end = whole.reduce((most, row) => Math.max(most, row.startNs! + row.e2eNs!), -Infinity);
  const seconds = (end - begin) / 1e9;
  const input = total(requests, 'inputTokens');
  const output = total(requests, 'outputTokens');
  draft.number('durationNs', end - begin).number('throughput.requests', requests.length / seconds);
  draft.number('counts.inputTokens', input).number('counts.outputTokens', output);
  if (input !== undefined) draft.number('load.inputTokens', input / requests.length);
  if (output !== undefined) {
    draft.number('load.outputTokens', output / requests.length);
    draft.number('throughput.outputTokens', output / seconds);
    if (input !== undefined) draft.number('throughput.totalTokens', (input + output) / seconds);
  }
  for (const [name, field] of [
    ['e2e', 'e2eNs'],
    ['ttft', 'ttftNs'],
    ['tpot', 'tpotNs'],
  ] as const)
    distribution(
      draft,
      name,
      requests.map(row => row[field]),
    );
}

/** Undefined where a row does not say. */
function total(rows: readonly BenchRequest[], field: 'inputTokens' | 'outputTokens'): number | undefined {
  let sum = 0;
  for (const row of rows) {
    const value = row[field];
    if (value === undefined) return undefined;
    sum += value;
  }
  return sum;
}

function distribution(draft: RunDraft, name: LatencyName, values: readonly (number | undefined)[]): void {
  const sorted = Float64Array.from(values.filter(value => value !== undefined)).sort();
  const n = sorted.length;
  if (n === 0) return;
  draft.number(`latency.${name}.mean`, sorted.reduce((sum, value) => sum + value, 0) / n);
  draft.number(`latency.${name}.min`, sorted[0]).number(`latency.${name}.max`, sorted[n - 1]);
  for (const percent of [50, 90, 95, 99])
    draft.number(`latency.${name}.p${percent}`, sorted[Math.min(n - 1, Math.floor((n * percent) / 100))]);
}
