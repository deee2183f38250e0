/**
 * Levels of detail of a lane. Level 0 is every event; in each further level, events shorter than a bucket are merged
 * with their neighbours in it, and longer ones stay as they are:
 *
 *   events      ▍▎ ▍▌ ▎     ██████  ▎▎▍
 *   bucket      |       |       |       |
 *   level 1     ▓▓▓▓▓▓      ██████  ▓▓▓         fill says how much of ▓ is covered
 *
 * A bucket holds at most one merged entry and one that reaches into it, so what a frame draws depends on how many
 * buckets are in view and not on how many events there are.
 */
import { NONE } from '../base/column.js';

/** What is drawn of a lane: single events, or several that are too short to tell apart. Sorted, never overlapping. */
export interface SliceTile {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Id of the event's label; NONE where several events were merged. */
  readonly label: Int32Array;
  /** Number of the first event in the lane. */
  readonly event: Uint32Array;
  /** How many events it stands for. */
  readonly count: Uint32Array;
  /** Part of its length that events cover. */
  readonly fill: Float32Array;
  /** Index into the track's palette: of the event, or of what covers most. */
  readonly tone: Uint8Array;
}

/** The first bucket; each level's is this many times wider than the one before. */
const FIRST_BUCKET_NS = 256;
const WIDER = 4;
/** A level that is hardly smaller than the one below is left out. */
const WORTH_KEEPING = 0.75;
/** Levels end where a whole lane costs nothing to draw. */
const SMALL_ENOUGH = 512;

/** As a tile; level 0 has no `event`, `count` and `fill`: each entry is one event. */
export interface SliceLevel extends LaneEvents {
  readonly bucketNs: number;
  readonly merged?: Pick<SliceTile, 'event' | 'count' | 'fill'>;
}

/** The events of a lane, sorted by start and by end; none overlap by more than timestamps do. */
export interface LaneEvents {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly label: Int32Array;
  readonly tone: Uint8Array;
}

export function slicePyramid({ length, start, end, label, tone }: LaneEvents): SliceLevel[] {
  const levels: SliceLevel[] = [{ bucketNs: 0, length, start, end, label, tone }];
  const span = length > 0 ? end[length - 1] - start[0] : 0;
  for (let bucketNs = FIRST_BUCKET_NS; bucketNs < span; bucketNs *= WIDER) {
    const below = levels[levels.length - 1];
    if (below.length <= SMALL_ENOUGH) break;
    const count = entriesAfterMerging(below, bucketNs);
    if (count < WORTH_KEEPING * below.length) levels.push(mergeInto(below, bucketNs, count));
  }
  return levels;
}

/** Counted first, so that no column grows and no level is made only to be thrown away. */
function entriesAfterMerging({ length, start, end }: LaneEvents, bucketNs: number): number {
  let entries = 0;
  let openUntil = -Infinity;
  for (let i = 0; i < length; i++) {
    if (end[i] - start[i] >= bucketNs) {
      entries++;
      openUntil = -Infinity;
    } else if (start[i] >= openUntil) {
      entries++;
      openUntil = bucketEnd(start[i], bucketNs);
    }
  }
  return entries;
}

const bucketEnd = (start: number, bucketNs: number) => (Math.floor(start / bucketNs) + 1) * bucketNs;

function mergeInto(below: SliceLevel, bucketNs: number, length: number): SliceLevel {
  const start = new Float64Array(length);
  const end = new Float64Array(length);
  const label = new Int32Array(length);
  const event = new Uint32Array(length);
  const count = new Uint32Array(length);
  const fill = new Float32Array(length);
  const tone = new Uint8Array(length);
  const { start: starts, end: ends, label: labels, tone: tones, merged } = below;
  // Nanoseconds each tone covers in the open entry; a tone's number is void when it was last written for another.
  const covered = new Float64Array(256);
  const writtenFor = new Int32Array(256).fill(NONE);
  let at = NONE;
  let openUntil = -Infinity;
  let busy = 0;
  let most = 0;
  for (let i = 0; i < below.length; i++) {
    const from = starts[i];
    const span = ends[i] - from;
    const own = tones[i];
    const ownBusy = merged ? span * merged.fill[i] : span;
    const ownCount = merged ? merged.count[i] : 1;
    if (from < openUntil && span < bucketNs) {
      end[at] = ends[i];
      label[at] = NONE;
      count[at] += ownCount;
      busy += ownBusy;
      const length = end[at] - start[at];
      // Events that touch overlap by a little.
      fill[at] = length > 0 ? Math.min(1, busy / length) : 1;
      const total = (writtenFor[own] === at ? covered[own] : 0) + ownBusy;
      covered[own] = total;
      writtenFor[own] = at;
      if (total > most) {
        most = total;
        tone[at] = own;
      }
      continue;
    }
    at++;
    start[at] = from;
    end[at] = ends[i];
    label[at] = labels[i];
    event[at] = merged ? merged.event[i] : i;
    count[at] = ownCount;
    fill[at] = merged ? merged.fill[i] : 1;
    tone[at] = own;
    busy = ownBusy;
    most = ownBusy;
    covered[own] = ownBusy;
    writtenFor[own] = at;
    openUntil = span < bucketNs ? bucketEnd(from, bucketNs) : -Infinity;
  }
  return { bucketNs, length, start, end, label, tone, merged: { event, count, fill } };
}
