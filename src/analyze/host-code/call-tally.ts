/** Time added up by node of the call paths, and the calls behind it. */
import { NONE } from '../../base/column.js';
import { type CallPaths, ROOT } from './call-paths.js';
import type { StackLine } from './thread-stacks.js';

export interface NodeSums {
  /** Time while the node was the innermost; nodes beyond the last have none. */
  readonly selfNs: readonly number[];
  /** Calls with such time in them or in what they call. */
  readonly calls: readonly number[];
}

export class CallTally implements NodeSums {
  readonly selfNs: number[] = [];
  readonly calls: number[] = [];
  /** The event counted last, by node: pieces of one call follow each other. */
  private readonly lastEvent: number[] = [];
  private readonly lastLine: (StackLine | undefined)[] = [];

  /** `event`: the one the time is in, on a thread; without a thread what the time is known by, or NONE. */
  add(paths: CallPaths, node: number, ns: number, event: number, line: StackLine | undefined): void {
    if (node >= this.selfNs.length) this.makeRoom(paths.size);
    this.selfNs[node] += ns;
    if (event === NONE || !line) {
      for (let at = node; at > ROOT; at = paths.parents[at]) this.countOnce(at, event, line);
      return;
    }
    // Below an event there may be nodes that are no events: another thread, a sample, the latency of a launch.
    let at = node;
    for (let own = event; own !== NONE; own = line.parent[own]) {
      const outer = line.parent[own] === NONE ? ROOT : line.node[line.parent[own]];
      for (; at > ROOT && at !== outer; at = paths.parents[at]) {
        // What an event is placed before is no call that it is in.
        if (at !== node && paths.names[at]!.kind === 'between') continue;
        const isNew = this.countOnce(at, own, line);
        if (!isNew && at === line.node[own]) return;
      }
    }
  }

  /** Without holes: arrays with holes are hash tables to V8. */
  private makeRoom(size: number): void {
    while (this.selfNs.length < size) {
      this.selfNs.push(0);
      this.calls.push(0);
      this.lastEvent.push(NONE);
      this.lastLine.push(undefined);
    }
  }

  private countOnce(node: number, event: number, line: StackLine | undefined): boolean {
    if (event !== NONE && this.lastEvent[node] === event && this.lastLine[node] === line) return false;
    this.lastEvent[node] = event;
    this.lastLine[node] = line;
    this.calls[node]++;
    return true;
  }
}
