/**
 * Which calls of different ranks are one collective: the same place in the same sequence. Files begin at different
 * moments, so sequences may be shifted; and calls that no profiler assigned to a group may belong to several. Both are
 * decided by what must hold for one collective: no rank ends before the last has come.
 *
 *   rank 0   ▄▄    ▄▄▄▄   ▄▄             rank 1 is one call ahead; shifted by it, ends fall together
 *   rank 1      ▄▄   ▄▄   ▄▄   ▄▄▄
 */
import { lowerBound } from '../../base/bisect.js';
import { medianOf } from '../../stats/summary.js';
import { aheadAt, fitClock } from './clock-fit.js';

/** The calls of one key that a rank made, in order. */
export interface CallList {
  /** Index into CollectiveCalls.ranks. */
  readonly rank: number;
  /** See CommRank.clock. */
  readonly clock: number;
  readonly calls: Int32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** The framework's count, where all calls have one. */
  readonly number?: Float64Array;
}

/** One collective: a call of each rank that took part, as far as recorded. */
export interface CollectiveSet {
  readonly calls: readonly number[];
}

interface MatchedKey {
  /** Ranks of the group, as found. */
  readonly ranks: readonly number[];
  readonly sets: readonly CollectiveSet[];
}

/** Calls that must overlap before two lists are compared. */
const FEWEST_SHARED = 4;
const MOST_SHIFTS = 512;
const SAMPLED_PAIRS = 256;
/** Ends of one collective are this close even where it takes no time. */
const LEAST_TOLERANCE_NS = 1_000;
/** Of the calls, how many may contradict: a kernel that was lost shifts those behind it. */
const MOST_CONTRADICTIONS = 0.05;
/** Scatter of the ends by the typical length of a call: ranks of one group end closer together. */
const MOST_SCATTER = 0.5;
/** From this scatter on it must be that of single calls: copies of a server drift apart, call by call. */
const NOTABLE_SCATTER = 0.1;
const FEWEST_FOR_DRIFTING = 20;
const DRIFTING = 0.7;
/** Shifts whose ends scatter by less than this times the best are as good; then the nearest in time is taken. */
const AS_GOOD = 1.5;
/** Clocks of machines that know the time of day differ by less. */
const MOST_OFFSET_NS = 0.5e9;

/** `comparable`: the clocks of the ranks show the time of day. */
export function matchCalls(lists: readonly CallList[], comparable: boolean): MatchedKey[] {
  const matched: MatchedKey[] = [];
  let open = lists.filter(({ calls }) => calls.length > 0);
  while (open.length > 1) {
    const [reference, ...others] = open;
    const shifts = others.map(other => shiftOf(reference, other, comparable));
    const members = others.filter((_, i) => shifts[i] !== undefined);
    const own = shifts.filter(shift => shift !== undefined);
    if (members.length > 0)
      matched.push({
        ranks: [reference.rank, ...members.map(({ rank }) => rank)],
        sets: setsOf(reference, members, own),
      });
    open = others.filter((_, i) => shifts[i] === undefined);
  }
  return matched;
}

function setsOf(
  reference: CallList,
  members: readonly CallList[],
  shifts: readonly number[],
): CollectiveSet[] {
  const sets: CollectiveSet[] = [];
  for (let i = 0; i < reference.calls.length; i++) {
    const calls = [reference.calls[i]];
    members.forEach(({ calls: own }, m) => {
      const at = i + shifts[m];
      if (at >= 0 && at < own.length) calls.push(own[at]);
    });
    if (calls.length > 1) sets.push({ calls });
  }
  return sets;
}

/** Call i of `a` and call i + shift of `b` are one collective. Undefined: the lists are not of one group. */
function shiftOf(a: CallList, b: CallList, comparable: boolean): number | undefined {
  if (a.number && b.number) {
    const at = lowerBound(b.number, a.number[0]);
    const shift = b.number[at] === a.number[0] ? at : -lowerBound(a.number, b.number[0]);
    if (isOneGroup(a, b, shift, comparable)) return shift;
  }
  if (isOneGroup(a, b, 0, comparable) && a.calls.length === b.calls.length) return 0;
  const candidates = shiftsToTry(a, b, comparable)
    .map(shift => ({ shift, ...scatterOf(a, b, shift) }))
    .filter(({ scatterNs }) => Number.isFinite(scatterNs))
    .sort((x, y) => x.scatterNs - y.scatterNs);
  const asGood = candidates.filter(({ scatterNs }) => scatterNs <= AS_GOOD * candidates[0].scatterNs);
  // Steps repeat: without a common clock, shifts by a whole step look the same.
  if (asGood.length === 0 || (asGood.length > 1 && !comparable)) return undefined;
  const [best] = asGood.sort((x, y) => Math.abs(x.offsetNs) - Math.abs(y.offsetNs));
  return isOneGroup(a, b, best.shift, comparable) ? best.shift : undefined;
}

