/**
 * Steps of the engine, from the `time_breakdown_metrics` of its requests
 * (tensorrt_llm/_torch/pyexecutor/perf_metrics_manager.py, `append_step_metrics`): every request lists the steps that
 * ran it, so a step appears once per request. Only entries with `iter_counter` are numbered as the engine numbers its
 * steps; `iter` counts the tokens of one request.
 */
import { shiftDecimal } from '../../base/decimal-shift.js';
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { betweenNs, momentNs } from '../../catalog/request-times.js';
import type { BenchIteration } from '../../model/bench-run.js';
import { listAt, numberAt } from './json-fields.js';
import { withoutAbsent } from './trtllm-iteration.js';

/** Steps of one request in their order. */
const entriesOf = (request: JsonObject): readonly JsonObject[] =>
  ['ctx_chunk_metrics', 'step_metrics']
    .flatMap(name => listAt(request, 'time_breakdown_metrics', name))
    .filter(isJsonObject);

export function iterationsOf(requests: readonly JsonObject[]): BenchIteration[] {
  const found = new Map<string, BenchIteration>();
  for (const request of requests) {
    const rank = count(request, 'rank');
    const entries = entriesOf(request);
    for (const [index, entry] of entries.entries()) {
      const iteration = count(entry, 'iter_counter');
      if (iteration === undefined) continue;
      const key = `${rank}/${iteration}`;
      // A request in two steps one after the other leaves the engine no time to wait for requests between them.
      const next = entries[index + 1] as JsonObject | undefined;
      const hostStepNs =
        count(next, 'iter_counter') === iteration + 1 ? betweenNs(startNs(entry), startNs(next)) : undefined;
      const known = found.get(key);
      if (known && (hostStepNs === undefined || known.hostStepNs !== undefined)) continue;
      found.set(key, known ? { ...known, hostStepNs } : rowOf(iteration, rank, entry, hostStepNs));
    }
  }
  return [...found.values()].sort((a, b) => a.iteration - b.iteration);
}

const rowOf = (
  iteration: number,
  globalRank: number | undefined,
  entry: JsonObject,
  hostStepNs: number | undefined,
): BenchIteration =>
  withoutAbsent({
    ...{ iteration, globalRank, hostStepNs },
    gpuForwardNs: gpuNs(entry),
    scheduledRequests: count(entry, 'iter_batch_size'),
    contextRequests: count(entry, 'num_ctx_requests'),
    contextTokens: count(entry, 'context_token_number'),
    generationRequests: count(entry, 'num_gen_requests'),
    generationTokens: count(entry, 'generation_token_number'),
  });

const startNs = (entry: JsonObject | undefined) => momentNs(numberAt(entry, 'forward_start_time'));

/** Milliseconds between two CUDA events; 0 stands for a time that was not read. */
function gpuNs(entry: JsonObject): number | undefined {
  const ms = count(entry, 'gpu_forward_time');
  return ms ? shiftDecimal(ms, 6) : undefined;
}

function count(value: unknown, name: string): number | undefined {
  const number = numberAt(value, name);
  return number !== undefined && Number.isFinite(number) && number >= 0 ? number : undefined;
}
