/** From rows of a table to lanes that can be drawn at any zoom. */
import { type EventLabels, labelCells } from './labels.js';
import { layOut } from './lane-layout.js';
import { type LabelCells, slicePyramid } from './slice-pyramid.js';
import type { LaneData, LaneRows, LaneSource, SliceLane } from './track.js';

/** When the rows of a table began and ended. */
export interface RowTimes {
  readonly start: ArrayLike<number>;
  end(row: number): number;
  /** The column that `end` reads; not where an event may have no end. */
  readonly ends?: ArrayLike<number>;
}

export interface EventSource extends RowTimes {
  readonly source: LaneSource;
  /** All that there are. */
  readonly labels: Pick<EventLabels, 'length'>;
  /** Writes the label and the tone of each row: one call for all, because there may be millions. */
  describe(rows: Int32Array, label: LabelCells, tone: Uint8Array): void;
}

/** A lane as rows of its table. */
type LaneTimes = Pick<LaneData, 'length' | 'start' | 'end'> & { readonly row: Int32Array };

export function makeLane(data: LaneData): SliceLane {
  return { kind: 'slices', data, levels: slicePyramid(data) };
}

/** Rows in order of start. */
export function makeLanes(
  rows: Int32Array,
  from: EventSource,
  touchNs = 0,
): { lanes: SliceLane[]; tooDeep: number } {
  const { lanes, tooDeep } = timesInLanes(rows, from, touchNs);
  return { lanes: lanes.map(own => makeLane(described(own, from))), tooDeep };
}

/** The same, before it is known what the events are. */
export function timesInLanes(
  rows: Int32Array,
  from: RowTimes,
  touchNs = 0,
): { lanes: LaneTimes[]; tooDeep: number } {
  const { lanes, tooDeep } = layOut(rows, from.start, endIn(rows, from), touchNs);
  return { lanes: lanes.map(own => timesOf(own, from)), tooDeep };
}

/** As `from.end` says; a function that only reads the column is faster. */
function endIn(rows: Int32Array, { end, ends }: RowTimes): (row: number) => number {
  if (!(ends instanceof Float64Array)) return end;
  for (let i = 0; i < rows.length; i++) if (Number.isNaN(ends[rows[i]])) return end;
  return row => ends[row];
}

export const laneOf = (row: Int32Array, from: EventSource): LaneData => described(timesOf(row, from), from);

function described(times: LaneTimes, from: EventSource): LaneData {
  const tone = new Uint8Array(times.length);
  const label = labelCells(times.length, from.labels, cells => from.describe(times.row, cells, tone));
  return { source: from.source, ...times, row: rowsKept(times.row), label, tone };
}

/** As few as say which rows these are. */
export const rowsKept = (rows: Int32Array): LaneRows =>
  rows.length > 0 && areNeighbours(rows) ? rows[0] : rows;

/** Where a lane holds all rows of a table one after the other, the columns of the table serve: they are large. */
function timesOf(row: Int32Array, from: RowTimes): LaneTimes {
  const { length } = row;
  const { start: starts, ends } = from;
  if (length > 0 && starts instanceof Float64Array && ends instanceof Float64Array && areNeighbours(row)) {
    const [first, last] = [row[0], row[0] + length];
    const end = ends.subarray(first, last);
    if (!end.includes(Number.NaN)) return { length, row, start: starts.subarray(first, last), end };
  }
  const start = new Float64Array(length);
  const end = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    start[i] = starts[row[i]];
    end[i] = from.end(row[i]);
  }
  return { length, row, start, end };
}

function areNeighbours(row: Int32Array): boolean {
  for (let i = 1; i < row.length; i++) if (row[i] !== row[0] + i) return false;
  return true;
}

/** Row numbers split by the owner of each row, in order; owners below zero are left out. */
export function rowsByOwner(owners: ArrayLike<number>, count: number): Int32Array[] {
  const sizes = new Int32Array(count);
  for (let row = 0; row < owners.length; row++) if (owners[row] >= 0) sizes[owners[row]]++;
  const lists = Array.from(sizes, size => new Int32Array(size));
  sizes.fill(0);
  for (let row = 0; row < owners.length; row++) {
    const owner = owners[row];
    if (owner >= 0) lists[owner][sizes[owner]++] = row;
  }
  return lists;
}
