/**
 * `trtllm-bench … --report_json`: the figures of the text report with all their digits. Fields as written by
 * `get_statistics_dict` in tensorrt_llm/bench/dataclasses/reporting.py. `issue_rate` is not taken (it is no rate), nor
 * `kv_cache_percentage` (a share in some versions, a percentage in others).
 */

import { isJsonObject } from '../../base/json/json-object.js';
import type { LatencyName } from '../../model/bench-run.js';
import type { BenchImporter } from './bench-importer.js';
import { at, has } from './json-fields.js';
import { MS, RunDraft } from './run-draft.js';

const stats = {
  p50: 'p50',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  minimum: 'min',
  maximum: 'max',
  average: 'mean',
} as const;

export const trtllmReportJson: BenchImporter = {
  id: 'trtllm-report-json',
  label: 'trtllm-bench --report_json',
  recognizes: content =>
    content.objects.some(({ value }) => has(value, 'engine', 'performance', 'request_info')),
  read: content =>
    content.objects
      .filter(({ value }) => isJsonObject(at(value, 'performance')))
      .map(({ value, line }) => {
        const draft = new RunDraft('trtllm-bench').text('framework', 'TensorRT-LLM');
        draft.line = line;
        draft
          .text('frameworkVersion', at(value, 'engine', 'version'))
          .text('model', at(value, 'engine', 'model'))
          .text('dtype', at(value, 'engine', 'dtype'))
          .text('kvCacheDtype', at(value, 'engine', 'kv_cache_dtype'))
          .text('quantization', at(value, 'engine', 'quantization'))
          .text('gpu', at(value, 'machine', 'name'))
          .text('load.dataset', at(value, 'dataset', 'dataset_path'))
          .number('load.tensorParallel', at(value, 'world_info', 'tp_size'))
          .number('load.pipelineParallel', at(value, 'world_info', 'pp_size'))
          .number('load.expertParallel', at(value, 'world_info', 'ep_size'))
          .number('load.gpus', at(value, 'world_info', 'world_size'))
          .number('load.maxBatchSize', at(value, 'world_info', 'max_batch_size'))
          .number('load.maxBatchTokens', at(value, 'world_info', 'max_num_tokens'))
          .number('load.requests', at(value, 'request_info', 'num_requests'))
          .number('load.meanConcurrency', at(value, 'request_info', 'avg_num_concurrent_requests'))
          .number('load.inputTokens', at(value, 'request_info', 'avg_input_length'))
          .number('load.outputTokens', at(value, 'request_info', 'avg_output_length'));
        const performance = at(value, 'performance');
        draft
          .number('durationNs', at(performance, 'total_latency_ms'), MS)
          .number('throughput.requests', at(performance, 'request_throughput_req_s'))
          .number('throughput.outputTokens', at(performance, 'system_output_throughput_tok_s'))
          .number('throughput.totalTokens', at(performance, 'system_total_throughput_tok_s'))
          .number('throughput.outputTokensPerUser', at(performance, 'output_throughput_per_user_tok_s'))
          .number('throughput.outputTokensPerGpu', at(performance, 'output_throughput_per_gpu_tok_s'))
          .number('latency.e2e.mean', at(performance, 'avg_request_latency_ms'), MS)
          // `average_gpu_power` does not state whether it is of one GPU or of all.
          .number('energy.totalJoules', at(value, 'energy', 'total_energy_j'))
          .number('energy.outputTokensPerSecondPerWatt', at(value, 'energy', 'output_tps_per_w'));
        distribution(draft, 'e2e', at(performance, 'request_latency_percentiles_ms'));
        const streaming = at(value, 'streaming_metrics');
        draft
          .number('throughput.generationSpeedPerUser', at(streaming, 'token_output_speed_tok_s'))
          .number('latency.ttft.mean', at(streaming, 'avg_ttft_ms'), MS)
          .number('latency.tpot.mean', at(streaming, 'avg_tpot_ms'), MS);
        distribution(draft, 'ttft', at(streaming, 'ttft_percentiles'));
        distribution(draft, 'tpot', at(streaming, 'tpot_percentiles'));
        return draft.build(content.file, trtllmReportJson.id);
      }),
};

function distribution(draft: RunDraft, name: LatencyName, value: unknown): void {
  for (const [key, stat] of Object.entries(stats))
    draft.number(`latency.${name}.${stat}`, at(value, key), MS);
}
