/**
 * Two measurements of the journal compared by what it keeps of them: the figures of the runs, with their errors. Runs of
 * another GPU, batch or model are not compared; `gate/comparable.ts` says which.
 */

import { type DifferenceKind, obstaclesOf, remarksOn } from '../gate/comparable.js';
import { formatDifference } from '../gate/quantity.js';
import { differenceOf } from '../run/difference.js';
import { metricById } from '../run/metrics.js';
import { mainPhase, type Run, type Scope } from '../run/run.js';
import type { EntryComparison, Measurement } from './entry.js';

/** What decides: the mean of the steps as they were recorded, because its error is known. */
const DECIDING = 'step.mean';
/** What a profiler adds differs between programs; where it is estimated, the estimate has a word too. */
const UNDISTURBED = 'step.undisturbed';
/** Turning on CUDA graphs is a change like any other; what else differs makes another experiment. */
const OFTEN_THE_CHANGE: readonly DifferenceKind[] = ['graphs'];

type Figure = EntryComparison['figures'][number];

export function compareMeasurements(
  base: Measurement,
  result: Measurement,
  allowed: readonly DifferenceKind[] = [],
): EntryComparison {
  const [from, to] = [base, result].map(({ runs }) => runs as unknown as readonly Run[]);
  const phase = mainPhase(from[0].facts) ?? null;
  const phases = phase === null ? [] : [phase];
  const differences = to.flatMap(run => obstaclesOf(run, from[0], phases, [...OFTEN_THE_CHANGE, ...allowed]));
  const texts = (isAllowed: boolean) =>
    differences.flatMap(one => (one.allowed === isAllowed ? [one.text] : []));
  const obstacles = texts(false);
  const remarks = [
    ...new Set([...texts(true), ...to.flatMap(run => remarksOn(run, from[0], phases))]),
    // Steps of one run share clocks and background load: what differs between two runs of the same code is not known.
    ...(from.length < 2 || to.length < 2
      ? ['run-to-run noise is not measured: record repeats of both sides (--repeat)']
      : []),
  ];
  if (obstacles.length > 0)
    return {
      ...{ comparable: false, obstacles: [...new Set(obstacles)], remarks, phase },
      ...{ verdict: 'not comparable', figures: [] },
    };
  const figures = figuresOf(from, to, [...phases, 'run']);
  const figure = (metric: string) => figures.find(one => one.metric === metric && one.phase === phase);
  const verdict = verdictOf(figure(DECIDING));
  return {
    ...{ comparable: true, obstacles: [], phase, verdict, figures },
    remarks: [...remarks, ...withoutProfiler(verdict, figure(UNDISTURBED))],
  };
}

/** A difference of the recorded steps may be what the profiler costs each of them. */
function withoutProfiler(verdict: EntryComparison['verdict'], figure: Figure | undefined): string[] {
  if (!figure?.interval || (verdict !== 'faster' && verdict !== 'slower')) return [];
  const { low, high } = figure.interval;
  if (low > 0 || high < 0) return [];
  return [
    `as recorded; without the profiler the change is ${formatDifference(figure.change, 'ns')}, estimated, and may be none (95%: ${formatDifference(low, 'ns')} to ${formatDifference(high, 'ns')})`,
  ];
}

function verdictOf(figure: Figure | undefined): EntryComparison['verdict'] {
  if (!figure || figure.verdict === 'cannot tell') return 'cannot tell';
  if (figure.verdict === 'no measurable change') return figure.verdict;
  return figure.verdict === 'better' ? 'faster' : 'slower';
}

/** Every metric that all runs of both sides have. */
function figuresOf(from: readonly Run[], to: readonly Run[], scopes: readonly Scope[]): Figure[] {
  return scopes.flatMap(scope =>
    Object.keys(from[0].figures[scope] ?? {}).flatMap((id): Figure[] => {
      const metric = metricById(id);
      const of = (side: readonly Run[]) => side.flatMap(run => run.figures[scope]?.[id] ?? []);
      const [ours, theirs] = [of(from), of(to)];
      if (!metric || ours.length < from.length || theirs.length < to.length) return [];
      const { from: before, to: after, change, interval } = differenceOf(ours, theirs);
      const isBetter = metric.better === 'lower' ? change < 0 : change > 0;
      return [
        {
          ...{ metric: id, phase: scope, unit: metric.unit, better: metric.better },
          ...{ from: before, to: after, change },
          interval: interval ? { low: interval[0], high: interval[1] } : null,
          verdict:
            interval === undefined
              ? 'cannot tell'
              : interval[0] <= 0 && interval[1] >= 0
                ? 'no measurable change'
                : isBetter
                  ? 'better'
                  : 'worse',
        },
      ];
    }),
  );
}
