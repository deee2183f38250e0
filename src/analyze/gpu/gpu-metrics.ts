/**
 * Sampled hardware counters, averaged where they mean something: over the steps, over the busy time, per phase and
 * per kernel family. A sample covers the time since the one before it. Counters that only work on the GPU can move
 * are charged to the busy part of a sample, so gaps do not dilute them.
 *
 *   busy     ██..██..        sample: 40% over 8 µs, 4 µs of them busy
 *   sample   |←  8  →|       over the window 40%, over busy time 80%
 *
 * A sample that holds kernels of several families cannot be divided among them: a family gets its average from
 * samples that are its own, and none where its kernels are too short to have any.
 */
import { IntervalBuilder, type Intervals, intersect, lengthWithin } from '../../base/intervals.js';
import { findGpuMetric, type GpuMetric } from '../../catalog/gpu-metrics.js';
import { families } from '../../catalog/kernels/families.js';
import { type Phase, phases } from '../../catalog/phases.js';
import type { Row, Table } from '../../model/profile.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, maybe } from '../field.js';
import { selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { describeGpuMetrics, gpuMetricsHeadline } from './describe-gpu-metrics.js';
import { deviceTimelines } from './device-timeline.js';
import { gpuWork } from './gpu-work.js';
import type { MetricRow } from './metric-row.js';
import { HIDDEN, workFamilies } from './work-families.js';

/** Time a metric is averaged over: all selected windows, those of one phase, or the kernels of one family. */
interface Scope {
  readonly phase: Phase | null;
  readonly family: string | null;
  readonly window: Intervals;
  readonly busy: Intervals;
}

/** A family seen for less than this is not worth an average. */
const LEAST_FAMILY_NS = 20_000;
/** A sample is a family's own when this share of its busy time is; an average takes so many, and so much of its time. */
const OWN_SHARE = 0.9;
const LEAST_OWN_SAMPLES = 5;
const LEAST_OWN_TIME = 0.05;
/** Samples that are mostly idle say less than this many points. */
const MOST_UNCERTAIN = 10;

export const gpuMetricsAnalysis: Analysis<MetricRow, AnalysisResult<MetricRow>> = {
  id: 'gpu-metrics',
  title: 'GPU metrics',
  question: 'How busy are the SMs, tensor cores and memory, per phase and kernel family?',
  reads: { metricSamples: [] },
  uses: [gpuWork, workFamilies, deviceTimelines, selection, stepsOf],
  needs: [['metricSamples'], ['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields: {
    key: keyField,
    device: field.id('Device', 'CUDA device number', { priority: -1 }),
    metric: field.text('Metric', 'see docs/metrics.md#gpu-metrics', { priority: KEEP }),
    unit: field.text('Unit', '% of peak, or Hz'),
    phase: maybe(field.text('Phase', 'null: all selected steps')),
    family: maybe(field.text('Family', 'null: all kernels')),
    overWindow: maybe(field.mean('Over window', 'mean over the whole window of the scope')),
    overBusy: maybe(
      field.mean(
        'Over busy',
        'mean over the busy time of the scope; null where samples are too coarse to separate a family',
      ),
    ),
    uncertainty: maybe(
      field.mean(
        '±',
        'error of overBusy in percentage points: samples are rounded to whole percents and scaled to their busy part',
      ),
    ),
    bytesPerSecond: maybe(field.bytesPerSecond('While busy', 'for DRAM: overBusy times the peak bandwidth')),
    coveredNs: field.ns(
      'Covered',
      'share of the scope’s busy time covered by samples; for a family, by samples of its own',
    ),
  },
  headline: { label: 'metrics', text: gpuMetricsHeadline },
  describe: describeGpuMetrics,
  compute({ profile, use }) {
    const samples = profile.tables.metricSamples!;
    const { windows } = use(selection);
    const steps = use(stepsOf)?.steps ?? [];
    const known = profile.metrics.map(findGpuMetric);
    const rows: MetricRow[] = [];
    for (const { device, busy } of use(deviceTimelines)) {
      const own = windows.filter(window => window.device === device);
      const spans = (phase?: Phase) => {
        const builder = new IntervalBuilder();
        for (const { step, start, end } of own)
          if (phase === undefined || (steps[step] && steps[step].facts.phase === phase))
            builder.add(start, end);
        return builder.finish();
      };
      const all = spans();
      const scopes: Scope[] = [{ phase: null, family: null, window: all, busy: intersect(busy, all) }];
      const found = phases.flatMap(({ id }) => {
        const window = spans(id);
        return window.length > 0 ? [{ phase: id, family: null, window, busy: intersect(busy, window) }] : [];
      });
      scopes.push(...found);
      for (const [family, list] of familyTimes(device)) {
        const inside = intersect(list, all);
        if (lengthWithin(inside, -Infinity, Infinity) >= LEAST_FAMILY_NS)
          scopes.push({ phase: null, family, window: inside, busy: inside });
      }
      const total = average(samples, device, known, scopes, scopes[0].busy);
      const gpu = profile.gpus[device];
      scopes.forEach((scope, s) => {
        known.forEach((metric, m) => {
          if (!metric) return;
          const { overWindow, overBusy, uncertainty, coveredNs } = total(s, m);
          if (coveredNs === 0 && overWindow === null && scope.family === null) return;
          const isDram = metric.id.startsWith('dram') && gpu.memoryBandwidthBytesPerSecond !== undefined;
          rows.push({
            key: `device:${device}/${metric.id}/${scope.phase ?? scope.family ?? 'all'}`,
            device: gpu.deviceId,
            metric: metric.label,
            unit: metric.unit,
            phase: scope.phase,
            family: scope.family,
            overWindow: scope.family === null ? overWindow : null,
            overBusy,
            uncertainty: metric.unit === '%' ? uncertainty : null,
            bytesPerSecond:
              isDram && overBusy !== null ? (overBusy / 100) * gpu.memoryBandwidthBytesPerSecond! : null,
            coveredNs,
          });
        });
      });
    }
    return { rows, summary: { samples: samples.length, metrics: profile.metrics.length } };

    function familyTimes(device: number): [string, Intervals][] {
      const work = use(gpuWork);
      const { family } = use(workFamilies);
      const builders = families.map(() => new IntervalBuilder());
      for (let i = 0; i < work.length; i++)
        if (work.device[i] === device && family[i] !== HIDDEN)
          builders[family[i]].add(work.start[i], work.end[i]);
      return families.flatMap(({ id }, i): [string, Intervals][] => {
        const list = builders[i].finish();
        return list.length > 0 ? [[id, list]] : [];
      });
    }
  },
};

interface Mean {
  readonly overWindow: number | null;
  readonly overBusy: number | null;
  readonly uncertainty: number | null;
  readonly coveredNs: number;
}

/** Samples are rounded to whole percents. */
const ROUNDING = 0.5;

function average(
  samples: Table<'metricSamples'>,
  device: number,
  known: readonly (GpuMetric | undefined)[],
  scopes: readonly Scope[],
  anyBusy: Intervals,
): (scope: number, metric: number) => Mean {
  const cell = (scope: number, metric: number) => scope * known.length + metric;
  const size = scopes.length * known.length;
  const windowSum = new Float64Array(size);
  const windowTime = new Float64Array(size);
  const busySum = new Float64Array(size);
  const busyTime = new Float64Array(size);
  const errorSum = new Float64Array(size);
  const taken = new Int32Array(size);
  const previous = new Float64Array(known.length).fill(Number.NaN);
  const inWindow = new Float64Array(scopes.length);
  const inBusy = new Float64Array(scopes.length);
  let from = Number.NaN;
  let to = Number.NaN;
  let active = 0;
  for (let row = 0 as Row<'metricSamples'>; row < samples.length; row++) {
    const metric = samples.metric[row];
    const kind = known[metric];
    if (!kind || samples.gpu[row] !== device) continue;
    const at = samples.start[row];
    const since = previous[metric];
    previous[metric] = at;
    if (!(since < at)) continue;
    if (since !== from || at !== to) {
      // All counters of a sample share its stretch of time.
      from = since;
      to = at;
      active = lengthWithin(anyBusy, from, to);
      scopes.forEach((scope, s) => {
        inWindow[s] = lengthWithin(scope.window, from, to);
        inBusy[s] = scope.busy === scope.window ? inWindow[s] : lengthWithin(scope.busy, from, to);
      });
    }
    const value = samples.value[row];
    // A value that could not be read covers no time.
    if (Number.isNaN(value)) continue;
    for (let s = 0; s < scopes.length; s++) {
      if (inWindow[s] === 0) continue;
      const c = cell(s, metric);
      windowSum[c] += value * inWindow[s];
      windowTime[c] += inWindow[s];
      if (inBusy[s] === 0 || (scopes[s].family !== null && inBusy[s] < OWN_SHARE * active)) continue;
      taken[c]++;
      // The sample's activity happened in its busy part: spread it over that, not over the gaps.
      const whileBusy =
        kind.onlyWhileBusy && active > 0 ? Math.min(100, (value * (to - from)) / active) : value;
      const spread = kind.onlyWhileBusy && active > 0 ? (to - from) / active : 1;
      errorSum[c] += ROUNDING * spread * inBusy[s];
      busySum[c] += (kind.onlyWhileBusy ? whileBusy : value) * inBusy[s];
      busyTime[c] += inBusy[s];
    }
  }
  return (scope, metric) => {
    const c = cell(scope, metric);
    const isResolved =
      scopes[scope].family === null
        ? busyTime[c] > 0
        : taken[c] >= LEAST_OWN_SAMPLES &&
          busyTime[c] >= LEAST_OWN_TIME * windowTime[c] &&
          errorSum[c] <= MOST_UNCERTAIN * busyTime[c];
    return {
      overWindow: windowTime[c] > 0 ? windowSum[c] / windowTime[c] : null,
      overBusy: isResolved ? busySum[c] / busyTime[c] : null,
      uncertainty: isResolved ? errorSum[c] / busyTime[c] : null,
      coveredNs: busyTime[c],
    };
  };
}
