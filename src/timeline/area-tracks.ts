/** Sampled counters and memory in use, as curves. */
import type { Analyzer } from '../analyze/analysis.js';
import { memoryCurves } from '../analyze/gpu/memory-in-use.js';
import { findGpuMetric, gpuMetrics } from '../catalog/gpu-metrics.js';
import type { Row } from '../model/profile.js';
import { asRows } from '../model/rows.js';
import { areaPyramid } from './area-pyramid.js';
import { rowsByOwner } from './make-lanes.js';
import type { Track } from './track.js';

/** What most people look at first; the others are folded away. */
const OPEN = new Set(['sm-active', 'tensor-active', 'dram-read']);

export function metricTracks({ profile }: Analyzer): Track[] {
  const samples = profile.tables.metricSamples;
  if (!samples) return [];
  const known = profile.metrics.map(findGpuMetric);
  const places = profile.metrics.length;
  const owners = new Int32Array(samples.length);
  for (let row = 0 as Row<'metricSamples'>; row < samples.length; row++)
    owners[row] = known[samples.metric[row]] ? samples.gpu[row] * places + samples.metric[row] : -1;
  const curves = rowsByOwner(owners, profile.gpus.length * places).map(asRows<'metricSamples'>);
  const tracks = curves.flatMap((rows, owner) => {
    const metric = known[owner % places];
    if (!metric || rows.length === 0) return [];
    const value = Float64Array.from(rows, row => samples.value[row]);
    const track: Track = {
      id: `gpu:${Math.floor(owner / places)}/metric:${metric.id}`,
      group: `gpu:${Math.floor(owner / places)}`,
      label: metric.label,
      palette: 'host',
      lanes: [
        {
          kind: 'area',
          levels: areaPyramid({ start: Float64Array.from(rows, row => samples.start[row]), value }),
        },
      ],
      highest: metric.unit === '%' ? 100 : value.reduce((most, one) => Math.max(most, one), 1),
      unit: metric.unit,
      ...(OPEN.has(metric.id) ? {} : { collapsed: true }),
    };
    const place = gpuMetrics.indexOf(metric) + (OPEN.has(metric.id) ? 0 : gpuMetrics.length);
    return [{ place, track }];
  });
  return tracks.sort((a, b) => a.place - b.place).map(({ track }) => track);
}

/** What is allocated stays so until something else is recorded, or the profile ends. */
export function memoryTracks(analyzer: Analyzer, endNs: number): Track[] {
  if (!analyzer.profile.tables.memoryEvents) return [];
  return analyzer.get(memoryCurves).map(({ gpu, at, bytes }): Track => {
    return {
      id: `gpu:${gpu}/memory`,
      group: `gpu:${gpu}`,
      label: 'memory in use',
      palette: 'host',
      lanes: [
        {
          kind: 'area',
          levels: areaPyramid({
            start: withLast(at, endNs),
            value: withLast(bytes, bytes[bytes.length - 1]),
          }),
        },
      ],
      highest: bytes.reduce((most, one) => Math.max(most, one), 1),
      unit: 'bytes',
    };
  });
}

function withLast(column: Float64Array, value: number): Float64Array {
  const longer = new Float64Array(column.length + 1);
  longer.set(column);
  longer[column.length] = value;
  return longer;
}
