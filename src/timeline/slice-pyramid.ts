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
import type { SliceTile } from './tiles.js';

/** The first bucket; each level's is this many times wider than the one before. */
const FIRST_BUCKET_NS = 256;
const WIDER = 4;
/** A level that is hardly smaller than the one below is left out. */
const WORTH_KEEPING = 0.75;
/** Levels end where a whole lane costs nothing to draw. */
const SMALL_ENOUGH = 512;

export interface SliceLevel extends SliceTile {
  readonly bucketNs: number;
}

/** The events of a lane, sorted by start, none overlapping. */
export interface LaneEvents {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly label: Int32Array;
  readonly tone: Uint8Array;
}

export function slicePyramid(events: LaneEvents): SliceLevel[] {
  const levels: SliceLevel[] = [everyEvent(events)];
  const span = events.length > 0 ? events.end[events.length - 1] - events.start[0] : 0;
  for (let bucketNs = FIRST_BUCKET_NS; bucketNs < span; bucketNs *= WIDER) {
    const below = levels[levels.length - 1];
    if (below.length <= SMALL_ENOUGH) break;
    const merged = mergeInto(below, bucketNs);
    if (merged.length < WORTH_KEEPING * below.length) levels.push(merged);
  }
  return levels;
}

function everyEvent({ length, start, end, label, tone }: LaneEvents): SliceLevel {
  const event = new Uint32Array(length);
  for (let i = 0; i < length; i++) event[i] = i;
  return {
    bucketNs: 0,
    length,
    start,
    end,
    label,
    event,
    count: new Uint32Array(length).fill(1),
    fill: new Float32Array(length).fill(1),
    tone,
  };
}

function mergeInto(below: SliceLevel, bucketNs: number): SliceLevel {
  // Two passes: the first only counts, so that no column grows or is copied.
  let length = 0;
  let open = Number.NaN;
  for (let i = 0; i < below.length; i++) {
    if (below.end[i] - below.start[i] >= bucketNs) {
      length++;
      open = Number.NaN;
      continue;
    }
    const bucket = Math.floor(below.start[i] / bucketNs);
    if (bucket === open) continue;
    open = bucket;
    length++;
  }
  const level = {
    bucketNs,
    length,
    start: new Float64Array(length),
    end: new Float64Array(length),
    label: new Int32Array(length),
    event: new Uint32Array(length),
    count: new Uint32Array(length),
    fill: new Float32Array(length),
    tone: new Uint8Array(length),
  };
  const covered = new Float64Array(256);
  let at = -1;
  let busy = 0;
  let most = 0;
  open = Number.NaN;
  const close = () => {
    if (Number.isNaN(open)) return;
    const span = level.end[at] - level.start[at];
    if (level.count[at] > 1) level.fill[at] = span > 0 ? busy / span : 1;
    open = Number.NaN;
  };
  for (let i = 0; i < below.length; i++) {
    const span = below.end[i] - below.start[i];
    const isLong = span >= bucketNs;
    const bucket = isLong ? Number.NaN : Math.floor(below.start[i] / bucketNs);
    const ownBusy = span * below.fill[i];
    const tone = below.tone[i];
    if (bucket !== open || isLong) {
      close();
      at++;
      level.start[at] = below.start[i];
      level.end[at] = below.end[i];
      level.label[at] = below.label[i];
      level.event[at] = below.event[i];
      level.count[at] = below.count[i];
      level.fill[at] = below.fill[i];
      level.tone[at] = tone;
      if (isLong) continue;
      open = bucket;
      busy = ownBusy;
      covered.fill(0);
      covered[tone] = ownBusy;
      most = ownBusy;
      continue;
    }
    level.end[at] = below.end[i];
    level.label[at] = NONE;
    level.count[at] += below.count[i];
    busy += ownBusy;
    if ((covered[tone] += ownBusy) > most) {
      most = covered[tone];
      level.tone[at] = tone;
    }
  }
  close();
  return level;
}
