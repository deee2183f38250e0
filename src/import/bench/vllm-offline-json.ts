/**
 * The JSON of vLLM's offline benchmarks: `vllm bench throughput --output-json` (vllm/benchmarks/throughput.py) and
 * `vllm bench latency --output-json` (vllm/benchmarks/latency.py). `tokens_per_second` counts prompts and answers
 * together. The latencies are of whole batches, all requests of one having the same.
 */
import type { BenchImporter } from './bench-importer.js';
import { at, has, listAt } from './json-fields.js';
import { RunDraft, SECONDS } from './run-draft.js';

export const vllmThroughputJson: BenchImporter = {
  id: 'vllm-throughput-json',
  label: 'JSON of vllm bench throughput',
  recognizes: content =>
    content.objects.some(({ value }) =>
      has(value, 'elapsed_time', 'requests_per_second', 'tokens_per_second'),
    ),
  read: content =>
    content.objects
      .filter(({ value }) => has(value, 'requests_per_second'))
      .map(({ value, line }) => {
        const draft = new RunDraft('vllm bench throughput')
          .text('framework', 'vLLM')
          .text('model', at(value, 'model_id'));
        draft.line = line;
        return draft
          .number('durationNs', at(value, 'elapsed_time'), SECONDS)
          .number('load.requests', at(value, 'num_requests'))
          .number('throughput.requests', at(value, 'requests_per_second'))
          .number('throughput.totalTokens', at(value, 'tokens_per_second'))
          .build(content.file, vllmThroughputJson.id);
      }),
};

export const vllmLatencyJson: BenchImporter = {
  id: 'vllm-latency-json',
  label: 'JSON of vllm bench latency',
  recognizes: content =>
    content.objects.some(({ value }) => has(value, 'avg_latency', 'latencies', 'percentiles')),
  read: content =>
    content.objects
      .filter(({ value }) => has(value, 'avg_latency'))
      .map(({ value, line }) => {
        const draft = new RunDraft('vllm bench latency')
          .text('framework', 'vLLM')
          .text('model', at(value, 'model_id'));
        draft.line = line;
        draft
          .number('latency.e2e.mean', at(value, 'avg_latency'), SECONDS)
          .number('latency.e2e.stddev', at(value, 'std_latency'), SECONDS);
        const percentiles = at(value, 'percentiles') ?? {};
        for (const percent of Object.keys(percentiles)) {
          if (/^\d{1,2}(?:\.\d{1,3})?$/.test(percent))
            draft.number(`latency.e2e.p${Number(percent)}`, at(percentiles, percent), SECONDS);
        }
        const batches = listAt(value, 'latencies').length;
        draft.notes.add(
          'batches',
          'info',
          'batches were timed; each latency covers a whole batch',
          '',
          batches,
        );
        return draft.build(content.file, vllmLatencyJson.id);
      }),
};
