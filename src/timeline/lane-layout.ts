/**
 * Puts events that contain or overlap each other into lanes, so that within a lane none overlap: a parent above its
 * children, and what overlaps without containing on the next free lane.
 *
 *   a [────────────]          lane 0  [a──────────][c──]
 *   b   [────]                lane 1    [b───]
 *   c               [──]
 */
import { GrowingColumn } from '../base/growing-column.js';

/** Beyond this depth nobody can read anything; what lies deeper is counted. */
const MOST_LANES = 64;

interface LaneRows {
  /** Rows of the source table in each lane, in order of time. */
  readonly lanes: readonly Int32Array[];
  /** Events that found no lane. */
  readonly tooDeep: number;
}

/** No two begin together or overlap: they are one lane as they are. */
function followEachOther(rows: Int32Array, start: ArrayLike<number>, end: (row: number) => number): boolean {
  for (let i = 1; i < rows.length; i++)
    if (!(start[rows[i]] >= end(rows[i - 1]) && start[rows[i]] > start[rows[i - 1]])) return false;
  return true;
}

/**
 * `rows` in order of start; `end` of an event that never ended is past everything. Events that overlap by no more than
 * `touchNs` and by less than half of either merely touch: the timestamps of kernels that follow each other do so, and a
 * second lane for them would show work side by side that was not. Starts and ends of a lane stay in order.
 */
export function layOut(
  rows: Int32Array,
  start: ArrayLike<number>,
  end: (row: number) => number,
  touchNs = 0,
): LaneRows {
  if (followEachOther(rows, start, end)) return { lanes: rows.length > 0 ? [rows] : [], tooDeep: 0 };
  const lanes: GrowingColumn[] = [];
  // Of the last event in each lane.
  const busyUntil = new Float64Array(MOST_LANES);
  const lengths = new Float64Array(MOST_LANES);
  let tooDeep = 0;
  const place = (row: number) => {
    const from = start[row];
    const to = end(row);
    let lane = 0;
    for (; lane < lanes.length; lane++) {
      const overlap = busyUntil[lane] - from;
      if (overlap <= 0) break;
      if (overlap <= touchNs && to > busyUntil[lane] && overlap < Math.min(to - from, lengths[lane]) / 2)
        break;
    }
    if (lane >= MOST_LANES) {
      tooDeep++;
      return;
    }
    if (lane === lanes.length) lanes.push(new GrowingColumn('i32'));
    lanes[lane].push(row);
    busyUntil[lane] = to;
    lengths[lane] = to - from;
  };
  for (let i = 0; i < rows.length; i++) {
    // Of several that start together the longest is the parent.
    let last = i;
    while (last + 1 < rows.length && start[rows[last + 1]] === start[rows[i]]) last++;
    if (last === i) place(rows[i]);
    else {
      const together = Array.from(rows.subarray(i, last + 1)).sort((a, b) => end(b) - end(a) || a - b);
      together.forEach(place);
      i = last;
    }
  }
  return { lanes: lanes.map(lane => lane.finishAll() as Int32Array), tooDeep };
}
