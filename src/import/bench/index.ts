/** The registry of benchmark formats: one line per format. */
import { UserError } from '../../base/user-error.js';
import { aiperfGpuTelemetry } from './aiperf-gpu-telemetry.js';
import { aiperfRecords } from './aiperf-records.js';
import { aiperfServerMetrics } from './aiperf-server-metrics.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { genaiPerfJson } from './genai-perf-json.js';
import { gptManager } from './gpt-manager.js';
import { sglangServingJson, trtllmServingJson, vllmServingJson } from './serving-json.js';
import { servingText } from './serving-text.js';
import { sglangOneBatchJson, sglangThroughputJson } from './sglang-offline-json.js';
import { sglangOneBatchText } from './sglang-one-batch-text.js';
import { stepscopeLoadJson } from './stepscope-load-json.js';
import { trtllmEnergyMetrics } from './trtllm-energy-metrics.js';
import { trtllmIterationLog } from './trtllm-iteration-log.js';
import { trtllmLog } from './trtllm-log.js';
import { trtllmOutputJson } from './trtllm-output-json.js';
import { trtllmPerfMetrics } from './trtllm-perf-metrics.js';
import { trtllmReportJson } from './trtllm-report-json.js';
import { trtllmRequestJson } from './trtllm-request-json.js';
import { trtllmTimeEvents } from './trtllm-time-events.js';
import { vllmLatencyJson, vllmThroughputJson } from './vllm-offline-json.js';

export const benchImporters: readonly BenchImporter[] = [
  trtllmLog,
  trtllmReportJson,
  trtllmIterationLog,
  trtllmRequestJson,
  trtllmOutputJson,
  trtllmPerfMetrics,
  trtllmTimeEvents,
  trtllmEnergyMetrics,
  trtllmServingJson,
  vllmServingJson,
  vllmThroughputJson,
  vllmLatencyJson,
  sglangServingJson,
  sglangOneBatchJson,
  sglangThroughputJson,
  sglangOneBatchText,
  servingText,
  genaiPerfJson,
  aiperfRecords,
  aiperfServerMetrics,
  aiperfGpuTelemetry,
  gptManager,
  stepscopeLoadJson,
];

/** The one importer that knows this content. */
export function benchImporterFor(content: BenchContent): BenchImporter {
  const known = benchImporters.filter(importer => importer.recognizes(content));
  if (known.length === 1) return known[0];
  if (known.length > 1) {
    throw new UserError(
      'not-a-profile',
      `${content.file} mixes results of several formats: ${known.map(({ label }) => label).join('; ')}.`,
      'Put the results of each format in a separate file.',
    );
  }
  if (content.kind === 'damaged') throw damagedBench(content.file);
  throw new UserError(
    'not-a-profile',
    `${content.file} contains no benchmark result in a supported format.`,
    `Supported formats: ${benchImporters.map(({ label }) => label).join('; ')}.`,
  );
}

export const damagedBench = (file: string) =>
  new UserError(
    'damaged',
    `${file} starts like a benchmark result but is truncated or damaged.`,
    'Check that the benchmark finished, and copy the file again.',
  );
