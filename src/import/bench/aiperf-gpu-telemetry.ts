/**
 * `gpu_telemetry_export.jsonl` of AIPerf (src/aiperf/common/models/telemetry_models.py, `TelemetryRecord`; read in
 * 0.13 and tried on its files; earlier versions spell fields without the maker): a reading per GPU several times a
 * second. Energy is the growth of each GPU's counter (megajoules) from its first reading to its last, added over the
 * GPUs, so it covers what AIPerf recorded, warm-up included; AIPerf's own summary covers the measured phase alone.
 */
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { type AiperfLine, aiperfLines, isAiperfLine, leastOf } from './aiperf-lines.js';
import type { BenchImporter } from './bench-importer.js';
import { at, has, numberAt } from './json-fields.js';
import { RunDraft } from './run-draft.js';

const isReading = (value: JsonObject) =>
  has(value, 'gpu_uuid', 'timestamp_ns') && isJsonObject(at(value, 'telemetry_data'));

const JOULES_PER_MJ = 1e6;

export const aiperfGpuTelemetry: BenchImporter = {
  id: 'aiperf-gpu-telemetry-jsonl',
  label: 'GPU telemetry of AIPerf (gpu_telemetry_export.jsonl)',
  recognizes: content => isAiperfLine(content, isReading),
  read(content) {
    const draft = new RunDraft('AIPerf');
    const lines = aiperfLines(content, isReading);
    const gpus = new Map<string, AiperfLine[]>();
    for (const line of lines) {
      const name = `${String(at(line.value, 'hostname'))}/${String(at(line.value, 'gpu_uuid'))}`;
      gpus.set(name, [...(gpus.get(name) ?? []), line]);
    }
    const names = new Set(lines.map(({ value }) => at(value, 'gpu_model_name')));
    if (names.size === 1) draft.text('gpu', [...names][0]);
    draft.number('load.gpus', gpus.size);
    const own = [...gpus.values()].map(growthOf);
    if (own.every(growth => growth !== undefined)) {
      // Readings of all GPUs are taken together, up to the time of asking.
      const seconds = Math.max(...own.map(growth => growth.seconds));
      const joules = own.reduce((sum, growth) => sum + growth.joules, 0);
      draft.number('energy.totalJoules', joules).number('durationNs', Math.round(seconds * 1e9));
      if (seconds > 0) draft.number('energy.gpuPowerWatts', joules / seconds);
    } else
      draft.notes.add('no-energy', 'warning', 'GPUs have no energy counter, or one that was reset', '', 1);
    if (content.unreadableLines > 0)
      draft.notes.add('cut-off', 'loss', 'lines are truncated or damaged', '', content.unreadableLines);
    const originNs = leastOf(lines.map(line => line.utcNs('timestamp_ns')));
    if (originNs !== undefined) draft.clock = { utcNs: String(originNs) };
    return [draft.build(content.file, aiperfGpuTelemetry.id)];
  },
};

interface Growth {
  readonly joules: number;
  readonly seconds: number;
}

/** Undefined where the counter is missing, has one reading, or falls: a driver that was loaded anew counts from 0. */
function growthOf(lines: readonly AiperfLine[]): Growth | undefined {
  const readings = lines.flatMap(({ value, utcNs }) => {
    const megajoules =
      numberAt(value, 'telemetry_data', 'nvidia_energy_consumption') ??
      numberAt(value, 'telemetry_data', 'amd_energy_consumption') ??
      numberAt(value, 'telemetry_data', 'energy_consumption');
    const ns = utcNs('timestamp_ns');
    return megajoules === undefined || ns === undefined ? [] : [{ megajoules, ns }];
  });
  readings.sort((a, b) => (a.ns < b.ns ? -1 : 1));
  if (readings.length < 2) return undefined;
  if (readings.some(({ megajoules }, i) => i > 0 && megajoules < readings[i - 1].megajoules))
    return undefined;
  const [first, last] = [readings[0], readings.at(-1)!];
  return {
    joules: (last.megajoules - first.megajoules) * JOULES_PER_MJ,
    seconds: Number(last.ns - first.ns) / 1e9,
  };
}
