/**
 * `time_events_rank{N}_pid{P}.jsonl` of a folder named by TRTLLM_PERF_TIME_EVENTS_PATH: one object per finished
 * request and rank (tensorrt_llm/_torch/pyexecutor/perf_metrics_manager.py, `maybe_write_request_events`). With
 * trtllm-serve the moments of a request are in `request_timing_metrics`; without them only its prefill is known.
 */
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { betweenNs, momentNs, timesOfMoments } from '../../catalog/request-times.js';
import type { BenchRequest, BenchRun } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { at, has, listAt, numberAt } from './json-fields.js';
import { RunDraft } from './run-draft.js';
import { summarizeRequests } from './summarize-requests.js';
import { withoutAbsent } from './trtllm-iteration.js';
import { iterationsOf } from './trtllm-time-breakdown.js';

const isEvent = (value: unknown): value is JsonObject =>
  isJsonObject(value) && has(value, 'request_id', 'rank', 'time_breakdown_metrics');

export const trtllmTimeEvents: BenchImporter = {
  id: 'trtllm-time-events',
  label: 'time events of TensorRT-LLM (TRTLLM_PERF_TIME_EVENTS_PATH)',
  recognizes: content => content.objects.some(({ value }) => isEvent(value)),
  read(content) {
    const ranks = new Map<number, JsonObject[]>();
    for (const { value } of content.objects) {
      if (!isEvent(value)) continue;
      const rank = numberAt(value, 'rank') ?? 0;
      ranks.set(rank, [...(ranks.get(rank) ?? []), value]);
    }
    return [...ranks].sort(([a], [b]) => a - b).map(([rank, rows]) => ofRank(content, rank, rows));
  },
};

/** Every rank writes every request that it ran; together they would count twice. */
function ofRank(content: BenchContent, rank: number, rows: readonly JsonObject[]): BenchRun {
  const draft = new RunDraft('TensorRT-LLM').text('framework', 'TensorRT-LLM').text('label', `rank ${rank}`);
  for (const row of rows) draft.requests.push(requestOf(row));
  for (const iteration of iterationsOf(rows)) draft.iterations.push(iteration);
  const others = content.documents.length - content.objects.filter(({ value }) => isEvent(value)).length;
  if (others > 0)
    draft.notes.add('other-rows', 'warning', 'rows that are not requests were left out', '', others);
  if (content.unreadableLines > 0)
    draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
  summarizeRequests(draft);
  draft.clock = { monotonicNs: '0' };
  return draft.build(content.file, trtllmTimeEvents.id);
}

function requestOf(row: JsonObject): BenchRequest {
  const times = timesOfMoments(at(row, 'request_timing_metrics'));
  return withoutAbsent({
    id: numberAt(row, 'request_id'),
    ...times,
    prefillNs: times.prefillNs ?? prefillNs(row),
  });
}

/** From the first chunk of the prompt to the token of the last one. */
function prefillNs(row: JsonObject): number | undefined {
  const chunks = listAt(row, 'time_breakdown_metrics', 'ctx_chunk_metrics');
  const begin = numberAt(chunks[0], 'scheduled_time') ?? numberAt(chunks[0], 'forward_start_time');
  return betweenNs(momentNs(begin), momentNs(numberAt(chunks.at(-1), 'token_time')));
}
