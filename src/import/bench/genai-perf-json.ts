/**
 * `profile_export_aiperf.json` (ai-dynamo/aiperf, src/aiperf/common/models/export_models.py) and
 * `profile_export_genai_perf.json` (triton-inference-server/perf_analyzer,
 * genai-perf/genai_perf/export_data/json_exporter.py): one object of statistics by metric, each with its unit.
 *
 * Their `inter_token_latency` is (latency − TTFT) / (tokens − 1), one value per request: what is called TPOT here and
 * elsewhere. Gaps between pieces of an answer are AIPerf's `inter_chunk_latency`. The `adj_` percentiles (failed
 * requests counted as endless) are not taken.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { LatencyName } from '../../model/bench-run.js';
import type { BenchImporter } from './bench-importer.js';
import { at, has, listAt } from './json-fields.js';
import { type LatencyStat, RunDraft } from './run-draft.js';

const isExport = (value: JsonObject) =>
  ['request_throughput', 'request_latency', 'output_token_throughput'].some(
    name =>
      isJsonObject(at(value, name)) &&
      (has(value, 'input_config') || typeof at(value, name, 'unit') === 'string'),
  );

/** Power of ten to nanoseconds. */
const units: Readonly<Record<string, number>> = { ns: 0, us: 3, µs: 3, ms: 6, s: 9, sec: 9, seconds: 9 };
const latencies: Readonly<Record<string, LatencyName>> = {
  request_latency: 'e2e',
  time_to_first_token: 'ttft',
  inter_token_latency: 'tpot',
  inter_chunk_latency: 'itl',
};

export const genaiPerfJson: BenchImporter = {
  id: 'genai-perf-json',
  label: 'JSON export of AIPerf or GenAI-Perf',
  recognizes: content => content.objects.some(({ value }) => isExport(value)),
  read: content =>
    content.objects
      .filter(({ value }) => isExport(value))
      .map(({ value, line }) => {
        const draft = new RunDraft(toolOf(value));
        draft.line = line;
        settings(draft, at(value, 'input_config'));
        const average = (name: string) => at(value, name, 'avg');
        draft
          .number('throughput.requests', average('request_throughput'))
          .number('throughput.goodRequests', average('goodput') ?? average('request_goodput'))
          .number('throughput.outputTokens', average('output_token_throughput'))
          .number('throughput.totalTokens', average('total_token_throughput'))
          .number('throughput.generationSpeedPerUser', average('output_token_throughput_per_user'))
          .number('load.inputTokens', average('input_sequence_length'))
          .number('load.outputTokens', average('output_sequence_length'))
          .number('counts.completed', average('request_count'))
          .number('counts.outputTokens', average('total_output_tokens') ?? average('total_osl'))
          .number('counts.errors', average('error_request_count'))
          .number('energy.totalJoules', ofVendor(value, 'total_gpu_energy', /^(J|joules?)$/i))
          .number('energy.gpuPowerWatts', ofVendor(value, 'total_gpu_power', /^(W|watts?)$/i))
          // Tokens per second and watt are tokens per joule.
          .number('energy.outputTokensPerSecondPerWatt', ofVendor(value, 'output_tokens_per_joule', /./))
          .number('durationNs', average('benchmark_duration'), unitOf(draft, value, 'benchmark_duration'));
        for (const [name, latency] of Object.entries(latencies)) distribution(draft, value, name, latency);
        if (at(value, 'was_cancelled') === true)
          draft.notes.add('cancelled', 'warning', 'the run was canceled before it finished');
        return draft.build(content.file, genaiPerfJson.id);
      }),
};

/** From 0.12 on, names begin with the maker of the GPUs; those of two makers are not added. */
function ofVendor(value: JsonObject, name: string, wanted: RegExp): unknown {
  const named = [name, `nvidia_${name}`, `amd_${name}`].filter(each => at(value, each) !== undefined);
  return named.length === 1 ? ofUnit(value, named[0], wanted) : undefined;
}

/** The mean of a metric in the unit we want, or of one that names none. */
function ofUnit(value: JsonObject, name: string, wanted: RegExp): unknown {
  const unit = at(value, name, 'unit');
  return typeof unit === 'string' && !wanted.test(unit) ? undefined : at(value, name, 'avg');
}

function toolOf(value: JsonObject): string {
  const version = at(value, 'aiperf_version');
  if (typeof version === 'string') return `AIPerf ${version.slice(0, 30)}`;
  return has(value, 'schema_version') || has(value, 'benchmark_duration') ? 'AIPerf' : 'GenAI-Perf';
}

/** Both write what they were asked; its shape changed with the versions. */
function settings(draft: RunDraft, config: unknown): void {
  const first = (...values: unknown[]) => values.find(value => value !== undefined && value !== null);
  const one = (value: unknown) => (Array.isArray(value) ? value[0] : value);
  const [item] = listAt(config, 'models', 'items');
  // AIPerf 0.13: phases one after another, of which one is measured.
  const phase = listAt(config, 'phases').find(own => at(own, 'kind') === 'profiling');
  const number = (value: unknown) => (typeof value === 'number' && value > 0 ? value : undefined);
  draft
    .text(
      'model',
      one(
        first(
          at(config, 'endpoint', 'model_names'),
          at(config, 'model'),
          at(config, 'model_names'),
          at(item, 'name'),
        ),
      ),
    )
    .text('framework', at(config, 'backend') === 'tensorrtllm' ? 'TensorRT-LLM' : undefined)
    .number(
      'load.maxConcurrency',
      number(
        first(
          at(config, 'loadgen', 'concurrency'),
          at(config, 'perf_analyzer', 'stimulus', 'concurrency'),
          at(config, 'concurrency'),
          at(phase, 'concurrency'),
        ),
      ),
    )
    .number(
      'load.requests',
      number(
        first(at(config, 'loadgen', 'request_count'), at(config, 'request_count'), at(phase, 'requests')),
      ),
    )
    .rate(first(at(config, 'loadgen', 'request_rate'), at(config, 'request_rate'), at(phase, 'rate')));
}

/** A time whose unit we do not know is not taken. */
function unitOf(draft: RunDraft, value: JsonObject, name: string): number {
  const unit = at(value, name, 'unit');
  const power = typeof unit === 'string' ? units[unit] : undefined;
  if (power === undefined && at(value, name) !== undefined)
    draft.notes.add(
      'unknown-unit',
      'warning',
      'times with an unknown unit were left out',
      `${name}: ${unit}`,
    );
  return power ?? Number.NaN;
}

function distribution(draft: RunDraft, value: JsonObject, name: string, latency: LatencyName): void {
  const stats = at(value, name);
  if (!isJsonObject(stats)) return;
  const power = unitOf(draft, value, name);
  for (const [key, figure] of Object.entries(stats)) {
    const stat = statOf(key);
    if (stat && !Number.isNaN(power)) draft.number(`latency.${latency}.${stat}`, figure, power);
  }
}

function statOf(key: string): LatencyStat | undefined {
  if (key === 'avg') return 'mean';
  if (key === 'std') return 'stddev';
  if (key === 'min' || key === 'max') return key;
  return /^p\d{1,2}(?:\.\d{1,3})?$/.test(key) ? (key as `p${number}`) : undefined;
}
