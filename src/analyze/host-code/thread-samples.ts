/**
 * Samples of a thread as stretches of time: a sample stands for the time around it, half way to its neighbours, and
 * never much further than half the usual distance between samples. A thread that does not run is not sampled.
 *
 *   samples   x    x    x              x    x
 *   stretch  [--][---][--]            [--][---]
 */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { SampleSource } from '../../model/schema.js';
import { medianOf } from '../../stats/summary.js';

/** Of the usual distance: half of it, and what samples are late by. */
const REACH = 0.75;

interface SampleLine {
  readonly moment: Float64Array;
  /** Of Python: taken of threads that wait, too. */
  readonly isPython: boolean;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly stack: Int32Array;
}

interface ThreadSamples {
  /** Visits a stretch of a thread piece by piece; `stack` is NONE where no sample stands for it. */
  visit(
    thread: number,
    from: number,
    to: number,
    visit: (stack: number, from: number, to: number, sample: number) => void,
  ): void;
  /** The Python stack that was sampled in this stretch, the first of several; NONE: none was. */
  pythonDuring(thread: number, from: number, to: number): number;
}

/** Undefined where none were taken. */
export function threadSamples(profile: Profile): ThreadSamples | undefined {
  const table = profile.tables.hostSamples;
  if (!table) return undefined;
  const lines = new Map<number, SampleLine | undefined>();
  const lineOf = (thread: number) => {
    if (!lines.has(thread)) lines.set(thread, collect(table, thread));
    return lines.get(thread);
  };
  return {
    visit(thread, from, to, visit) {
      const line = lineOf(thread);
      let at = from;
      if (line)
        for (let i = upperBound(line.end, from); i < line.start.length && line.start[i] < to; i++) {
          if (line.start[i] > at) visit(NONE, at, line.start[i], NONE);
          const begin = Math.max(line.start[i], at);
          const end = Math.min(line.end[i], to);
          if (end > begin) visit(line.stack[i], begin, end, i);
          at = Math.max(at, end);
        }
      if (to > at) visit(NONE, at, to, NONE);
    },
    pythonDuring(thread, from, to) {
      const line = lineOf(thread);
      if (!line?.isPython) return NONE;
      const i = lowerBound(line.moment, from);
      return i < line.moment.length && line.moment[i] < to ? line.stack[i] : NONE;
    },
  };
}

/** Of the two kinds of samples those of Python say more; where a thread has them, they are taken alone. */
function collect(
  table: NonNullable<Profile['tables']['hostSamples']>,
  thread: number,
): SampleLine | undefined {
  const rows: Row<'hostSamples'>[] = [];
  let hasPython = false;
  for (let row = 0 as Row<'hostSamples'>; row < table.length; row++) {
    if (table.thread[row] !== thread || table.stack[row] === NONE) continue;
    rows.push(row);
    hasPython ||= table.source[row] === SampleSource.python;
  }
  const own = hasPython ? rows.filter(row => table.source[row] === SampleSource.python) : rows;
  if (own.length === 0) return undefined;
  const moments = Float64Array.from(own, row => table.start[row]);
  const usual = own.length > 1 ? medianOf(moments.slice(1).map((moment, i) => moment - moments[i])) : 0;
  const between = (i: number) => Math.round((moments[i] + moments[i + 1]) / 2);
  const reach = Math.round(REACH * usual);
  return {
    moment: moments,
    isPython: hasPython,
    start: moments.map((moment, i) => Math.max(moment - reach, i === 0 ? -Infinity : between(i - 1))),
    end: moments.map((moment, i) => Math.min(moment + reach, i + 1 === own.length ? Infinity : between(i))),
    stack: Int32Array.from(own, row => table.stack[row]),
  };
}
