/** The events of a selection: those of some tracks in a stretch of time that fit a search, each once. */
import { lowerBound, upperBound } from '../../base/bisect.js';
import { matchesOf } from '../search/search.js';
import type { TimelineData } from '../timeline-data.js';
import { type LaneData, type LaneSource, rowAt, type Track } from '../track.js';
import type { SelectionSection } from '../wire.js';

export interface SelectionAsked {
  readonly fromNs: number;
  readonly toNs: number;
  /** Ids of tracks; none: all. */
  readonly tracks: readonly string[];
  /** As in the search box; empty: all events. */
  readonly query: string;
}

export interface ChosenLane {
  readonly id: number;
  readonly track: Track;
  readonly events: LaneData;
  /** Numbers of the chosen events in their lane. */
  readonly rows: ArrayLike<number> & { readonly length: number };
}

/** What kind of events a lane holds. Work and idle time are never added up: they are told apart. */
export function sectionOf({ palette }: Track, { source }: LaneData): SelectionSection {
  if (source === 'steps') return 'steps';
  if (source === 'layers') return 'layers';
  if (source === 'replays') return 'replays';
  if (source === 'contextSwitches') return 'cpu';
  if (palette === 'rank') return 'ranks';
  if (palette === 'family') return 'gpu';
  return palette === 'cause' ? 'idle' : 'host';
}

export function chosenLanes(data: TimelineData, asked: SelectionAsked): ChosenLane[] {
  const wanted = new Set(asked.tracks);
  const found = asked.query.trim() === '' ? allLanes(data, asked) : matchingLanes(data, asked);
  return withoutRepeats(
    found.filter(({ track, rows }) => rows.length > 0 && (wanted.size === 0 || wanted.has(track.id))),
  );
}

/** Events of a lane are in order of time and do not overlap, so those in the window follow each other. */
const allLanes = (data: TimelineData, { fromNs, toNs }: SelectionAsked): ChosenLane[] =>
  data.lanes.flatMap(({ track, lane }, id) => {
    if (lane.kind !== 'slices') return [];
    const { start, end } = lane.data;
    // An event without length lies in the window if it starts there.
    const first = Math.min(upperBound(end, fromNs), lowerBound(start, fromNs));
    const length = Math.max(0, lowerBound(start, toNs) - first);
    return [{ id, track, events: lane.data, rows: Int32Array.from({ length }, (_, i) => first + i) }];
  });

const matchingLanes = (data: TimelineData, { query, tracks, fromNs, toNs }: SelectionAsked): ChosenLane[] =>
  matchesOf(data, query, tracks.length > 0).map(lane => ({
    ...lane,
    rows: lane.rows.filter(row => {
      const [start, end] = [lane.events.start[row], lane.events.end[row]];
      return start < toNs && (end > fromNs || start >= fromNs);
    }),
  }));

/** Copies and communication are drawn on their stream and once more together, time on a CPU by core and by thread: each counts once. */
function withoutRepeats(lanes: readonly ChosenLane[]): ChosenLane[] {
  const seen = new Map<LaneSource, Set<number>>([
    ['work', new Set()],
    ['contextSwitches', new Set()],
  ]);
  // A core names the thread, which tells more than the core.
  const isCore = ({ track }: ChosenLane) => Number(track.group.startsWith('cpus:'));
  return [...lanes]
    .sort((a, b) => isCore(b) - isCore(a))
    .flatMap(lane => {
      const own = seen.get(lane.events.source);
      const several = lanes.filter(({ events }) => events.source === lane.events.source).length > 1;
      if (!own || !several) return [lane];
      const rows: number[] = [];
      for (let i = 0; i < lane.rows.length; i++) {
        const row = rowAt(lane.events.row, lane.rows[i]);
        if (own.has(row)) continue;
        own.add(row);
        rows.push(lane.rows[i]);
      }
      return rows.length > 0 ? [{ ...lane, rows }] : [];
    });
}
