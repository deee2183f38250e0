/** Whether one rank is behind most of the waiting, all the time or now and then. */
import type { CollectiveCalls } from './collective-calls.js';
import type { CollectiveWaits } from './collective-waits.js';
import type { LateArrival } from './late-arrivals.js';

export interface Straggler {
  /** null: nothing gives its number. */
  readonly rank: number | null;
  /** Of all waiting. */
  readonly share: number;
  /** `persistent`: it is behind most of the waiting in both halves of the capture. */
  readonly kind: 'persistent' | 'changing';
  /** Mean over collectives and per capture: what all would save had it come with the rank before it. */
  readonly aloneNs: number;
}

/** From this share of the waiting on, one rank is the cause of most of it. */
const MOST = 0.5;
/** Collectives below which halves say nothing. */
const FEWEST = 8;

/** The rank with most of the waiting; undefined where nobody waited. */
export function stragglerIn(
  { calls }: CollectiveWaits,
  arrivals: readonly LateArrival[],
): Straggler | undefined {
  const total = sumsByPlace(calls, arrivals);
  const all = total.reduce((sum, ns) => sum + ns, 0);
  if (!(all > 0)) return undefined;
  const place = total.indexOf(Math.max(...total));
  const half = arrivals.length >> 1;
  const leads = (part: readonly LateArrival[]) => {
    const sums = sumsByPlace(calls, part);
    const whole = sums.reduce((sum, ns) => sum + ns, 0);
    return whole > 0 && sums[place] >= MOST * whole;
  };
  const persistent =
    arrivals.length >= FEWEST && leads(arrivals.slice(0, half)) && leads(arrivals.slice(half));
  return {
    rank: calls.places[place],
    share: total[place] / all,
    kind: persistent ? 'persistent' : 'changing',
    aloneNs: arrivals.reduce(
      (sum, { rank, aloneNs }) => sum + (calls.ranks[rank].place === place ? aloneNs : 0),
      0,
    ),
  };
}

function sumsByPlace({ ranks, places }: CollectiveCalls, arrivals: readonly LateArrival[]): Float64Array {
  const sums = new Float64Array(places.length);
  for (const { rank, waitedNs } of arrivals) sums[ranks[rank].place] += waitedNs;
  return sums;
}
