/** How many events of each kind the profiler wrote down on a thread between two moments: each cost that thread time. */
import { lowerBound } from '../../base/bisect.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import type { HostItem } from './replay-model.js';

const kinds = ['ranges', 'ops', 'frames'] as const;
type Starts = Readonly<Record<(typeof kinds)[number], ArrayLike<number>>>;

export class TracedEvents {
  private readonly byThread = new Map<number, Starts>();

  constructor(private readonly profile: Profile) {}

  within(thread: number, from: number, to: number): HostItem['traced'] {
    let starts = this.byThread.get(thread);
    if (!starts) this.byThread.set(thread, (starts = this.startsOf(thread)));
    const count = (list: ArrayLike<number>) => lowerBound(list, to) - lowerBound(list, from);
    return { ranges: count(starts.ranges), ops: count(starts.ops), frames: count(starts.frames) };
  }

  private startsOf(thread: number): Starts {
    const [ranges, ops, frames] = kinds.map(kind => {
      const table = tableNamed(this.profile, kind);
      const own: number[] = [];
      for (let row = 0 as Row<(typeof kinds)[number]>; row < (table?.length ?? 0); row++)
        if (table!.thread[row] === thread) own.push(table!.start[row]);
      return Float64Array.from(own);
    });
    return { ranges, ops, frames };
  }
}
