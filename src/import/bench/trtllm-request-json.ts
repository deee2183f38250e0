/**
 * `trtllm-bench … --request_json`: one object per request, times in nanoseconds of a monotonic clock
 * (tensorrt_llm/bench/dataclasses/statistics.py, RequestRecord). The file holds no summary, so the figures are
 * computed from its rows (summarize-requests.ts).
 * Without streaming the time of the first token is −1 or missing; TTFT and TPOT are then not measured.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { BenchRequest } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { has, numberAt } from './json-fields.js';
import { RunDraft } from './run-draft.js';
import { summarizeRequests } from './summarize-requests.js';
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
    summarizeRequests(draft);
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
