/**
 * `trtllm-bench … --iteration_log`: one dict per pass, printed by Python (single quotes, True, None, nan), and the
 * JSON that `/metrics` of trtllm-serve gives, an array of the same objects. Fields of
 * cpp/tensorrt_llm/executor/jsonSerialization.cpp and tensorrt_llm/executor/base_worker.py; all are optional.
 */
import { shiftDecimal } from '../../base/decimal-shift.js';
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { BenchIteration } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { at, has, numberAt } from './json-fields.js';
import { RunDraft } from './run-draft.js';
import { withoutAbsent } from './trtllm-iteration.js';

const isStats = (value: unknown): value is JsonObject =>
  isJsonObject(value) &&
  has(value, 'iter') &&
  (has(value, 'iterLatencyMS') || has(value, 'numActiveRequests'));

export const trtllmIterationLog: BenchImporter = {
  id: 'trtllm-iteration-log',
  label: 'trtllm-bench --iteration_log, or /metrics of trtllm-serve',
  recognizes: content => rowsOf(content).some(isStats),
  read(content) {
    const draft = new RunDraft('TensorRT-LLM').text('framework', 'TensorRT-LLM');
    for (const row of rowsOf(content)) {
      if (isStats(row)) draft.iterations.push(iteration(row));
      else draft.notes.add('other-rows', 'warning', 'rows that are not iterations were left out');
    }
    if (content.unreadableLines > 0)
      draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
    return [draft.build(content.file, trtllmIterationLog.id)];
  },
};

/** An array is the file's only document. */
function rowsOf(content: BenchContent): readonly unknown[] {
  const [first] = content.documents;
  return Array.isArray(first?.value) ? first.value : content.objects.map(({ value }) => value);
}

function iteration(row: JsonObject): BenchIteration {
  const batch = at(row, 'inflightBatchingStats') ?? at(row, 'staticBatchingStats');
  const used = numberAt(row, 'kvCacheStats', 'usedNumBlocks');
  const most = numberAt(row, 'kvCacheStats', 'maxNumBlocks');
  const timestamp = at(row, 'timestamp');
  return withoutAbsent({
    iteration: numberAt(row, 'iter') ?? -1,
    rank: count(row, 'rank') ?? count(row, 'attentionDpRank'),
    timestamp: typeof timestamp === 'string' ? timestamp.trim().slice(0, 60) : undefined,
    hostStepNs: milliseconds(row, 'hostStepTimeMS'),
    previousDeviceStepNs: milliseconds(row, 'prevDeviceStepTimeMS'),
    gpuForwardNs: milliseconds(row, 'gpuForwardTimeMS'),
    iterationLatencyNs: milliseconds(row, 'iterLatencyMS'),
    scheduledRequests: count(batch, 'numScheduledRequests'),
    activeRequests: count(row, 'numActiveRequests'),
    queuedRequests: count(row, 'numQueuedRequests'),
    contextRequests: count(batch, 'numContextRequests'),
    contextTokens: count(batch, 'numCtxTokens'),
    generationRequests: count(batch, 'numGenRequests'),
    generationTokens: count(batch, 'numGenTokens'),
    kvCacheShare: used !== undefined && most !== undefined && most > 0 ? used / most : undefined,
  });
}

function count(value: unknown, name: string): number | undefined {
  const number = numberAt(value, name);
  return number !== undefined && Number.isFinite(number) && number >= 0 ? number : undefined;
}

function milliseconds(row: JsonObject, name: string): number | undefined {
  const number = count(row, name);
  return number === undefined ? undefined : shiftDecimal(number, 6);
}
