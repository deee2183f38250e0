/**
 * Per collective: when each rank arrived, how long it waited for the last one, and how long the transfer took from then
 * on. Each rank's part is on its own clock, so that waiting and transferring sum to the time of its call.
 *
 *   rank 0   ▒▒▒▒▒▒▒███        ▒ waiting: until the last rank arrives
 *   rank 1   ....▒▒▒███        █ transferring: from then to the rank's own end
 *   rank 2   .......███
 */
import { NONE } from '../../base/column.js';
import { IntervalBuilder, type Intervals } from '../../base/intervals.js';
import { messageBytes } from '../../catalog/messages.js';
import type { Derived } from '../analysis.js';
import { type Alignment, alignClocks } from './align-clocks.js';
import { type CollectiveCalls, collectiveCalls, hasKnownWaits } from './collective-calls.js';
import { type CallList, type CollectiveSet, matchCalls } from './match-calls.js';
import { matchTransfers } from './match-transfers.js';

/** A group of ranks that communicate with each other. */
interface CommGroup {
  /** Indexes into CollectiveCalls.ranks, in order. */
  readonly ranks: readonly number[];
  /** Ranks that the group has by the profiler's statement; more than `ranks` where files are missing. */
  readonly size: number;
  /** Name of the process group; empty: inferred from ends that fall together. */
  readonly name: string;
}

export interface Collective {
  readonly key: number;
  /** Index into CollectiveWaits.groups. */
  readonly group: number;
  /** Rows of CollectiveCalls, one per rank. */
  readonly calls: readonly number[];
  /** Index into CollectiveCalls.ranks: the one the others waited for. */
  readonly lastRank: number;
  /** On the common axis. */
  readonly lastArrival: number;
  /** Of the rank before the last. */
  readonly secondArrival: number;
  /** On the common axis, of the rank that ends last. */
  readonly end: number;
  /** Size of the message and bytes a rank must move, where stated. */
  readonly bytes?: number;
  readonly busBytes?: number;
}

export interface CollectiveWaits {
  readonly calls: CollectiveCalls;
  readonly alignment: Alignment;
  readonly groups: readonly CommGroup[];
  /** In order of last arrival. */
  readonly collectives: readonly Collective[];
  /** Sends with their receives. Stages of a pipeline wait for each other by design: no rank is late in them. */
  readonly transfers: readonly Collective[];
  /** Per call: nanoseconds until the last rank arrived, and from then on. NaN: not matched. */
  readonly waitingNs: Float64Array;
  readonly transferringNs: Float64Array;
  /** Calls that every rank of a group must join, matched and in total. */
  readonly matched: number;
  readonly total: number;
  /** Per device: while a matched call of it waits, and while a matched call runs. */
  readonly waiting: ReadonlyMap<number, Intervals>;
  readonly matchedTime: ReadonlyMap<number, Intervals>;
}

/** Why there are no waits. */
export type MatchProblem = 'one-rank' | 'no-collectives' | 'no-match' | 'clocks';

interface RankMatching {
  readonly waits?: CollectiveWaits;
  readonly problem?: MatchProblem;
}

export const rankMatching: Derived<RankMatching> = {
  id: 'rank-matching',
  reads: {},
  uses: [collectiveCalls],
  compute({ profile, use }) {
    const calls = use(collectiveCalls);
    if (calls.ranks.length < 2)
      return { problem: profile.processes.length < 2 ? 'one-rank' : 'no-collectives' };
    const comparable = profile.clock === 'utc' || new Set(calls.ranks.map(({ clock }) => clock)).size < 2;
    const found = matchAll(calls, comparable);
    const sets = found.flatMap(key => key.sets);
    if (sets.length === 0) return { problem: 'no-match' };
    const alignment = alignClocks(calls, sets, comparable);
    if (alignment.status === 'none') return { problem: 'clocks' };
    const isAligned = ({ calls: own }: CollectiveSet) =>
      new Set(own.map(call => alignment.referenceOf(calls.rank[call]))).size === 1;
    // Separate clocks that were not aligned with each other say nothing about who came last.
    const kept = comparable
      ? found
      : found.map(key => ({ ...key, sets: key.sets.filter(isAligned) })).filter(key => key.sets.length > 0);
    return {
      waits: split(calls, alignment, kept, profile.capture.distributed?.worldSize),
    };
  },
};

/** Undefined where ranks could not be matched. */
export const collectiveWaits: Derived<CollectiveWaits | undefined> = {
  id: 'collective-waits',
  reads: {},
  uses: [rankMatching],
  compute: ({ use }) => use(rankMatching).waits,
};

interface FoundKey {
  readonly key: number;
  readonly ranks: readonly number[];
  readonly sets: readonly CollectiveSet[];
}

/** Where who waits for whom is not known, calls are left out. */
function matchAll(calls: CollectiveCalls, comparable: boolean): FoundKey[] {
  return calls.keys.flatMap((own, key) => {
    if (!hasKnownWaits(own)) return [];
    const lists = listsOf(calls, key);
    const found = own.transfer
      ? matchTransfers(
          lists.filter(({ rank }) => calls.ranks[rank].rank === own.transfer!.from),
          lists.filter(({ rank }) => calls.ranks[rank].rank === own.transfer!.to),
          comparable,
        )
      : matchCalls(lists, comparable);
    return found.map(matched => ({ key, ...matched }));
  });
}

