/**
 * What trtllm-serve measured of each request: the answer of `/perf_metrics`, what `benchmark_serving.py
 * --save-request-time-breakdown` saves of it, and the lines that newer servers write (tensorrt_llm/serve/
 * perf_metrics.py, `PerfMetricsJsonlWriter`). catalog/request-times.ts describes the fields.
 */
import type { JsonObject } from '../../base/json/json-object.js';
import { requestTimesOf } from '../../catalog/request-times.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { RunDraft } from './run-draft.js';
import { summarizeRequests } from './summarize-requests.js';
import { iterationsOf } from './trtllm-time-breakdown.js';

/** One list, or one object per line. */
const rowsOf = (content: BenchContent): readonly unknown[] =>
  content.documents.flatMap(({ value }) => (Array.isArray(value) ? value : [value]));

export const trtllmPerfMetrics: BenchImporter = {
  id: 'trtllm-perf-metrics',
  label: '/perf_metrics of trtllm-serve',
  recognizes: content => rowsOf(content).some(row => requestTimesOf(row)),
  read(content) {
    const draft = new RunDraft('trtllm-serve').text('framework', 'TensorRT-LLM');
    const served: JsonObject[] = [];
    for (const row of rowsOf(content)) {
      const times = requestTimesOf(row);
      if (times) {
        served.push(row as JsonObject);
        draft.requests.push({ ...times });
      } else draft.notes.add('other-rows', 'warning', 'rows that are not requests were left out');
    }
    if (content.unreadableLines > 0)
      draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
    for (const iteration of iterationsOf(served)) draft.iterations.push(iteration);
    summarizeRequests(draft);
    draft.clock = { monotonicNs: '0' };
    return [draft.build(content.file, trtllmPerfMetrics.id)];
  },
};
