/**
 * The clocks of files on one axis. Every rank needs something of every other in a collective, so ranks end it together,
 * to within what one transfer takes. From the ends follow offset and drift of each file's clock; from "no rank ends
 * before the last has come" follows how wrong they can be at most.
 *
 * Ends are not exactly together (a ring has a direction, hosts are scheduled, processes on one GPU take turns), so a
 * clock that shows the time of day is corrected only if it must be wrong, because ranks would end before others have
 * come, or if nearly all of its ends are off by the same time, and by more than a ring explains.
 */
import { isSymmetric } from '../../catalog/messages.js';
import { medianOf } from '../../stats/summary.js';
import { aheadAt, type ClockFit, fitClock } from './clock-fit.js';
import type { CollectiveCalls } from './collective-calls.js';
import type { CollectiveSet } from './match-calls.js';

/** Matched collectives below which ends agree by chance. */
const FEWEST_TO_ALIGN = 8;

/** How a file's clock runs against the reference, measured at the ends of collectives. */
interface FileClock extends ClockFit {
  /** See CommRank.clock. */
  readonly clock: number;
  /** The clock is wrong, and its times are moved by the fit. */
  readonly corrected: boolean;
  /** What is left between the clocks: the scatter of the ends, and the offset where it was not taken out. */
  readonly uncertaintyNs: number;
  /** The measured offset cannot be further off than this: a rank would end before another has come. */
  readonly boundNs: number;
}

export interface Alignment {
  /**
   * `one-clock`: all ranks were recorded on one. `agree`: checked with collectives, none is proven wrong. `aligned`: some
   * were, and are corrected. `unchecked`: too few collectives to check clocks that show the time of day. `none`: separate
   * clocks, and too few collectives to align them.
   */
  readonly status: 'one-clock' | 'agree' | 'aligned' | 'unchecked' | 'none';
  /** One per clock, the reference first. */
  readonly clocks: readonly FileClock[];
  /** Ranks whose clocks have the same reference were aligned with each other. */
  referenceOf(rank: number): number;
  /** A moment of a rank's clock on the axis of all. */
  toCommon(rank: number, moment: number): number;
  toOwn(rank: number, moment: number): number;
}

const exact = (clock: number): FileClock => ({
  ...{ clock, offsetNs: 0, at: 0, drift: 0, residualNs: 0, moments: 0 },
  ...{ corrected: false, uncertaintyNs: 0, boundNs: 0 },
});

export function alignClocks(
  calls: CollectiveCalls,
  sets: readonly CollectiveSet[],
  comparable: boolean,
): Alignment {
  const numbers = [...new Set(calls.ranks.map(({ clock }) => clock))];
  if (numbers.length < 2) return placed('one-clock', calls, numbers.map(exact));
  const known = new Map<number, FileClock>();
  const references = new Map<number, number>();
  for (const clock of numbers) {
    if (known.has(clock)) continue;
    // Files of other windows share no collective with the first: they are aligned among themselves.
    known.set(clock, exact(clock));
    references.set(clock, clock);
    reach(clock);
  }
  const clocks = numbers.map(clock => known.get(clock)!);
  const alone = new Set(references.values()).size === numbers.length;
  const status = clocks.some(({ corrected }) => corrected)
    ? 'aligned'
    : !alone
      ? 'agree'
      : comparable
        ? 'unchecked'
        : 'none';
  return placed(status, calls, clocks, clock => references.get(clock)!);

  /** Aligns all clocks that share enough collectives with a known one of this reference, or with one that does. */
  function reach(reference: number): void {
    for (let before = 0; before !== known.size; ) {
      before = known.size;
      for (const clock of numbers) {
        if (known.has(clock)) continue;
        for (const to of [...known.values()]) {
          if (references.get(to.clock) !== reference) continue;
          const ends = sharedEnds(calls, sets, to.clock, clock);
          if (ends.times.length < FEWEST_TO_ALIGN) continue;
          known.set(clock, through(to, fitEnds(clock, ends, comparable)));
          references.set(clock, reference);
          break;
        }
      }
    }
  }
}

interface SharedEnds {
  readonly times: number[];
  readonly differences: number[];
  /** Own start minus the other's end, and own end minus the other's start: the offset lies between. */
  readonly least: number[];
  readonly most: number[];
  /** Length of the shorter of the two calls: the one that waited less. */
  readonly shortest: number[];
}

/** More say no more: of long captures every so many-th is taken. */
const MOST_MOMENTS = 8_192;

