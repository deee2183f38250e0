/**
 * What changed between two benchmarks, each run once or several times. A change counts only where it is larger than
 * the noise that repeats show, and only between runs that were asked the same question.
 *
 *   before  ● ●  ●            noise: how far two means of so many runs fall apart by chance, 19 times out of 20
 *   after            ● ● ●    (Student's t on the pooled deviation; the deviation of one side where only that has repeats)
 */

import { studentWidth95 } from '../base/student.js';
import { formatCount } from '../base/units.js';
import { benchMetrics, benchSettings } from '../catalog/bench-metrics.js';
import type { BenchRun } from '../model/bench-run.js';

export interface BenchDifference {
  /** No setting that prevents a comparison differs. Settings that no file states are listed, not assumed equal. */
  readonly comparable: boolean;
  readonly settings: readonly SettingDifference[];
  readonly metrics: readonly MetricDifference[];
  readonly warnings: readonly BenchWarning[];
}

interface SettingDifference {
  readonly id: string;
  readonly label: string;
  /** `prevents` and `explains`: the sides differ. `unstated`: a side does not say. */
  readonly effect: 'prevents' | 'explains' | 'unstated';
  /** Absent: not stated. Several values where repeats differ among themselves. */
  readonly before?: string;
  readonly after?: string;
}

export interface MetricDifference {
  readonly id: string;
  readonly header: string;
  readonly kind: 'rate' | 'ns';
  readonly better: 'higher' | 'lower';
  readonly before: Sample;
  readonly after: Sample;
  /** after / before − 1. */
  readonly change: number;
  /** Share of `before`; a smaller change is within what repeats differ by. Absent without repeats. */
  readonly noise?: number;
  readonly verdict: 'better' | 'worse' | 'within-noise' | 'unproven';
}

interface Sample {
  readonly mean: number;
  /** Runs that printed this figure. */
  readonly runs: number;
  /** Sample standard deviation; absent for one run. */
  readonly stddev?: number;
}

interface BenchWarning {
  readonly code: 'single-runs' | 'few-runs' | 'errors' | 'not-comparable' | 'several-tools';
  readonly text: string;
}

export function compareBenchRuns(before: readonly BenchRun[], after: readonly BenchRun[]): BenchDifference {
  const settings = benchSettings.flatMap(setting => settingDifference(setting, before, after));
  const comparable = !settings.some(({ effect }) => effect === 'prevents');
  return {
    comparable,
    settings,
    metrics: benchMetrics.flatMap(metric => metricDifference(metric, before, after)),
    warnings: warningsOf(before, after, settings),
  };
}

function settingDifference(
  { id, label, difference, tolerance = 0, of }: (typeof benchSettings)[number],
  before: readonly BenchRun[],
  after: readonly BenchRun[],
): SettingDifference[] {
  const first = before.map(of);
  const second = after.map(of);
  const all = [...first, ...second];
  const known = all.filter(value => value !== undefined);
  if (known.length === 0) return difference === 'prevents' ? [{ id, label, effect: 'unstated' }] : [];
  const stated = { ...spelled('before', first), ...spelled('after', second) };
  if (!known.every(value => same(value, known[0], tolerance)))
    return [{ id, label, effect: difference, ...stated }];
  return known.length < all.length && difference === 'prevents'
    ? [{ id, label, effect: 'unstated', ...stated }]
    : [];
}

function same(a: string | number, b: string | number, tolerance: number): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  return String(a).toLowerCase() === String(b).toLowerCase();
}

function spelled(side: 'before' | 'after', values: readonly (string | number | undefined)[]) {
  const distinct = [...new Set(values.filter(value => value !== undefined))];
  if (distinct.length === 0) return {};
  return {
    [side]: distinct.map(value => (typeof value === 'number' ? shortNumber(value) : value)).join(' or '),
  };
}

const shortNumber = (value: number) => formatCount(Number(value.toFixed(1)));

function metricDifference(
  { id, header, kind, better, of }: (typeof benchMetrics)[number],
  before: readonly BenchRun[],
  after: readonly BenchRun[],
): MetricDifference[] {
  const a = sample(before.map(of));
  const b = sample(after.map(of));
  if (!a || !b || a.mean === 0) return [];
  const change = b.mean / a.mean - 1;
  const noise = noiseOf(a, b);
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
      before: a,
      after: b,
      change,
      ...(noise === undefined ? {} : { noise }),
      verdict,
    },
  ];
}

function sample(values: readonly (number | undefined)[]): Sample | undefined {
  const known = values.filter(value => value !== undefined);
  const runs = known.length;
  if (runs === 0) return undefined;
  const mean = known.reduce((sum, value) => sum + value, 0) / runs;
  if (runs === 1) return { mean, runs };
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, runs, stddev: Math.sqrt(squares / (runs - 1)) };
}

function noiseOf(a: Sample, b: Sample): number | undefined {
  const freedom = a.runs - 1 + (b.runs - 1);
  if (freedom === 0) return undefined;
  const squares = (a.stddev ?? 0) ** 2 * (a.runs - 1) + (b.stddev ?? 0) ** 2 * (b.runs - 1);
  const pooled = Math.sqrt(squares / freedom);
  return (studentWidth95(freedom) * pooled * Math.sqrt(1 / a.runs + 1 / b.runs)) / a.mean;
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
    warnings.push({ code: 'not-comparable', text: `Not the same question: ${list.join(', ')}.` });
  }
  if (settings.some(({ id }) => id === 'tool'))
    warnings.push({
      code: 'several-tools',
      text: 'Measured by different tools, which define some figures differently.',
    });
  if (before.length === 1 && after.length === 1)
    warnings.push({
      code: 'single-runs',
      text: `One run each proves nothing: run each at least ${ENOUGH_RUNS} times to see how far runs differ by chance.`,
    });
  else if (Math.min(before.length, after.length) < ENOUGH_RUNS)
    warnings.push({
      code: 'few-runs',
      text: `Fewer than ${ENOUGH_RUNS} runs on a side: the noise is a rough guess.`,
    });
  const errors = [...before, ...after].reduce((sum, run) => sum + (run.counts.errors ?? 0), 0);
  if (errors > 0)
    warnings.push({
      code: 'errors',
      text: `${formatCount(errors)} requests failed: throughput and latency leave them out.`,
    });
  return warnings;
}