/** Those near the shift that the clocks suggest; where clocks say nothing, those around the lists' beginnings. */
function shiftsToTry(a: CallList, b: CallList, comparable: boolean): number[] {
  const least = FEWEST_SHARED - a.calls.length;
  const most = b.calls.length - FEWEST_SHARED;
  const middle = a.calls.length >> 1;
  const centre = comparable ? lowerBound(b.end, a.end[middle]) - middle : 0;
  const from = Math.max(least, centre - MOST_SHIFTS / 2);
  const to = Math.min(most, centre + MOST_SHIFTS / 2);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

/** Mean distance of the ends from their median difference: a pause between steps in the wrong place shows. */
function scatterOf(a: CallList, b: CallList, shift: number): { scatterNs: number; offsetNs: number } {
  const { differences } = pairsOf(a, b, shift, SAMPLED_PAIRS);
  if (differences.length < FEWEST_SHARED) return { scatterNs: Infinity, offsetNs: 0 };
  const offsetNs = medianOf(differences.slice());
  const scatterNs = differences.reduce((sum, d) => sum + Math.abs(d - offsetNs), 0) / differences.length;
  return { scatterNs, offsetNs };
}

function pairsOf(a: CallList, b: CallList, shift: number, most: number) {
  const first = Math.max(0, -shift);
  const end = Math.min(a.calls.length, b.calls.length - shift);
  const count = Math.max(0, end - first);
  const every = Math.max(1, Math.ceil(count / most));
  const rows = Int32Array.from({ length: Math.ceil(count / every) }, (_, i) => first + i * every);
  return {
    rows,
    times: Float64Array.from(rows, i => a.end[i]),
    differences: Float64Array.from(rows, i => b.end[i + shift] - a.end[i]),
  };
}

function isOneGroup(a: CallList, b: CallList, shift: number, comparable: boolean): boolean {
  const { rows, times, differences } = pairsOf(a, b, shift, 4 * SAMPLED_PAIRS);
  if (rows.length === 0) return false;
  // On one clock times are what they are.
  const fit = a.clock === b.clock ? { offsetNs: 0, at: 0, drift: 0 } : fitClock(times, differences);
  if (comparable && Math.abs(fit.offsetNs) > MOST_OFFSET_NS) return false;
  const shorter = Float64Array.from(rows, i =>
    Math.min(a.end[i] - a.start[i], b.end[i + shift] - b.start[i + shift]),
  );
  const toleranceNs = Math.max(LEAST_TOLERANCE_NS, medianOf(shorter));
  const residuals = differences.map((ns, i) => ns - aheadAt(fit, times[i]));
  if (endApart(residuals, toleranceNs)) return false;
  let contradictions = 0;
  for (const i of rows) {
    const ahead = aheadAt(fit, a.end[i]);
    const early = b.start[i + shift] - ahead - a.end[i];
    const late = a.start[i] - (b.end[i + shift] - ahead);
    if (Math.max(early, late) > toleranceNs) contradictions++;
  }
  return contradictions <= MOST_CONTRADICTIONS * rows.length;
}

/**
 * Ends of one collective scatter around each other; those of two servers with the same pace wander:
 *
 *   one group    ·˙·.˙·.·˙      a call's scatter says nothing about the next
 *   two groups   ....··˙˙··     neighbours are close, and all are far from the middle
 */
function endApart(residuals: Float64Array, lengthNs: number): boolean {
  if (medianOf(residuals.map(Math.abs)) > MOST_SCATTER * lengthNs) return true;
  // A rank that always ends a little later does not wander.
  const middle = medianOf(residuals.slice());
  const scatter = medianOf(residuals.map(ns => Math.abs(ns - middle)));
  if (residuals.length < FEWEST_FOR_DRIFTING || scatter <= NOTABLE_SCATTER * lengthNs) return false;
  const changes = residuals.slice(1).map((ns, i) => Math.abs(ns - residuals[i]));
  return medianOf(changes) < DRIFTING * scatter;
}
