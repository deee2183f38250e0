/** What caused an event and what it caused: launch calls and GPU work, found through the launch column. */
import type { Analyzer } from '../analyze/analysis.js';
import { gpuWork } from '../analyze/gpu/gpu-work.js';
import { NONE } from '../base/column.js';
import type { TimelineData } from './timeline-data.js';
import { type LaneSource, rowAt } from './track.js';
import type { EventLink } from './wire.js';

const MOST_LINKS = 200;

/** Rows of all owners in one list; those of owner i begin at from[i] and end before from[i + 1]. */
interface GroupedRows {
  readonly from: Int32Array;
  readonly rows: Int32Array;
}

function groupRows(owners: ArrayLike<number>, count: number): GroupedRows {
  const from = new Int32Array(count + 1);
  for (let row = 0; row < owners.length; row++) if (owners[row] !== NONE) from[owners[row] + 1]++;
  for (let owner = 0; owner < count; owner++) from[owner + 1] += from[owner];
  const next = from.slice(0, count);
  const rows = new Int32Array(from[count]);
  for (let row = 0; row < owners.length; row++) if (owners[row] !== NONE) rows[next[owners[row]]++] = row;
  return { from, rows };
}

export class EventLinks {
  /** GPU work by the API call that launched it; made when first asked for. */
  private launched: GroupedRows | undefined;
  private readonly places = new Map<LaneSource, { lane: Int32Array; index: Int32Array }>();

  constructor(
    private readonly analyzer: Analyzer,
    private readonly data: TimelineData,
  ) {}

  of(source: LaneSource, row: number): { links: EventLink[]; moreLinks: number } {
    if (source === 'work' || source === 'replays') {
      const call = this.analyzer.get(gpuWork).launch[row];
      return this.list('launched-by', 'apiCalls', call === NONE ? [] : [call]);
    }
    if (source === 'idle') return this.list('launches', 'work', row === NONE ? [] : [row]);
    if (source === 'apiCalls') return this.list('launches', 'work', this.launchedBy(row));
    return { links: [], moreLinks: 0 };
  }

  private launchedBy(call: number): ArrayLike<number> {
    const { tables } = this.analyzer.profile;
    if (!(tables.kernels || tables.copies || tables.memsets || tables.graphLaunches)) return [];
    this.launched ??= groupRows(this.analyzer.get(gpuWork).launch, tables.apiCalls?.length ?? 0);
    return this.launched.rows.subarray(this.launched.from[call], this.launched.from[call + 1]);
  }

  private list(relation: EventLink['relation'], source: LaneSource, rows: ArrayLike<number>) {
    const links: EventLink[] = [];
    for (let i = 0; i < Math.min(rows.length, MOST_LINKS); i++) {
      const link = this.place(relation, source, rows[i]);
      if (link) links.push(link);
    }
    return { links, moreLinks: rows.length - Math.min(rows.length, MOST_LINKS) };
  }

  private place(relation: EventLink['relation'], source: LaneSource, row: number): EventLink | undefined {
    const { lane, index } = this.placesOf(source);
    const at = lane[row] ?? NONE;
    const found = at === NONE ? undefined : this.data.lanes[at].lane;
    if (found?.kind !== 'slices') return undefined;
    const i = index[row];
    const { start, end, label } = found.data;
    return {
      lane: at,
      index: i,
      startNs: start[i],
      endNs: end[i],
      relation,
      title: this.data.labels.text(label[i]),
    };
  }

  /** The first lane each row of a source is drawn in. */
  private placesOf(source: LaneSource) {
    let places = this.places.get(source);
    if (!places) {
      const own = this.data.lanes.flatMap(({ lane }, id) =>
        lane.kind === 'slices' && lane.data.source === source ? [{ id, events: lane.data }] : [],
      );
      let most = 0;
      for (const { events } of own)
        for (let i = 0; i < events.length; i++) most = Math.max(most, rowAt(events.row, i) + 1);
      places = { lane: new Int32Array(most).fill(NONE), index: new Int32Array(most) };
      for (const { id, events } of own)
        for (let i = 0; i < events.length; i++) {
          const row = rowAt(events.row, i);
          if (places.lane[row] !== NONE) continue;
          places.lane[row] = id;
          places.index[row] = i;
        }
      this.places.set(source, places);
    }
    return places;
  }
}
