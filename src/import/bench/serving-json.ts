/**
 * Results of the serving clients, one JSON object per run:
 * - vLLM: `vllm bench serve --save-result` (vllm/benchmarks/serve.py) and the older benchmarks/benchmark_serving.py;
 * - TensorRT-LLM: tensorrt_llm/serve/scripts/benchmark_serving.py, which adds `user_throughput`;
 * - SGLang: `python -m sglang.bench_serving --output-file` (python/sglang/bench_serving.py), appended line by line.
 * They descend from one script and share most names. Two quirks: `request_goodput:` has a colon in its name in two of
 * them, and latencies of runs without streaming are written as 0, which RunDraft drops.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { engineNamed } from '../../catalog/engines.js';
import type { BenchRun, LatencyName } from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { at, has, listAt, numberAt } from './json-fields.js';
import { type LatencyStat, MS, RunDraft, SECONDS } from './run-draft.js';
import { requestRows } from './serving-requests.js';

type Dialect = 'vllm' | 'trtllm' | 'sglang';

function dialectOf(value: unknown): Dialect | undefined {
  if (!isJsonObject(value) || numberAt(value, 'request_throughput') === undefined) return undefined;
  if (!has(value, 'completed', 'duration')) return undefined;
  if (has(value, 'mean_e2e_latency_ms') || has(value, 'total_output_tokens_retokenized')) return 'sglang';
  if (has(value, 'user_throughput') || has(value, 'avg_decoded_tokens_per_iter')) return 'trtllm';
  return 'vllm';
}

const servingJson = (id: string, label: string, tool: string, dialect: Dialect): BenchImporter => ({
  id,
  label,
  recognizes: content => content.objects.some(({ value }) => dialectOf(value) === dialect),
  read: content => readRuns(content, id, tool, dialect),
});

export const vllmServingJson = servingJson(
  'vllm-serving-json',
  'JSON of vllm bench serve',
  'vllm bench serve',
  'vllm',
);
export const trtllmServingJson = servingJson(
  'trtllm-serving-json',
  "JSON of TensorRT-LLM's benchmark_serving",
  'benchmark_serving (TensorRT-LLM)',
  'trtllm',
);
export const sglangServingJson = servingJson(
  'sglang-serving-json',
  'JSON lines of sglang.bench_serving',
  'sglang.bench_serving',
  'sglang',
);

function readRuns(content: BenchContent, id: string, tool: string, dialect: Dialect): BenchRun[] {
  const runs: BenchRun[] = [];
  for (const { value, line } of content.objects) {
    if (dialectOf(value) !== dialect) continue;
    const draft = new RunDraft(tool);
    draft.line = line;
    if (runs.length === 0 && content.unreadableLines > 0)
      draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
    fill(draft, value);
    runs.push(draft.build(content.file, id));
  }
  return runs;
}

const latencyOf: Readonly<Record<string, LatencyName>> = {
  ttft: 'ttft',
  tpot: 'tpot',
  itl: 'itl',
  e2el: 'e2e',
  e2e_latency: 'e2e',
};
const statOf: Readonly<Record<string, LatencyStat>> = {
  mean: 'mean',
  median: 'p50',
  std: 'stddev',
  min: 'min',
  max: 'max',
};
const LATENCY = /^(mean|median|std|min|max|p\d{1,2}(?:\.\d{1,3})?)_(ttft|tpot|itl|e2el|e2e_latency)_ms$/;

function fill(draft: RunDraft, value: JsonObject): void {
  const completed = numberAt(value, 'completed');
  const input = numberAt(value, 'total_input_tokens');
  const output = numberAt(value, 'total_output_tokens');
  draft
    .text('label', at(value, 'tag') ?? at(value, 'label'))
    .text('framework', engineNamed(at(value, 'backend')))
    .text('frameworkVersion', at(value, 'server_info', 'version'))
    .text('model', at(value, 'model_id') ?? at(value, 'server_info', 'model_path'))
    .text('load.dataset', at(value, 'dataset_name'))
    .rate(at(value, 'request_rate'))
    .number('load.maxConcurrency', at(value, 'max_concurrency'))
    .number('load.meanConcurrency', at(value, 'concurrency'))
    .number('load.requests', at(value, 'num_prompts'))
    .number('load.tensorParallel', at(value, 'server_info', 'tp_size'))
    .number('load.pipelineParallel', at(value, 'server_info', 'pp_size'))
    .number('load.expertParallel', at(value, 'server_info', 'ep_size'))
    .number('load.dataParallel', at(value, 'server_info', 'dp_size'))
    .number('durationNs', at(value, 'duration'), SECONDS)
    .number('counts.completed', completed)
    .number('counts.inputTokens', input)
    .number('counts.outputTokens', output)
    .number('throughput.requests', at(value, 'request_throughput'))
    .number('throughput.goodRequests', at(value, 'request_goodput') ?? at(value, 'request_goodput:'))
    .number('throughput.inputTokens', at(value, 'input_throughput'))
    .number('throughput.outputTokens', at(value, 'output_throughput'))
    .number('throughput.totalTokens', at(value, 'total_token_throughput') ?? at(value, 'total_throughput'))
    .number('throughput.outputTokensPerUser', at(value, 'user_throughput'));
  if (completed && input !== undefined) draft.number('load.inputTokens', input / completed);
  if (completed && output !== undefined) draft.number('load.outputTokens', output / completed);
  const errors = listAt(value, 'errors');
  draft.number(
    'counts.errors',
    at(value, 'failed') ?? (errors.length > 0 ? errors.filter(text => text !== '').length : undefined),
  );
  for (const [key, figure] of Object.entries(value)) {
    const match = LATENCY.exec(key);
    if (!match) continue;
    const stat = statOf[match[1]] ?? (match[1] as `p${number}`);
    draft.number(`latency.${latencyOf[match[2]]}.${stat}`, figure, MS);
  }
  for (const row of requestRows(value)) draft.requests.push(row);
  // Python's time.perf_counter: on Linux, the monotonic clock of the client's machine.
  if (draft.requests.some(({ startNs }) => startNs !== undefined)) draft.clock = { monotonicNs: '0' };
}
