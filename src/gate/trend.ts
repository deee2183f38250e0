/** Metrics over many runs: the figures, and where their level changed. */

import type { Static } from '../base/document.js';
import { type Phase, phases } from '../catalog/phases.js';
import { estimateOf } from '../run/collect-figures.js';
import type { Metric } from '../run/metrics.js';
import { mainPhase, type Run, type Scope } from '../run/run.js';
import { type ChangePoint, findChangePoints, LEAST_RUNS } from './change-points.js';
import { obstaclesOf } from './comparable.js';
import type { trendSchema } from './gate-schema.js';
import { finiteOrNull } from './quantity.js';

export interface LabelledRun {
  readonly label: string;
  readonly run: Run;
}

interface TrendPoint {
  readonly label: string;
  /** Undefined: that run did not record it. */
  readonly value: number | undefined;
  /** Standard error over the steps of the run. */
  readonly error: number | undefined;
  /** By the run before it that has a value. */
  readonly changeShare: number | undefined;
}

export interface Series {
  readonly metric: Metric;
  readonly scope: Scope;
  readonly points: readonly TrendPoint[];
  /** `after` counts the points. */
  readonly changes: readonly ChangePoint[];
  /** Runs with a value. */
  readonly measured: number;
  /** Not enough runs for a change to be told from chance. */
  readonly tooFew: boolean;
}

export interface Trend {
  readonly series: readonly Series[];
  /** Runs that are about something else than the first. */
  readonly differences: readonly { readonly label: string; readonly reasons: readonly string[] }[];
}

export { LEAST_RUNS };

/** `phase`: where none is asked for, the one that takes most time in the first run that has steps. */
export function trendOf(runs: readonly LabelledRun[], metrics: readonly Metric[], phase?: Phase): Trend {
  const main = phase ?? runs.map(({ run }) => mainPhase(run.facts)).find(found => found !== undefined);
  const series = metrics.map(metric =>
    seriesOf(runs, metric, metric.scope === 'run' ? 'run' : (main ?? 'unknown')),
  );
  const [first, ...others] = runs;
  const used = phases.map(({ id }) => id).filter(id => series.some(({ scope }) => scope === id));
  return {
    series,
    differences: others.flatMap(({ label, run }) => {
      const reasons = obstaclesOf(run, first.run, used).map(({ text }) =>
        text.replace(', baseline ', `, ${first.label} `),
      );
      return reasons.length > 0 ? [{ label, reasons }] : [];
    }),
  };
}

function seriesOf(runs: readonly LabelledRun[], metric: Metric, scope: Scope): Series {
  let last: number | undefined;
  const points = runs.map(({ label, run }): TrendPoint => {
    const { value, error } = estimateOf(run, scope, metric) ?? {};
    const changeShare =
      value === undefined || last === undefined
        ? undefined
        : value === last
          ? 0
          : (value - last) / Math.abs(last);
    if (value !== undefined) last = value;
    return { label, value, error, changeShare };
  });
  const places = points.flatMap(({ value }, i) => (value === undefined ? [] : [i]));
  const changes = findChangePoints(places.map(i => points[i].value!));
  return {
    metric,
    scope,
    points,
    changes: changes.map(change => ({ ...change, after: places[change.after] })),
    measured: places.length,
    tooFew: places.length < LEAST_RUNS,
  };
}

/** The trend as a document, in base units. Its schema is docs/schemas/trend.schema.json. */
export function trendDocument({ series, differences }: Trend, tool: string): Static<typeof trendSchema> {
  return {
    schema: 'stepscope-trend/1',
    tool,
    series: series.map(({ metric, scope, points, changes, measured, tooFew }) => ({
      metric: metric.id,
      phase: scope === 'run' ? null : scope,
      unit: metric.unit,
      better: metric.better,
      measured,
      tooFew,
      runs: points.map(({ label, value, error, changeShare }) => ({
        label,
        value: finiteOrNull(value),
        error: finiteOrNull(error),
        changeShare: finiteOrNull(changeShare),
      })),
      changes: changes.map(({ after, from, to, changeShare, p }) => ({
        after: points[after].label,
        position: after + 1,
        from,
        to,
        changeShare: finiteOrNull(changeShare),
        p,
      })),
    })),
    differences,
  };
}
