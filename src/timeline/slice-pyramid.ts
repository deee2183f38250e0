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

/** The events of a lane, sorted by start and by end; none overlap by more than timestamps do. */
export interface LaneEvents {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly label: Int32Array;
  readonly tone: Uint8Array;
}

/**
 * One level. Its entries are all events in order, each in one entry: so the first event of an entry says where it begins,
 * and the one before the next entry where it ends and how many there are. Only the rest is kept: levels are large.
 */
export interface SliceLevel {
  readonly bucketNs: number;
  readonly length: number;
  readonly events: LaneEvents;
  /** Absent on level 0, where each entry is one event. */
  readonly merged?: Pick<SliceTile, 'event' | 'fill' | 'tone'>;
}

/** The first event of an entry; behind the last one, how many events there are. */
export const firstEventOf = ({ length, events, merged }: SliceLevel, entry: number): number =>
  merged ? (entry < length ? merged.event[entry] : events.length) : entry;

export const startOfEntry = (level: SliceLevel, entry: number): number =>
  level.events.start[firstEventOf(level, entry)];

export const endOfEntry = (level: SliceLevel, entry: number): number =>
  level.events.end[firstEventOf(level, entry + 1) - 1];

export function slicePyramid(events: LaneEvents): SliceLevel[] {
  const { length, start, end } = events;
  const levels: SliceLevel[] = [{ bucketNs: 0, length, events }];
  const span = length > 0 ? end[length - 1] - start[0] : 0;
  for (let bucketNs = FIRST_BUCKET_NS; bucketNs < span; bucketNs *= WIDER) {
    const below = levels[levels.length - 1];
    if (below.length <= SMALL_ENOUGH) break;
    const level = mergeInto(below, bucketNs);
    if (level) levels.push(level);
  }
  return levels;
}

const bucketEnd = (start: number, bucketNs: number) => (Math.floor(start / bucketNs) + 1) * bucketNs;

/** Undefined where hardly anything is merged. */
function mergeInto(below: SliceLevel, bucketNs: number): SliceLevel | undefined {
  const { events, merged } = below;
  const { start: starts, end: ends } = events;
  const tones = merged ? merged.tone : events.tone;
  const room = Math.ceil(WORTH_KEEPING * below.length) - 1;
  const event = new Uint32Array(room);
  const fill = new Float32Array(room);
  const tone = new Uint8Array(room);
  // Nanoseconds each tone covers in the open entry; a tone's number is void when it was last written for another.
  const covered = new Float64Array(256);
  const writtenFor = new Int32Array(256).fill(NONE);
  let at = NONE;
  let openFrom = 0;
  let openUntil = -Infinity;
  let busy = 0;
  let most = 0;
  let first = merged ? merged.event[0] : 0;
  for (let i = 0; i < below.length; i++) {
    const next = merged ? (i + 1 < below.length ? merged.event[i + 1] : events.length) : i + 1;
    const from = starts[first];
    const to = ends[next - 1];
    const span = to - from;
    const own = tones[i];
    const ownBusy = merged ? span * merged.fill[i] : span;
    if (from < openUntil && span < bucketNs) {
      busy += ownBusy;
      const length = to - openFrom;
      // Events that touch overlap by a little.
      fill[at] = length > 0 ? Math.min(1, busy / length) : 1;
      const total = (writtenFor[own] === at ? covered[own] : 0) + ownBusy;
      covered[own] = total;
      writtenFor[own] = at;
      if (total > most) {
        most = total;
        tone[at] = own;
      }
    } else {
      at++;
      if (at === room) return undefined;
      openFrom = from;
      event[at] = first;
      fill[at] = merged ? merged.fill[i] : 1;
      tone[at] = own;
      busy = ownBusy;
      most = ownBusy;
      covered[own] = ownBusy;
      writtenFor[own] = at;
      openUntil = span < bucketNs ? bucketEnd(from, bucketNs) : -Infinity;
    }
    first = next;
  }
  const length = at + 1;
  const columns = { event: event.slice(0, length), fill: fill.slice(0, length), tone: tone.slice(0, length) };
  return { bucketNs, length, events, merged: columns };
}
