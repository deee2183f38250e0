/**
 * What changed between two benchmarks, each run once or several times. A change counts only where it is larger than
 * the noise that repeats show, and only between runs that were asked the same question.
 *
 *   before  ● ●  ●            noise: how far two means of so many runs fall apart by chance, 19 times out of 20
 *   after            ● ● ●    (Student's t on the pooled deviation; the deviation of one side where only that has repeats)
 */

import type { Static } from '../base/document.js';
import { formatCount } from '../base/units.js';
import { type BenchMetric, benchMetrics } from '../catalog/bench-metrics.js';
import type { BenchRun } from '../model/bench-run.js';
import { deviationOf, meanOf } from '../stats/mean.js';
import type { Estimate } from '../stats/resample.js';
import { benchedRun } from './collect.js';
import { type Difference, differenceOf } from './difference.js';
import type { benchDifferenceSchema } from './document.js';
import { type Sameness, samenessOf } from './sameness.js';

export type BenchDifference = Static<typeof benchDifferenceSchema>;
type SettingDifference = BenchDifference['settings'][number];
export type MetricDifference = BenchDifference['metrics'][number];
type Sample = MetricDifference['before'];
type BenchWarning = BenchDifference['warnings'][number];

export function compareBenchRuns(before: readonly BenchRun[], after: readonly BenchRun[]): BenchDifference {
  const sides = [before, after].map(side => side.map(benchedRun));
  const settings = samenessOf('compare', sides, []).flatMap(settingDifference);
  const comparable = !settings.some(({ effect }) => effect === 'prevents');
  return {
    comparable,
    settings,
    metrics: benchMetrics.flatMap(metric => metricDifference(metric, before, after)),
    warnings: warningsOf(before, after, settings),
  };
}

/** Values of a side, where it states any. */
function settingDifference({ id, label, status, effect, values }: Sameness): SettingDifference[] {
  if (status === 'same' || (status === 'unknown' && effect !== 'prevents')) return [];
  const [before, after] = values;
  return [
    {
      id,
      label,
      effect: status === 'unknown' ? 'unstated' : effect === 'prevents' ? 'prevents' : 'explains',
      ...(before === null ? {} : { before }),
      ...(after === null ? {} : { after }),
    },
  ];
}

/** Of one figure; undefined where a side did not print it. */
export function benchDifference(
  { of }: BenchMetric,
  before: readonly BenchRun[],
  after: readonly BenchRun[],
): Difference | undefined {
  const [a, b] = [before, after].map(side => estimates(side, of));
  return a.length > 0 && b.length > 0 ? differenceOf(a, b) : undefined;
}

const estimates = (runs: readonly BenchRun[], of: BenchMetric['of']): Estimate[] =>
  runs.flatMap(run => {
    const value = of(run);
    return value === undefined ? [] : [{ value }];
  });

function metricDifference(
  metric: BenchMetric,
  before: readonly BenchRun[],
  after: readonly BenchRun[],
): MetricDifference[] {
  const { id, header, kind, better, of } = metric;
  const found = benchDifference(metric, before, after);
  if (!found || found.from === 0) return [];
  const { from, to, interval } = found;
  const change = to / from - 1;
  const noise = interval && (interval[1] - interval[0]) / 2 / from;
  const isBetter = better === 'higher' ? change > 0 : change < 0;
  const verdict =
    noise === undefined
      ? 'unproven'
      : Math.abs(change) <= noise
        ? 'within-noise'
        : isBetter
          ? 'better'
          : 'worse';
  return [
    {
      id,
      header,
      kind,
      better,
      before: sample(estimates(before, of)),
      after: sample(estimates(after, of)),
      change,
      ...(noise === undefined ? {} : { noise }),
      verdict,
    },
  ];
}

function sample(side: readonly Estimate[]): Sample {
  const values = side.map(({ value }) => value);
  const runs = values.length;
  return { mean: meanOf(values), runs, ...(runs > 1 ? { stddev: deviationOf(values) } : {}) };
}

/** Fewer than this per side tell little: with two the noise is known to within a factor of several. */
const ENOUGH_RUNS = 3;

function warningsOf(
  before: readonly BenchRun[],
  after: readonly BenchRun[],
  settings: readonly SettingDifference[],
): BenchWarning[] {
  const warnings: BenchWarning[] = [];
  const prevents = settings.filter(({ effect }) => effect === 'prevents');
  if (prevents.length > 0) {
    const list = prevents.map(({ label, before: a, after: b }) => `${label} ${a ?? '?'} → ${b ?? '?'}`);
    warnings.push({ code: 'not-comparable', text: `Different workloads: ${list.join(', ')}.` });
  }
  if (settings.some(({ id }) => id === 'tool'))
    warnings.push({
      code: 'several-tools',
      text: 'Different tools measured the two sides, and they define some figures differently.',
    });
  if (before.length === 1 && after.length === 1)
    warnings.push({
      code: 'single-runs',
      text: `With one run per side, noise is unknown: run each at least ${ENOUGH_RUNS} times.`,
    });
  else if (Math.min(before.length, after.length) < ENOUGH_RUNS)
    warnings.push({
      code: 'few-runs',
      text: `Fewer than ${ENOUGH_RUNS} runs on a side: the noise is a rough estimate.`,
    });
  const errors = [...before, ...after].reduce((sum, run) => sum + (run.counts.errors ?? 0), 0);
  if (errors > 0)
    warnings.push({
      code: 'errors',
      text: `${formatCount(errors)} requests failed: throughput and latency exclude them.`,
    });
  return warnings;
}
