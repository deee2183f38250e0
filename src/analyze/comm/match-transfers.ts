/**
 * Which send belongs to which receive, between two ranks: the same place in the sequence. A receive never ends before
 * its send began; a send may end long before, because a small message lies ready for its receiver.
 *
 *   rank 0   ▄▄▄ send        ▄▄▄▄        rank 1 waits for the first, and finds the second ready
 *   rank 1   ▒▒▒▒█      ▄▄▄▄▄▄▄    █
 */
import { medianOf } from '../../stats/summary.js';
import type { CallList, CollectiveSet } from './match-calls.js';

interface MatchedTransfers {
  readonly ranks: readonly number[];
  readonly sets: readonly CollectiveSet[];
}

/** Files of one run begin within so many transfers of each other. */
const MOST_SHIFT = 256;
const FEWEST_SHARED = 4;
/** Clocks of one machine agree to this. */
const TOLERANCE_NS = 1_000;
/** Of the pairs, how many may contradict. */
const MOST_CONTRADICTIONS = 0.05;
/** A shift is as good as another if its delays are not this many times longer. */
const AS_GOOD = 1.5;

/** Each rank may have several files. On clocks that cannot be compared nothing is matched: only ends of collectives align those. */
export function matchTransfers(
  senders: readonly CallList[],
  receivers: readonly CallList[],
  comparable: boolean,
): MatchedTransfers[] {
  return senders.flatMap(send =>
    receivers.flatMap(receive => {
      if (!comparable && send.clock !== receive.clock) return [];
      const shift = shiftOf(send, receive);
      if (shift === undefined) return [];
      const sets: CollectiveSet[] = [];
      for (let i = Math.max(0, -shift); i < Math.min(send.calls.length, receive.calls.length - shift); i++)
        sets.push({ calls: [send.calls[i], receive.calls[i + shift]] });
      return [{ ranks: [send.rank, receive.rank].sort((a, b) => a - b), sets }];
    }),
  );
}

/** Send i and receive i + shift are one transfer. Undefined: nothing says so. */
function shiftOf(send: CallList, receive: CallList): number | undefined {
  const none = delayOf(send, receive, 0);
  if (none !== undefined && send.calls.length === receive.calls.length) return 0;
  const shifts = Array.from({ length: 2 * MOST_SHIFT + 1 }, (_, i) => i - MOST_SHIFT);
  const found = shifts
    .flatMap(shift => {
      const delayNs = delayOf(send, receive, shift);
      return delayNs === undefined ? [] : [{ shift, delayNs }];
    })
    .sort((a, b) => a.delayNs - b.delayNs);
  const [best, second] = found;
  if (!best || (second && second.delayNs <= AS_GOOD * best.delayNs)) return undefined;
  return best.shift;
}

/** From when both were there to the end of the receive, typically. Undefined where receives end before their sends. */
function delayOf(send: CallList, receive: CallList, shift: number): number | undefined {
  const first = Math.max(0, -shift);
  const end = Math.min(send.calls.length, receive.calls.length - shift);
  if (end - first < Math.min(FEWEST_SHARED, send.calls.length, receive.calls.length)) return undefined;
  const delays = new Float64Array(end - first);
  let contradictions = 0;
  for (let i = first; i < end; i++) {
    const ended = receive.end[i + shift];
    if (ended < send.start[i] - TOLERANCE_NS) contradictions++;
    delays[i - first] = Math.max(0, ended - Math.max(send.start[i], receive.start[i + shift]));
  }
  return contradictions <= MOST_CONTRADICTIONS * delays.length ? medianOf(delays) : undefined;
}