function listsOf(calls: CollectiveCalls, key: number): CallList[] {
  const rows = calls.ranks.map((): number[] => []);
  for (let call = 0; call < calls.length; call++)
    if (calls.key[call] === key) rows[calls.rank[call]].push(call);
  return rows.flatMap((own, rank): CallList[] => {
    if (own.length === 0) return [];
    const list = Int32Array.from(own);
    const number = Float64Array.from(list, call => calls.number[call]);
    const counted = number.every((value, i) => i === 0 || value > number[i - 1]) && !Number.isNaN(number[0]);
    return [
      {
        rank,
        clock: calls.ranks[rank].clock,
        calls: list,
        start: Float64Array.from(list, call => calls.start[call]),
        end: Float64Array.from(list, call => calls.end[call]),
        ...(counted ? { number } : {}),
      },
    ];
  });
}

function split(
  calls: CollectiveCalls,
  alignment: Alignment,
  found: readonly FoundKey[],
  worldSize: number | undefined,
): CollectiveWaits {
  const waitingNs = new Float64Array(calls.length).fill(Number.NaN);
  const transferringNs = new Float64Array(calls.length).fill(Number.NaN);
  const groups = new Groups();
  const collectives: Collective[] = [];
  const transfers: Collective[] = [];
  for (const { key, ranks, sets } of found) {
    const { kind, group: name, groupRanks, transfer } = calls.keys[key];
    const stated = groupRanks?.length ?? sizeStated(calls, sets);
    const group = groups.of(name, ranks, stated);
    // Without a statement, a group of all ranks is complete and any other may be larger than what was given.
    const size = stated ?? (ranks.length === worldSize ? worldSize : undefined);
    for (const set of sets) {
      const arrivals = set.calls.map(call => alignment.toCommon(calls.rank[call], calls.start[call]));
      const at = arrivals.indexOf(Math.max(...arrivals));
      const lastArrival = arrivals[at];
      let end = -Infinity;
      for (const call of set.calls) {
        const rank = calls.rank[call];
        const ownLast = Math.round(alignment.toOwn(rank, lastArrival));
        const took = calls.end[call] - calls.start[call];
        // A small message lies ready for its receiver: the sender went on without it.
        const hasGone = transfer !== undefined && ownLast >= calls.end[call];
        const waited = hasGone ? 0 : Math.min(Math.max(0, ownLast - calls.start[call]), took);
        waitingNs[call] = call === set.calls[at] ? 0 : waited;
        transferringNs[call] = took - waitingNs[call];
        end = Math.max(end, alignment.toCommon(rank, calls.end[call]));
      }
      const at0 = calls.message[set.calls[0]];
      const message = at0 === NONE ? undefined : calls.messages[at0];
      (transfer ? transfers : collectives).push({
        key,
        group,
        calls: set.calls,
        lastRank: calls.rank[set.calls[at]],
        lastArrival,
        secondArrival: Math.max(...arrivals.filter((_, i) => i !== at)),
        end,
        ...(message && size !== undefined ? messageBytes(kind, message, size) : {}),
      });
    }
  }
  collectives.sort((a, b) => a.lastArrival - b.lastArrival);
  transfers.sort((a, b) => a.lastArrival - b.lastArrival);
  let total = 0;
  for (let call = 0; call < calls.length; call++) if (hasKnownWaits(calls.keys[calls.key[call]])) total++;
  return {
    calls,
    alignment,
    groups: groups.list,
    collectives,
    transfers,
    waitingNs,
    transferringNs,
    matched: waitingNs.reduce((sum, ns) => sum + (Number.isNaN(ns) ? 0 : 1), 0),
    total,
    waiting: byDevice(calls, call => waitingNs[call]),
    matchedTime: byDevice(calls, call => waitingNs[call] + transferringNs[call]),
  };
}

/** How many ranks the messages of a key say its group has. */
function sizeStated(calls: CollectiveCalls, sets: readonly CollectiveSet[]): number | undefined {
  const message = calls.message[sets[0].calls[0]];
  return message === NONE ? undefined : calls.messages[message].groupSize;
}

class Groups {
  readonly list: CommGroup[] = [];
  private readonly known = new Map<string, number>();

  of(name: string, ranks: readonly number[], size = ranks.length): number {
    const text = `${name}|${ranks.join()}`;
    let group = this.known.get(text);
    if (group === undefined) {
      group = this.list.length;
      this.known.set(text, group);
      this.list.push({ name, ranks, size: Math.max(size, ranks.length) });
    }
    return group;
  }
}

/** From the start of each call of a device, as long as told. */
function byDevice(calls: CollectiveCalls, lengthOf: (call: number) => number): Map<number, Intervals> {
  const rows = new Map<number, number[]>();
  for (let call = 0; call < calls.length; call++) {
    const { device } = calls.ranks[calls.rank[call]];
    if (device === NONE || calls.work[call] === NONE || !(lengthOf(call) > 0)) continue;
    const own = rows.get(device);
    if (own) own.push(call);
    else rows.set(device, [call]);
  }
  return new Map(
    [...rows].map(([device, own]) => {
      const builder = new IntervalBuilder();
      own.sort((a, b) => calls.start[a] - calls.start[b]);
      for (const call of own) builder.add(calls.start[call], calls.start[call] + lengthOf(call));
      return [device, builder.finish()];
    }),
  );
}
