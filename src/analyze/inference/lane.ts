/**
 * A lane is the thread that runs an engine's steps: one per rank, usually. Its runs are the steps as the host saw
 * them, in order and without overlap.
 *
 *   lane   [ run 0 ]  sampling  [ run 1 ]  sampling  [ run 2 ]~
 *          └──── period ───────┘└──── period ───────┘└─ tail ─┘
 *
 * A run's period lasts until the next run begins: what the host does in between (sampling, scheduling, responses)
 * belongs to the step before it. The last run of a series gets the typical time between runs.
 */

import type { StepFacts } from '../../catalog/engine-markers.js';
import { medianOf } from '../../stats/summary.js';

export type Confidence = 'certain' | 'likely' | 'guess';

export type Method = 'marker' | 'graph-launches' | 'kernel-sequence';

export interface LaneRun {
  readonly start: number;
  readonly end: number;
  readonly facts: StepFacts;
  /** The marker's text; empty where there was none. */
  readonly label: string;
  /** The range was still open when the capture ended. */
  readonly open: boolean;
  readonly periodEnd: number;
  /** The next run of the lane follows directly. */
  readonly continues: boolean;
  /** When the next run would begin as usual; the recording may end before. */
  readonly usualEnd: number;
}

/** Before its place among the others is known. */
export type MarkedRun = Omit<LaneRun, 'periodEnd' | 'continues' | 'usualEnd'>;

export interface Lane {
  readonly process: number;
  readonly thread: number;
  readonly runs: readonly LaneRun[];
}

/** A pause this long between runs, and this many typical periods, ends a series: the engine had nothing to do. */
const PAUSE_NS = 100e6;
const PAUSE_PERIODS = 5;

export function withPeriods(runs: readonly MarkedRun[], recordedUntil: number): LaneRun[] {
  const follows = (i: number) => {
    if (i + 1 >= runs.length) return false;
    const here = runs[i].facts.iteration;
    const next = runs[i + 1].facts.iteration;
    return here === undefined || next === undefined || next - here <= 1;
  };
  const periods = runs.slice(1).map((run, i) => run.start - runs[i].start);
  const pause = Math.max(PAUSE_NS, PAUSE_PERIODS * medianOf(Float64Array.from(periods)));
  const continues = runs.map((run, i) => follows(i) && runs[i + 1].start - run.end <= pause);
  const between = runs.flatMap((run, i) => (continues[i] ? [runs[i + 1].start - run.end] : []));
  const tail = between.length > 0 ? Math.round(medianOf(Float64Array.from(between))) : 0;
  return runs.map((run, i) => {
    const limit = Math.min(runs[i + 1]?.start ?? Infinity, Math.max(run.end, recordedUntil));
    const periodEnd = continues[i] ? runs[i + 1].start : Math.min(run.end + tail, limit);
    return { ...run, periodEnd, continues: continues[i], usualEnd: run.end + tail };
  });
}
