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
export interface LaneEvents extends UnnamedEvents {
  readonly label: LabelCells;
}

/** Labels are seldom more than two bytes count. */
export type LabelCells = Int32Array | Uint16Array;

/** What levels are made of. */
interface UnnamedEvents {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
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
  readonly merged?: MergedEntries;
}

type MergedEntries = Pick<SliceTile, 'event' | 'fill' | 'tone'>;

/** A level before the events it is of have names. */
export type UnnamedLevel = Omit<SliceLevel, 'events'>;

/** The first event of an entry; behind the last one, how many events there are. */
export const firstEventOf = ({ length, events, merged }: SliceLevel, entry: number): number =>
  merged ? (entry < length ? merged.event[entry] : events.length) : entry;

export const startOfEntry = (level: SliceLevel, entry: number): number =>
  level.events.start[firstEventOf(level, entry)];

export const endOfEntry = (level: SliceLevel, entry: number): number =>
  level.events.end[firstEventOf(level, entry + 1) - 1];

export const slicePyramid = (events: LaneEvents): SliceLevel[] => levelsWith(events, unnamedLevels(events));

export const levelsWith = (events: LaneEvents, levels: readonly UnnamedLevel[]): SliceLevel[] =>
  levels.map(level => ({ ...level, events }));

export function unnamedLevels(events: UnnamedEvents): UnnamedLevel[] {
  const { length, start, end } = events;
  const levels: UnnamedLevel[] = [{ bucketNs: 0, length }];
  const span = length > 0 ? end[length - 1] - start[0] : 0;
  if (length <= SMALL_ENOUGH || span <= FIRST_BUCKET_NS) return levels;
  const room = roomAbove(length);
  // One for all levels: memory that is touched for the first time costs more than what is written there.
  const scratch = {
    event: new Uint32Array(room),
    fill: new Float32Array(room),
    tone: new Uint8Array(room),
  };
  const mergeable = mergeableBelow(events);
  for (let bucketNs = FIRST_BUCKET_NS, bucket = 0; bucketNs < span; bucketNs *= WIDER, bucket++) {
    const below = levels[levels.length - 1];
    if (below.length <= SMALL_ENOUGH) break;
    if (!below.merged && length - (mergeable[bucket] ?? length) > room) continue;
    const level = mergeInto(events, below, bucketNs, scratch);
    if (level) levels.push(level);
  }
  return levels;
}

/** The most entries that a level above this many is kept with. */
const roomAbove = (length: number): number => Math.ceil(WORTH_KEEPING * length) - 1;

/**
 * By bucket, the most events that it can merge into the one before: those that are shorter than it and begin less than it
 * later. Most buckets of a lane are too narrow to merge enough; this tells without trying.
 */
function mergeableBelow({ length, start, end }: UnnamedEvents): Float64Array {
  const counts = new Float64Array(TOLD_BUCKETS);
  for (let i = 1; i < length; i++) {
    const apart = start[i] - start[i - 1];
    const own = end[i] - start[i];
    const least = own > apart ? own : apart;
    if (least < WIDEST_TOLD_NS) counts[bucketAbove(least)]++;
  }
  for (let bucket = 1; bucket < TOLD_BUCKETS; bucket++) counts[bucket] += counts[bucket - 1];
  return counts;
}

/** Up to a millisecond. */
const TOLD_BUCKETS = 7;
const WIDEST_TOLD_NS = FIRST_BUCKET_NS * WIDER ** (TOLD_BUCKETS - 1);

/** The first bucket that is wider. */
function bucketAbove(ns: number): number {
  const firsts = Math.floor(ns / FIRST_BUCKET_NS);
  // Each bucket is two bits wider.
  return firsts === 0 ? 0 : ((31 - Math.clz32(firsts)) >> 1) + 1;
}

/** Undefined where hardly anything is merged. `scratch` has room for the entries. */
function mergeInto(
  events: UnnamedEvents,
  { merged, length }: UnnamedLevel,
  bucketNs: number,
  { event, fill, tone }: MergedEntries,
): UnnamedLevel | undefined {
  const { start: starts, end: ends } = events;
  const tones = merged ? merged.tone : events.tone;
  // In one test each; level 0 has neither.
  const firsts = merged ? merged.event : NO_EVENTS;
  const fills = merged ? merged.fill : NO_FILLS;
  const isMerged = merged !== undefined;
  const room = roomAbove(length);
  // Buckets are powers of two: as exact as a division, and faster.
  const perNs = 1 / bucketNs;
  // Nanoseconds each tone covers in the open entry.
  const covered = new Float64Array(256);
  let at = 0;
  let next = 0;
  for (let i = 0; i < length; at++) {
    if (at === room) return undefined;
    const opened = i++;
    const openFrom = starts[next];
    event[at] = next;
    next = isMerged ? (i < length ? firsts[i] : events.length) : i;
    let to = ends[next - 1];
    let mostTone = tones[opened];
    let filled = isMerged ? fills[opened] : 1;
    const ownSpan = to - openFrom;
    // Where the next one begins a bucket later there is nothing to merge, wherever the bucket ends.
    const mayMerge = i < length && ownSpan < bucketNs && starts[next] - openFrom <= bucketNs;
    const openUntil = mayMerge ? (Math.floor(openFrom * perNs) + 1) * bucketNs : -Infinity;
    if (mayMerge && starts[next] < openUntil) {
      let busy = ownSpan * filled;
      let most = busy;
      covered[mostTone] = busy;
      while (i < length) {
        const from = starts[next];
        if (!(from < openUntil)) break;
        const after = isMerged ? (i + 1 < length ? firsts[i + 1] : events.length) : i + 1;
        const span = ends[after - 1] - from;
        if (!(span < bucketNs)) break;
        const ownBusy = isMerged ? span * fills[i] : span;
        busy += ownBusy;
        to = ends[after - 1];
        const own = tones[i];
        const total = covered[own] + ownBusy;
        covered[own] = total;
        if (total > most) {
          most = total;
          mostTone = own;
        }
        next = after;
        i++;
      }
      for (let used = opened; used < i; used++) covered[tones[used]] = 0;
      // Events that touch overlap by a little.
      if (i > opened + 1) filled = to > openFrom ? Math.min(1, busy / (to - openFrom)) : 1;
    }
    fill[at] = filled;
    tone[at] = mostTone;
  }
  const columns = { event: event.slice(0, at), fill: fill.slice(0, at), tone: tone.slice(0, at) };
  return { bucketNs, length: at, merged: columns };
}

const NO_EVENTS = new Uint32Array(0);
const NO_FILLS = new Float32Array(0);
