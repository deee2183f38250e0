/**
 * A folder of AIPerf holds several files of one benchmark: its summary, its requests, what the server showed, and what
 * the GPUs took. They become one run, with the figures of the summary. A folder with two summaries stays as it is:
 * which of them a line belongs to, it does not say.
 */
import * as nodePath from 'node:path';
import type { BenchRun } from '../../model/bench-run.js';
import { aiperfGpuTelemetry } from './aiperf-gpu-telemetry.js';
import { aiperfRecords } from './aiperf-records.js';
import { aiperfServerMetrics } from './aiperf-server-metrics.js';
import { genaiPerfJson } from './genai-perf-json.js';

export function joinAiperf(runs: readonly BenchRun[]): BenchRun[] {
  const folders = new Map<string, BenchRun[]>();
  for (const run of runs) {
    const folder = nodePath.dirname(run.source.file);
    folders.set(folder, [...(folders.get(folder) ?? []), run]);
  }
  return [...folders.values()].flatMap(joinFolder);
}

function joinFolder(runs: readonly BenchRun[]): readonly BenchRun[] {
  const only = (format: string) => {
    const found = runs.filter(({ source }) => source.format === format);
    return found.length === 1 ? found[0] : undefined;
  };
  const summary = only(genaiPerfJson.id);
  if (!summary) return runs;
  const records = only(aiperfRecords.id);
  const readings = only(aiperfServerMetrics.id);
  const telemetry = only(aiperfGpuTelemetry.id);
  const own = new Set([records, readings, telemetry]);
  const joined: BenchRun = {
    ...summary,
    ...(telemetry?.gpu === undefined ? {} : { gpu: telemetry.gpu }),
    ...(telemetry?.load.gpus === undefined
      ? {}
      : { load: { ...summary.load, gpus: summary.load.gpus ?? telemetry.load.gpus } }),
    ...(records ? { requests: records.requests, clock: records.clock } : {}),
    ...(readings?.engineStates ? statesOn(records?.clock, readings) : {}),
    notes: [summary, records, readings]
      .flatMap(run => run?.notes ?? [])
      .filter(({ code }) => code !== 'computed'),
  };
  return runs.flatMap(run => (run === summary ? [joined] : own.has(run) ? [] : [run]));
}

/** On the clock of the requests, where there are any. */
function statesOn(clock: BenchRun['clock'], { engineStates = [], clock: own }: BenchRun): Partial<BenchRun> {
  if (clock?.utcNs === undefined || own?.utcNs === undefined) return { engineStates, clock: own };
  const shiftNs = Number(BigInt(own.utcNs) - BigInt(clock.utcNs));
  return {
    engineStates: engineStates.map(state =>
      state.atNs === undefined ? state : { ...state, atNs: state.atNs + shiftNs },
    ),
  };
}
