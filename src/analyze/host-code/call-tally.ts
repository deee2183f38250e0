/**
 * Time added up by node of the call paths, and the calls behind it: of several sets of pieces at once, because a piece
 * is mostly in more than one. A call counts once in a set, however many of its pieces follow each other there.
 *
 * There are millions of pieces and a few kinds of them (a cause, inside forward passes or not), each in fixed sets. So
 * time and calls are counted by kind, and sets are put together in the end. As long as the calls of a node come in order,
 * one that was not seen before is new to all sets; a node whose calls come back is counted set by set from then on.
 */
import { NONE } from '../../base/column.js';
import { type CallPaths, ROOT } from './call-paths.js';
import type { StackLine } from './thread-stacks.js';

export interface NodeSums {
  /** Time while the node was the innermost; nodes beyond the last have none. */
  readonly selfNs: Float64Array;
  /** Calls with such time in them or in what they call. */
  readonly calls: Int32Array;
}

const FIRST_ROOM = 64;

export class CallTally {
  private room = 0;
  /** By kind and node, `room` nodes each: time, calls, and the call counted last. */
  private selfNs = new Float64Array(0);
  private calls = new Int32Array(0);
  private last = new Int32Array(0);
  /** By node: the call counted last, and the sets that have counted it, as bits. */
  private lastOfAll = new Int32Array(0);
  private lastSets = new Int32Array(0);
  /** By set and node: calls that were new to some sets of their kind only. */
  private extraCalls = new Int32Array(0);
  /** By node, once its calls came back: by set, the call counted last. */
  private readonly lastBySet: (Int32Array | undefined)[] = [];
  /** By kind: its sets as bits. */
  private readonly bits: readonly number[];
  private readonly isUsed: Uint8Array;

  /** By kind of piece, the sets it is in: numbers from 0 to 29. */
  constructor(
    private readonly kinds: readonly (readonly number[])[] = [[0]],
    private readonly sets = 1,
  ) {
    this.bits = kinds.map(own => own.reduce((bits, set) => bits | (1 << set), 0));
    this.isUsed = new Uint8Array(kinds.length);
  }

  /** Undefined where nothing was added to the set. */
  sums(paths: CallPaths, set = 0): NodeSums | undefined {
    const { room } = this;
    const size = Math.min(room, paths.size);
    const used = this.kinds.flatMap((own, kind) => (this.isUsed[kind] && own.includes(set) ? [kind] : []));
    if (used.length === 0) return undefined;
    const selfNs = new Float64Array(size);
    const calls = this.extraCalls.slice(set * room, set * room + size);
    for (const kind of used)
      for (let node = 0; node < size; node++) {
        selfNs[node] += this.selfNs[kind * room + node];
        calls[node] += this.calls[kind * room + node];
      }
    return { selfNs, calls };
  }

  /** `event`: the one the time is in, on a thread; without a thread what the time is known by, or NONE. */
  add(
    kind: number,
    paths: CallPaths,
    node: number,
    ns: number,
    event: number,
    line: StackLine | undefined,
  ): void {
    if (node >= this.room) this.makeRoom(paths.size);
    this.isUsed[kind] = 1;
    this.selfNs[kind * this.room + node] += ns;
    if (event === NONE || line === undefined) this.countWithoutLine(kind, paths, node, event);
    else {
      // Most pieces are in the event whose node they have; often it was counted with the piece before.
      const isCounted =
        line.node[event] === node &&
        this.lastOfAll[node] === keyOf(line, event) &&
        (this.lastSets[node] & this.bits[kind]) === this.bits[kind];
      if (!isCounted) this.countCalls(kind, paths, node, event, line);
    }
  }

  private countWithoutLine(kind: number, paths: CallPaths, node: number, event: number): void {
    for (let at = node; at > ROOT; at = paths.parents[at])
      if (event === NONE) {
        this.calls[kind * this.room + at]++;
        this.forgetLast(at, this.bits[kind]);
      } else this.count(kind, this.bits[kind], at, 2 * event);
  }

