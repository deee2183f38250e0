/**
 * JSON lines of SGLang's offline benchmarks: `bench_one_batch` and `bench_one_batch_server --result-filename`
 * (python/sglang/bench_one_batch.py, bench_one_batch_server.py) and `bench_offline_throughput` (same folder).
 *
 * One batch runs to its end: prefill is the time to first token of all its requests, the median decode pass a gap
 * between tokens. Its decode throughputs are of single passes, or of the time after prefill, and are not passed on as
 * throughput of the run; `last_gen_throughput` is what the engine logged last.
 */
import type { BenchImporter } from './bench-importer.js';
import { at, has } from './json-fields.js';
import { RunDraft, SECONDS } from './run-draft.js';

export const sglangOneBatchJson: BenchImporter = {
  id: 'sglang-one-batch-json',
  label: 'JSON lines of sglang.bench_one_batch',
  recognizes: content =>
    content.objects.some(({ value }) =>
      has(value, 'batch_size', 'input_len', 'output_len', 'overall_throughput'),
    ),
  read: content =>
    content.objects
      .filter(({ value }) => has(value, 'batch_size', 'overall_throughput'))
      .map(({ value, line }, i) => {
        const draft = new RunDraft('sglang.bench_one_batch').text('framework', 'SGLang');
        draft.line = line;
        if (i === 0 && content.unreadableLines > 0)
          draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
        const total = at(value, 'total_latency') ?? at(value, 'latency');
        const name = at(value, 'run_name');
        return draft
          .text('label', name === 'default' ? undefined : name)
          .number('load.batchSize', at(value, 'batch_size'))
          .number('load.requests', at(value, 'batch_size'))
          .number('load.inputTokens', at(value, 'input_len'))
          .number('load.outputTokens', at(value, 'output_len'))
          .number('latency.ttft.mean', at(value, 'prefill_latency') ?? at(value, 'last_ttft'), SECONDS)
          .number('latency.itl.p50', at(value, 'median_decode_latency'), SECONDS)
          .number('latency.e2e.mean', total, SECONDS)
          .number('durationNs', total, SECONDS)
          .number('throughput.totalTokens', at(value, 'overall_throughput'))
          .build(content.file, sglangOneBatchJson.id);
      }),
};

export const sglangThroughputJson: BenchImporter = {
  id: 'sglang-throughput-json',
  label: 'JSON lines of sglang.bench_offline_throughput',
  recognizes: content =>
    content.objects.some(({ value }) =>
      has(value, 'successful_requests', 'total_latency', 'request_throughput'),
    ),
  read: content =>
    content.objects
      .filter(({ value }) => has(value, 'successful_requests', 'total_latency'))
      .map(({ value, line }, i) => {
        const draft = new RunDraft('sglang.bench_offline_throughput').text('framework', 'SGLang');
        draft.line = line;
        if (i === 0 && content.unreadableLines > 0)
          draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
        const completed = at(value, 'successful_requests');
        const input = at(value, 'total_input_tokens');
        const output = at(value, 'total_output_tokens');
        draft
          .number('counts.completed', completed)
          .number('counts.inputTokens', input)
          .number('counts.outputTokens', output)
          .number('durationNs', at(value, 'total_latency'), SECONDS)
          .number('throughput.requests', at(value, 'request_throughput'))
          .number('throughput.inputTokens', at(value, 'input_throughput'))
          .number('throughput.outputTokens', at(value, 'output_throughput'))
          .number('throughput.totalTokens', at(value, 'total_throughput'));
        if (typeof completed === 'number' && completed > 0) {
          if (typeof input === 'number') draft.number('load.inputTokens', input / completed);
          if (typeof output === 'number') draft.number('load.outputTokens', output / completed);
        }
        return draft.build(content.file, sglangThroughputJson.id);
      }),
};
