/**
 * `profile_export.jsonl` of AIPerf (src/aiperf/common/models/record_models.py, `MetricRecordInfo`; read in 0.13 and
 * tried on its files): one request per line, with wall-clock nanoseconds and metrics that state their unit. Requests
 * of the warm-up are counted and left out, as AIPerf's own summary does. Tokens are those the server reports; AIPerf
 * counts with its own tokenizer, and where both differ its time per token is not taken.
 */

import { shiftDecimal } from '../../base/decimal-shift.js';
import type { JsonObject } from '../../base/json/json-object.js';
import { isJsonObject } from '../../base/json/json-object.js';
import type { BenchRequest } from '../../model/bench-run.js';
import { type AiperfLine, aiperfLines, isAiperfLine, leastOf } from './aiperf-lines.js';
import type { BenchImporter } from './bench-importer.js';
import { at, numberAt } from './json-fields.js';
import { MS, RunDraft } from './run-draft.js';
import { summarizeRequests } from './summarize-requests.js';
import { withoutAbsent } from './trtllm-iteration.js';

const isRecord = (value: JsonObject) =>
  typeof at(value, 'metadata', 'request_start_ns') === 'number' && isJsonObject(at(value, 'metrics'));

export const aiperfRecords: BenchImporter = {
  id: 'aiperf-records-jsonl',
  label: 'requests of AIPerf (profile_export.jsonl)',
  recognizes: content => isAiperfLine(content, isRecord),
  read(content) {
    const draft = new RunDraft('AIPerf');
    const lines = aiperfLines(content, isRecord);
    const counted = lines.filter(({ value }) => at(value, 'metadata', 'benchmark_phase') !== 'warmup');
    if (counted.length < lines.length)
      draft.notes.add(
        'warm-up',
        'info',
        'requests of the warm-up were left out',
        '',
        lines.length - counted.length,
      );
    if (content.unreadableLines > 0)
      draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
    const originNs = leastOf(counted.map(line => line.utcNs('request_start_ns')));
    if (originNs === undefined) return [];
    for (const line of counted) draft.requests.push(requestOf(line, originNs));
    summarizeRequests(draft);
    draft.clock = { utcNs: String(originNs) };
    return [draft.build(content.file, aiperfRecords.id)];
  },
};

function requestOf({ value, utcNs }: AiperfLine, originNs: bigint): BenchRequest {
  const startNs = utcNs('request_start_ns');
  const reported = metric(value, 'usage_completion_tokens', /^tokens$/);
  const counted = metric(value, 'output_sequence_length', /^tokens$/);
  const milliseconds = (name: string) => {
    const ms = metric(value, name, /^ms$/);
    return ms === undefined ? undefined : shiftDecimal(ms, MS);
  };
  const error = at(value, 'error');
  const hasFailed =
    (error !== undefined && error !== null) || at(value, 'metadata', 'was_cancelled') === true;
  return withoutAbsent({
    id: numberAt(value, 'metadata', 'session_num'),
    failed: hasFailed ? (true as const) : undefined,
    startNs: startNs === undefined ? undefined : Number(startNs - originNs),
    e2eNs: milliseconds('request_latency'),
    ttftNs: milliseconds('time_to_first_token'),
    tpotNs: reported === undefined || reported === counted ? milliseconds('inter_token_latency') : undefined,
    inputTokens:
      metric(value, 'usage_prompt_tokens', /^tokens$/) ?? metric(value, 'input_sequence_length', /^tokens$/),
    outputTokens: reported ?? counted,
  });
}

function metric(record: JsonObject, name: string, unit: RegExp): number | undefined {
  const value = numberAt(record, 'metrics', name, 'value');
  const isKnown = unit.test(String(at(record, 'metrics', name, 'unit')));
  return value !== undefined && isKnown && Number.isFinite(value) && value >= 0 ? value : undefined;
}
