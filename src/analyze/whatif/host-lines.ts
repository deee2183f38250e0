/** What host threads did between two moments, one item after the other: calls, code between them, ends of steps. */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { apiFunction } from '../../catalog/api-function.js';
import type { Profile, Row } from '../../model/profile.js';
import type { ThreadActivity } from '../host/thread-activity.js';
import type { LaneRun } from '../inference/lane.js';
import type { CauseNs, HostItem, ItemKind } from './replay-model.js';

/** A thread that makes no call for this long waits for another one to hand it something to do. */
const HANDED_OVER_NS = 20_000;

interface Recorded {
  readonly start: number;
  readonly end: number;
  /** The API call, or NONE. */
  readonly call: Row<'apiCalls'>;
}

interface Range {
  readonly beginNs: number;
  readonly endNs: number;
  /** Of the thread that runs the steps. */
  readonly runs: readonly LaneRun[];
}

const NO_CALL = NONE as Row<'apiCalls'>;

export class HostLines {
  readonly items: HostItem[] = [];
  readonly threads: { thread: number; items: number[] }[] = [];
  /** Per item, when it was recorded. */
  readonly recorded: Recorded[] = [];
  /** Per step, the item that ends it on the first thread, and when that was. */
  readonly endMarks: { item: number; at: number }[] = [];
  /** The item of each API call; a call inside another belongs to the item of the outer one. */
  readonly itemOfCall = new Map<Row<'apiCalls'>, number>();
  private readonly stepEnds: Float64Array;
  /** Of functions, by the string id of the name in the file. */
  private readonly names = new Map<number, string>();
  private firstThreadEnds = new Float64Array(0);

  constructor(
    private readonly profile: Profile,
    private readonly activity: ThreadActivity,
    private readonly range: Range,
  ) {
    this.stepEnds = Float64Array.from(range.runs, run => run.periodEnd);
  }

  /** The thread that runs the steps: its line ends with the last of them. */
  addFirst(thread: number): void {
    const line = this.open(thread);
    const lastEnd = this.stepEnds[this.stepEnds.length - 1];
    let step = 0;
    const endSteps = (until: number) => {
      for (; step < this.stepEnds.length && this.stepEnds[step] <= until; step++) {
        line.code(this.stepEnds[step]);
        const item = line.push('mark', line.at, line.at, NO_CALL);
        this.endMarks.push({ item, at: line.at });
      }
    };
    this.forEachCall(thread, lastEnd, (call, start, end) => {
      endSteps(start);
      line.code(start);
      // A step that ends inside a call ends before it.
      if (step < this.stepEnds.length && this.stepEnds[step] < end) endSteps(this.stepEnds[step]);
      return line.push('call', Math.max(line.at, start), end, call);
    });
    endSteps(Infinity);
    this.firstThreadEnds = Float64Array.from(line.items, item => this.recorded[item].end);
  }

  /** A thread beside it, which works on what it is handed. */
  addOther(thread: number): void {
    const [first] = this.threads;
    const line = this.open(thread);
    this.forEachCall(thread, this.range.endNs, (call, start, end) => {
      const isHandedOver = line.items.length === 0 || start - line.at >= HANDED_OVER_NS;
      if (!isHandedOver) line.code(start);
      const item = line.push('call', start, end, call);
      const before = isHandedOver ? upperBound(this.firstThreadEnds, start) - 1 : NONE;
      if (before >= 0)
        this.items[item].follows = { item: first.items[before], ns: start - this.firstThreadEnds[before] };
      return item;
    });
  }

  private open(thread: number) {
    const own: number[] = [];
    this.threads.push({ thread, items: own });
    const line = {
      items: own,
      at: this.range.beginNs,
      push: (kind: ItemKind, start: number, end: number, call: Row<'apiCalls'>): number => {
        own.push(this.items.length);
        this.recorded.push({ start, end, call });
        // One literal: there is an item for every call and what lies between, and spreading copies.
        this.items.push({
          kind,
          thread,
          step: this.stepAt(start),
          name: this.nameOf(call),
          recordedStart: start,
          recordedEnd: end,
          ns: end - start,
          causes: this.causesOf(thread, start, end),
          awaits: NONE,
        });
        line.at = end;
        return this.items.length - 1;
      },
      code: (until: number): void => {
        if (until > line.at) line.push('code', line.at, until, NO_CALL);
      },
    };
    return line;
  }

  private nameOf(call: Row<'apiCalls'>): string {
    if (call === NONE) return '';
    const id = this.profile.tables.apiCalls!.name[call];
    let name = this.names.get(id);
    if (name === undefined) this.names.set(id, (name = apiFunction(this.profile.strings.text(id))));
    return name;
  }

  private stepAt(moment: number): number {
    return Math.min(upperBound(this.stepEnds, moment), this.stepEnds.length - 1);
  }

  private causesOf(thread: number, from: number, to: number): CauseNs[] {
    const parts: CauseNs[] = [];
    if (to > from)
      this.activity.forEach(thread, from, to, (cause, begin, end) => parts.push({ cause, ns: end - begin }));
    return parts;
  }

  /** Outermost calls that begin in the range. */
  private forEachCall(
    thread: number,
    until: number,
    visit: (call: Row<'apiCalls'>, start: number, end: number) => number,
  ): void {
    const calls = this.profile.tables.apiCalls!;
    let openUntil = -Infinity;
    let item: number = NONE;
    const first = lowerBound(calls.start as ArrayLike<number>, this.range.beginNs) as Row<'apiCalls'>;
    for (let call = first; call < calls.length && calls.start[call] < until; call++) {
      if (calls.thread[call] !== thread) continue;
      if (calls.start[call] >= openUntil) {
        item = visit(call, calls.start[call], calls.end[call]);
        openUntil = calls.end[call];
      }
      this.itemOfCall.set(call, item);
    }
  }
}
