/** Sampled hardware counters over time, thinned to what a chart can show. */
import { GrowingColumn } from '../../base/growing-column.js';
import { findGpuMetric, gpuMetrics } from '../../catalog/gpu-metrics.js';
import type { Row } from '../../model/profile.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, type RowOf } from '../field.js';
import { selection } from '../inference/selection.js';

const POINTS = 600;

const fields = {
  key: keyField,
  device: field.id('Device', 'CUDA device number', { priority: -2 }),
  metric: field.text('Metric', 'see docs/metrics.md#gpu-metrics', { priority: KEEP }),
  unit: field.text('Unit', '% of peak, or Hz'),
  samples: field.count('Samples', 'in the selected span'),
  mean: field.mean('Mean', 'of the samples'),
  highest: field.mean('Max', 'largest sample'),
  startNs: field.timestamp('Start', 'first sample', { priority: KEEP }),
  endNs: field.timestamp('End', 'last sample', { priority: -1 }),
  series: field.list<{ readonly atNs: number; readonly value: number }>(
    'Over time',
    `at most ${POINTS} points, each the mean of its interval`,
    { drawn: 'value' },
  ),
};

export type MetricSeriesRow = RowOf<typeof fields>;

export const metricSeries: Analysis<MetricSeriesRow, AnalysisResult<MetricSeriesRow>> = {
  id: 'metric-series',
  title: 'GPU metrics over time',
  question: 'How do the sampled counters change from the first selected step to the last?',
  reads: { metricSamples: [] },
  uses: [selection],
  needs: [['metricSamples']],
  fields,
  compute({ profile, use }) {
    const samples = profile.tables.metricSamples!;
    // Counters run on while the model loads and the server waits: only the span of the steps is of interest.
    const spans = new Map<number, { from: number; to: number }>();
    for (const { device, start, end } of use(selection).windows) {
      const known = spans.get(device);
      spans.set(device, {
        from: Math.min(known?.from ?? start, start),
        to: Math.max(known?.to ?? end, end),
      });
    }
    const known = profile.metrics.map(findGpuMetric);
    const curves = new Map<
      string,
      { gpu: number; metric: number; at: GrowingColumn; value: GrowingColumn }
    >();
    for (let row = 0 as Row<'metricSamples'>; row < samples.length; row++) {
      const metric = samples.metric[row];
      const gpu = samples.gpu[row];
      const span = spans.get(gpu);
      const at = samples.start[row];
      if (!known[metric] || (spans.size > 0 && (!span || at < span.from || at > span.to))) continue;
      const key = `${gpu}/${metric}`;
      let curve = curves.get(key);
      if (!curve) {
        curve = { gpu, metric, at: new GrowingColumn('f64'), value: new GrowingColumn('f64') };
        curves.set(key, curve);
      }
      curve.at.push(at);
      curve.value.push(samples.value[row]);
    }
    const place = (metric: number) => gpuMetrics.indexOf(known[metric]!);
    const rows = [...curves.values()]
      .sort((a, b) => a.gpu - b.gpu || place(a.metric) - place(b.metric) || a.metric - b.metric)
      .map((curve): MetricSeriesRow => {
        const at = curve.at.finishAll() as Float64Array;
        const value = curve.value.finishAll() as Float64Array;
        const { label, unit } = known[curve.metric]!;
        return {
          key: `device:${curve.gpu}/${profile.metrics[curve.metric]}`,
          device: profile.gpus[curve.gpu].deviceId,
          metric: label,
          unit,
          samples: value.length,
          mean: value.reduce((sum, one) => sum + one, 0) / value.length,
          highest: value.reduce((most, one) => Math.max(most, one), -Infinity),
          startNs: at[0],
          endNs: at[at.length - 1],
          series: thin(at, value),
        };
      });
    return { rows };
  },
};

function thin(at: Float64Array, value: Float64Array): { atNs: number; value: number }[] {
  const step = Math.max(1, Math.ceil(at.length / POINTS));
  const points: { atNs: number; value: number }[] = [];
  for (let from = 0; from < at.length; from += step) {
    const to = Math.min(from + step, at.length);
    let sum = 0;
    for (let i = from; i < to; i++) sum += value[i];
    points.push({ atNs: at[(from + to - 1) >> 1], value: Math.round((sum / (to - from)) * 1000) / 1000 });
  }
  return points;
}
