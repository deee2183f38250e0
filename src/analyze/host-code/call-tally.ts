/**
 * Time added up by node of the call paths, and the calls behind it: of several sets of pieces at once, because a piece
 * is mostly in more than one.
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
/** Below all numbers of events on a thread: what a piece without a thread is known by counts down from here. */
const WITHOUT_LINE = -2;

export class CallTally {
  /** Columns of a set lie one after the other, `room` nodes each. */
  private room = 0;
  private selfNs = new Float64Array(0);
  private calls = new Int32Array(0);
  /** The event counted last: pieces of one call follow each other. */
  private last = new Int32Array(0);
  private readonly isUsed: Uint8Array;

  constructor(private readonly sets = 1) {
    this.isUsed = new Uint8Array(sets);
  }

  /** Undefined where nothing was added to the set. */
  sums(set = 0): NodeSums | undefined {
    if (this.isUsed[set] === 0) return undefined;
    const [from, to] = [set * this.room, (set + 1) * this.room];
    return { selfNs: this.selfNs.subarray(from, to), calls: this.calls.subarray(from, to) };
  }

  /** `event`: the one the time is in, on a thread; without a thread what the time is known by, or NONE. */
  add(
    into: readonly number[],
    paths: CallPaths,
    node: number,
    ns: number,
    event: number,
    line: StackLine | undefined,
  ): void {
    if (node >= this.room) this.makeRoom(paths.size);
    const { selfNs, last, calls, room } = this;
    for (let i = 0; i < into.length; i++) {
      const set = into[i];
      const offset = set * room;
      this.isUsed[set] = 1;
      selfNs[offset + node] += ns;
      if (event === NONE || line === undefined) {
        const key = WITHOUT_LINE - event;
        for (let at = node; at > ROOT; at = paths.parents[at])
          if (event === NONE || last[offset + at] !== key) {
            last[offset + at] = event === NONE ? NONE : key;
            calls[offset + at]++;
          }
        // Most pieces are in the event whose node they have, and that was counted with the piece before.
      } else if (line.node[event] !== node || last[offset + node] !== line.firstEvent + event)
        this.countCalls(offset, paths, node, event, line);
    }
  }

  private countCalls(offset: number, paths: CallPaths, node: number, event: number, line: StackLine): void {
    const { last, calls } = this;
    const { parent, node: nodeOf, firstEvent } = line;
    // Below an event there may be nodes that are no events: another thread, a sample, the latency of a launch.
    let at = node;
    for (let own = event; own !== NONE; own = parent[own]) {
      const outer = parent[own] === NONE ? ROOT : nodeOf[parent[own]];
      const key = firstEvent + own;
      for (; at > ROOT && at !== outer; at = paths.parents[at]) {
        // What an event is placed before is no call that it is in.
        if (at !== node && paths.names[at]!.kind === 'between') continue;
        if (last[offset + at] !== key) {
          last[offset + at] = key;
          calls[offset + at]++;
        } else if (at === nodeOf[own]) return;
      }
    }
  }

  /** More than asked for: paths grow while they are counted. */
  private makeRoom(size: number): void {
    const room = Math.max(FIRST_ROOM, 2 * size);
    const { sets, room: before } = this;
    const selfNs = new Float64Array(sets * room);
    const calls = new Int32Array(sets * room);
    const last = new Int32Array(sets * room).fill(NONE);
    for (let set = 0; set < sets; set++) {
      const own = (column: Float64Array | Int32Array) => column.subarray(set * before, (set + 1) * before);
      selfNs.set(own(this.selfNs), set * room);
      calls.set(own(this.calls), set * room);
      last.set(own(this.last), set * room);
    }
    Object.assign(this, { room, selfNs, calls, last });
  }
}
