/**
 * Where a profile has its events. A range that was opened an hour before the capture, or one call long after it, would
 * make a line of everything else: such islands are left out when the whole profile is shown.
 *
 *   |·                                            ▌▌▌▌▌▌|
 *                                                 [    ]
 */
import { endOfEntry, firstEventOf, startOfEntry } from './slice-pyramid.js';
import type { TrackLane } from './track.js';

/** A silence is empty hours when it is this many times longer than all that is covered. */
const EMPTY = 3;
/** Islands with less than this part of the events are left out. */
const SMALL = 0.02;

interface Island {
  startNs: number;
  endNs: number;
  events: number;
}

export function mainSpan(
  lanes: readonly { readonly lane: TrackLane }[],
  whole: { readonly startNs: number; readonly endNs: number },
): { readonly startNs: number; readonly endNs: number } {
  const pieces: Island[] = [];
  for (const { lane } of lanes) {
    if (lane.kind !== 'slices') continue;
    const level = lane.levels[lane.levels.length - 1];
    for (let i = 0; i < level.length; i++)
      pieces.push({
        startNs: startOfEntry(level, i),
        endNs: endOfEntry(level, i),
        events: firstEventOf(level, i + 1) - firstEventOf(level, i),
      });
  }
  pieces.sort((a, b) => a.startNs - b.startNs);
  const islands: Island[] = [];
  let coveredNs = 0;
  for (const piece of pieces) {
    const last = islands.at(-1);
    if (last && piece.startNs <= last.endNs) {
      coveredNs += Math.max(0, piece.endNs - last.endNs);
      last.endNs = Math.max(last.endNs, piece.endNs);
      last.events += piece.events;
    } else {
      coveredNs += piece.endNs - piece.startNs;
      islands.push({ ...piece });
    }
  }
  const joined: Island[] = [];
  for (const island of islands) {
    const last = joined.at(-1);
    if (last && island.startNs - last.endNs <= EMPTY * coveredNs) {
      last.endNs = island.endNs;
      last.events += island.events;
    } else joined.push({ ...island });
  }
  const events = joined.reduce((sum, island) => sum + island.events, 0);
  const kept = joined.filter(island => island.events >= SMALL * events);
  if (kept.length === 0) return whole;
  return { startNs: kept[0].startNs, endNs: kept[kept.length - 1].endNs };
}