/** Ends that two clocks both saw: one call of each clock per collective. */
function sharedEnds(
  calls: CollectiveCalls,
  sets: readonly CollectiveSet[],
  to: number,
  own: number,
): SharedEnds {
  const ends: SharedEnds = { times: [], differences: [], least: [], most: [], shortest: [] };
  const callOf = (set: CollectiveSet, clock: number) =>
    set.calls.find(call => calls.ranks[calls.rank[call]].clock === clock);
  const every = Math.max(1, Math.ceil(sets.length / MOST_MOMENTS));
  for (let i = 0; i < sets.length; i += every) {
    const set = sets[i];
    if (!isSymmetric(calls.keys[calls.key[set.calls[0]]].kind)) continue;
    const a = callOf(set, to);
    const b = callOf(set, own);
    if (a === undefined || b === undefined) continue;
    ends.times.push(calls.end[a]);
    ends.differences.push(calls.end[b] - calls.end[a]);
    ends.least.push(calls.start[b] - calls.end[a]);
    ends.most.push(calls.end[b] - calls.start[a]);
    ends.shortest.push(Math.min(calls.end[a] - calls.start[a], calls.end[b] - calls.start[b]));
  }
  return ends;
}

/** Offset by scatter and by the length of the shortest call, from which on it is the clock's and not the transfer's. */
const BEYOND_SCATTER = 10;
const BEYOND_TRANSFER = 0.25;
/** The part of the ends that must agree. */
const NEARLY_ALL = 0.9;

/** A few calls may be matched wrongly; they must not decide what is possible. */
const TRUSTED = 0.98;

function fitEnds(clock: number, ends: SharedEnds, comparable: boolean): FileClock {
  const order = Int32Array.from(ends.times, (_, i) => i).sort((a, b) => ends.times[a] - ends.times[b]);
  const sorted = (values: readonly number[]) => Float64Array.from(order, i => values[i]);
  const times = sorted(ends.times);
  const fit = fitClock(times, sorted(ends.differences));
  const kept = Math.min(times.length - 1, Math.floor(TRUSTED * times.length));
  /** How far the offset may lie below and above what is taken for it. */
  const room = (taken: (time: number) => number) => {
    const below = sorted(ends.least).map((ns, i) => ns - taken(times[i]));
    const above = sorted(ends.most).map((ns, i) => ns - taken(times[i]));
    return [-below.sort()[kept], above.sort().reverse()[kept]];
  };
  const shortest = medianOf(sorted(ends.shortest));
  // A clock that is off is off at every end. Processes that share a GPU take turns: their ends differ in several ways.
  const away = sorted(ends.differences).map((ns, i) => Math.abs(ns - aheadAt(fit, times[i])));
  const scatter = away.sort()[Math.floor(NEARLY_ALL * (times.length - 1))];
  const isFarOff =
    Math.abs(fit.offsetNs) > BEYOND_SCATTER * scatter && Math.abs(fit.offsetNs) > BEYOND_TRANSFER * shortest;
  const corrected = !comparable || isFarOff || Math.min(...room(() => 0)) < 0;
  return {
    clock,
    ...fit,
    corrected,
    uncertaintyNs: fit.residualNs + (corrected ? 0 : Math.abs(fit.offsetNs)),
    boundNs: Math.max(0, ...room(time => aheadAt(fit, time))),
  };
}

/** The fit against a clock that is itself ahead of the reference. */
function through(to: FileClock, own: FileClock): FileClock {
  const moved = to.corrected ? to : { ...to, offsetNs: 0, drift: 0 };
  return {
    ...own,
    corrected: own.corrected || to.corrected,
    offsetNs: own.offsetNs + aheadAt(moved, own.at),
    drift: own.drift + moved.drift,
    residualNs: own.residualNs + to.residualNs,
    uncertaintyNs: own.uncertaintyNs + to.uncertaintyNs,
    boundNs: own.boundNs + to.boundNs,
  };
}

function placed(
  status: Alignment['status'],
  calls: CollectiveCalls,
  clocks: readonly FileClock[],
  reference: (clock: number) => number = () => 0,
): Alignment {
  const asRecorded = { offsetNs: 0, drift: 0, at: 0 };
  const ofRank = calls.ranks.map(({ clock }) => {
    const own = clocks.find(known => known.clock === clock)!;
    return own.corrected ? own : asRecorded;
  });
  return {
    status,
    clocks,
    referenceOf: rank => reference(calls.ranks[rank].clock),
    toCommon: (rank, moment) => {
      const clock = ofRank[rank];
      if (clock.drift === 0) return moment - clock.offsetNs;
      // own = common + offset + drift · (common − at)
      return (moment - clock.offsetNs + clock.drift * clock.at) / (1 + clock.drift);
    },
    toOwn: (rank, moment) => moment + aheadAt(ofRank[rank], moment),
  };
}

/** What is typically left between two clocks. */
export const clockUncertainty = ({ clocks }: Alignment): number =>
  clocks.length < 2 ? 0 : medianOf(Float64Array.from(clocks.slice(1), ({ uncertaintyNs }) => uncertaintyNs));