  private countCalls(kind: number, paths: CallPaths, node: number, event: number, line: StackLine): void {
    const { parent, node: nodeOf } = line;
    let sets = this.bits[kind];
    // Below an event there may be nodes that are no events: another thread, a sample, the latency of a launch.
    let at = node;
    for (let own = event; own !== NONE; own = parent[own]) {
      const outer = parent[own] === NONE ? ROOT : nodeOf[parent[own]];
      const key = keyOf(line, own);
      for (; at > ROOT && at !== outer; at = paths.parents[at]) {
        // What an event is placed before is no call that it is in.
        if (at !== node && paths.names[at]!.kind === 'between') continue;
        const counted = this.count(kind, sets, at, key);
        // Sets that know this event know the ones around it.
        if (at === nodeOf[own]) sets = counted;
        if (sets === 0) return;
      }
    }
  }

  /** Counts a call in those of the sets that have not counted it last; says which. */
  private count(kind: number, sets: number, node: number, key: number): number {
    if (this.lastBySet[node] || sets !== this.bits[kind]) return this.countBySet(sets, node, key);
    const last = this.lastOfAll[node];
    if (key > last) {
      this.calls[kind * this.room + node]++;
      this.lastOfAll[node] = key;
      this.lastSets[node] = sets;
      this.last[kind * this.room + node] = key;
      return sets;
    }
    if (key < last) return this.countBySet(sets, node, key);
    const counted = sets & ~this.lastSets[node];
    if (counted !== 0) {
      for (let set = 0; set < this.sets; set++)
        if ((counted >> set) & 1) this.extraCalls[set * this.room + node]++;
      this.lastSets[node] |= sets;
    }
    this.last[kind * this.room + node] = key;
    return counted;
  }

  private countBySet(sets: number, node: number, key: number): number {
    const last = (this.lastBySet[node] ??= this.lastOfSets(node));
    let counted = 0;
    for (let set = 0; set < this.sets; set++)
      if ((sets >> set) & 1 && last[set] !== key) {
        last[set] = key;
        counted |= 1 << set;
        this.extraCalls[set * this.room + node]++;
      }
    // Nothing is known of all sets together any more.
    this.lastSets[node] = 0;
    return counted;
  }

  /** Calls came in order until now: the last one of a set is the largest of its kinds. */
  private lastOfSets(node: number): Int32Array {
    const last = new Int32Array(this.sets).fill(NONE);
    this.kinds.forEach((own, kind) => {
      for (const set of own) last[set] = Math.max(last[set], this.last[kind * this.room + node]);
    });
    return last;
  }

  /** A call that nothing is known about: the next one is another, whatever came before. */
  private forgetLast(node: number, sets: number): void {
    const last = (this.lastBySet[node] ??= this.lastOfSets(node));
    for (let set = 0; set < this.sets; set++) if ((sets >> set) & 1) last[set] = NONE;
    this.lastSets[node] = 0;
  }

  /** More than asked for: paths grow while they are counted. */
  private makeRoom(size: number): void {
    const room = Math.max(FIRST_ROOM, 2 * size);
    const rows = <Cells extends Float64Array | Int32Array>(from: Cells, into: Cells): Cells => {
      const count = into.length / room;
      for (let row = 0; row < count; row++)
        into.set(from.subarray(row * this.room, (row + 1) * this.room), row * room);
      return into;
    };
    const kinds = this.kinds.length;
    Object.assign(this, {
      selfNs: rows(this.selfNs, new Float64Array(kinds * room)),
      calls: rows(this.calls, new Int32Array(kinds * room)),
      last: rows(this.last, new Int32Array(kinds * room).fill(NONE)),
      lastOfAll: rows(this.lastOfAll, new Int32Array(room).fill(NONE)),
      lastSets: rows(this.lastSets, new Int32Array(room)),
      extraCalls: rows(this.extraCalls, new Int32Array(this.sets * room)),
      room,
    });
  }
}

/** One number per event of all threads; even ones are of what is on no thread. */
const keyOf = (line: StackLine, event: number): number => 2 * (line.firstEvent + event) + 1;
