/**
 * Figures of files that hold one row per request and no summary. Percentiles follow TensorRT-LLM's own rule
 * (tensorrt_llm/bench/dataclasses/statistics.py): the percentile q of n is the one at place ⌊n·q⌋, not interpolated.
 */
import type { BenchRequest, Distribution, LatencyName } from '../../model/bench-run.js';
import type { RunDraft } from './run-draft.js';
import { withoutAbsent } from './trtllm-iteration.js';

export function summarizeRequests(draft: RunDraft): void {
  const { requests } = draft;
  if (requests.length === 0) return;
  draft.notes.add('computed', 'info', 'metrics are computed from the requests in the file');
  const failed = requests.filter(row => row.failed).length;
  draft.number('counts.completed', requests.length - failed).number('counts.errors', failed);
  draft.number('load.requests', requests.length);
  draft.engineLatency = withoutAbsent({
    queue: figures(requests.map(row => row.queueNs)),
    prefill: figures(requests.map(row => row.prefillNs)),
    kvTransfer: figures(requests.map(row => row.kvTransferNs)),
  });
  const whole = requests.filter(row => row.startNs !== undefined && row.e2eNs !== undefined);
  if (whole.length !== requests.length || whole.length === 0) return;
  const begin = whole.reduce((least, row) => Math.min(least, row.startNs!), Infinity);
  const end = whole.reduce((most, row) => Math.max(most, row.startNs! + row.e2eNs!), -Infinity);
  const seconds = (end - begin) / 1e9;
  const input = total(requests, 'inputTokens');
  const output = total(requests, 'outputTokens');
  draft.number('durationNs', end - begin).number('throughput.requests', requests.length / seconds);
  draft.number('counts.inputTokens', input).number('counts.outputTokens', output);
  if (input !== undefined) draft.number('load.inputTokens', input / requests.length);
  if (output !== undefined) {
    draft.number('load.outputTokens', output / requests.length);
    draft.number('throughput.outputTokens', output / seconds);
    if (input !== undefined) draft.number('throughput.totalTokens', (input + output) / seconds);
  }
  for (const [name, field] of [
    ['e2e', 'e2eNs'],
    ['ttft', 'ttftNs'],
    ['tpot', 'tpotNs'],
  ] as const)
    distribution(
      draft,
      name,
      requests.map(row => row[field]),
    );
}

/** Undefined where a row does not say. */
function total(rows: readonly BenchRequest[], field: 'inputTokens' | 'outputTokens'): number | undefined {
  let sum = 0;
  for (const row of rows) {
    const value = row[field];
    if (value === undefined) return undefined;
    sum += value;
  }
  return sum;
}

function distribution(draft: RunDraft, name: LatencyName, values: readonly (number | undefined)[]): void {
  const found = figures(values);
  if (!found) return;
  draft.number(`latency.${name}.mean`, found.meanNs);
  draft.number(`latency.${name}.min`, found.minNs).number(`latency.${name}.max`, found.maxNs);
  for (const [percent, value] of Object.entries(found.percentilesNs))
    draft.number(`latency.${name}.p${Number(percent)}`, value);
}

function figures(values: readonly (number | undefined)[]): Distribution | undefined {
  const sorted = Float64Array.from(values.filter(value => value !== undefined)).sort();
  const n = sorted.length;
  if (n === 0) return undefined;
  return {
    meanNs: sorted.reduce((sum, value) => sum + value, 0) / n,
    minNs: sorted[0],
    maxNs: sorted[n - 1],
    percentilesNs: Object.fromEntries(
      [50, 90, 95, 99].map(percent => [percent, sorted[Math.min(n - 1, Math.floor((n * percent) / 100))]]),
    ),
  };
}
