/**
 * `server_metrics_export.jsonl` of AIPerf (`--server-metrics-formats jsonl`;
 * src/aiperf/common/models/server_metrics_models.py, `SlimRecord`; read in 0.13 and tried on its files): what the
 * servers' /metrics showed, several times a second. Each endpoint is a run of its own. Readings of the warm-up stay
 * among the states, because they have their time; means are of the measured phase alone.
 */
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { countersOfSamples } from '../../catalog/engine-counters.js';
import type { BenchRun, EngineState } from '../../model/bench-run.js';
import { type AiperfLine, aiperfLines, isAiperfLine, leastOf } from './aiperf-lines.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { at, has, numberAt } from './json-fields.js';
import { RunDraft } from './run-draft.js';
import { withoutAbsent } from './trtllm-iteration.js';

const isReading = (value: JsonObject) =>
  has(value, 'endpoint_url', 'timestamp_ns', 'endpoint_latency_ns') && isJsonObject(at(value, 'metrics'));

export const aiperfServerMetrics: BenchImporter = {
  id: 'aiperf-server-metrics-jsonl',
  label: 'server metrics of AIPerf (server_metrics_export.jsonl)',
  recognizes: content => isAiperfLine(content, isReading),
  read(content) {
    const endpoints = new Map<string, AiperfLine[]>();
    for (const line of aiperfLines(content, isReading)) {
      const url = String(at(line.value, 'endpoint_url'));
      endpoints.set(url, [...(endpoints.get(url) ?? []), line]);
    }
    return [...endpoints.values()].map((lines, index) =>
      ofEndpoint(content, lines, endpoints.size === 1 ? undefined : `endpoint ${index + 1}`),
    );
  },
};

function ofEndpoint(
  content: BenchContent,
  lines: readonly AiperfLine[],
  label: string | undefined,
): BenchRun {
  const draft = new RunDraft('AIPerf').text('label', label);
  const originNs = leastOf(lines.map(line => line.utcNs('timestamp_ns'))) ?? 0n;
  let running = 0;
  let readings = 0;
  for (const { value, utcNs } of lines) {
    const state = stateOf(value, Number((utcNs('timestamp_ns') ?? originNs) - originNs));
    if (!state) continue;
    draft.engineStates.push(state);
    if (at(value, 'phase_kind') !== 'profiling' || state.running === undefined) continue;
    running += state.running;
    readings++;
  }
  if (draft.engineStates.length === 0)
    draft.notes.add('no-engine-metrics', 'warning', 'readings have no metric of an engine that is known');
  if (readings > 0) draft.number('load.meanConcurrency', running / readings);
  if (content.unreadableLines > 0)
    draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
  draft.clock = { utcNs: String(originNs) };
  return draft.build(content.file, aiperfServerMetrics.id);
}

function stateOf(value: JsonObject, atNs: number): EngineState | undefined {
  const counters = countersOfSamples(samplesOf(at(value, 'metrics')));
  if (!counters) return undefined;
  const { iteration, running, waiting, kv } = counters;
  if ((iteration ?? running ?? waiting ?? kv) === undefined) return undefined;
  const kvShare = kv === undefined || kv > 100 ? undefined : kv / 100;
  return withoutAbsent({ atNs, iteration, running, waiting, kvShare });
}

/** Under the names that a /metrics page has: AIPerf keeps count and sum of a histogram inside its sample. */
function samplesOf(metrics: unknown): ReadonlyMap<string, number[]> {
  const samples = new Map<string, number[]>();
  const add = (name: string, value: number | undefined) => {
    if (value === undefined || !Number.isFinite(value) || value < 0) return;
    samples.set(name, [...(samples.get(name) ?? []), value]);
  };
  for (const [name, list] of Object.entries(isJsonObject(metrics) ? metrics : {}))
    for (const sample of Array.isArray(list) ? list : []) {
      add(name, numberAt(sample, 'value'));
      add(`${name}_count`, numberAt(sample, 'count'));
      add(`${name}_sum`, numberAt(sample, 'sum'));
    }
  return samples;
}
