/**
 * All lanes of a timeline as one run of bytes that is never held in memory: tiles are made from the levels when their
 * range is read.
 *
 *   overview: one coarse level of every lane, fetched first and in one piece · then every level of every lane in tiles
 */
import { upperBound } from '../base/bisect.js';
import type { AreaLevel } from './area-pyramid.js';
import { type SliceLevel, startOfEntry } from './slice-pyramid.js';
import type { Bytes } from './spans.js';
import { areaTileBytes, sliceTileBytes, writeArea, writeSlices } from './tiles.js';
import type { TrackLane } from './track.js';
import { type LaneDocument, type LevelDocument, TILE_ENTRIES } from './wire.js';

/** Entries of a lane in the overview: enough for one per pixel of a screen. */
const OVERVIEW_ENTRIES = 2048;

interface Piece {
  readonly offset: number;
  readonly bytes: number;
  readonly level: SliceLevel | AreaLevel;
  readonly from: number;
  readonly to: number;
}

export interface ColumnsFile {
  readonly lanes: readonly LaneDocument[];
  readonly overviewBytes: number;
  readonly bytes: Bytes;
}

/** Ids are the numbers lanes are known by. */
export function columnsFile(
  lanes: readonly { readonly id: number; readonly lane: TrackLane }[],
): ColumnsFile {
  const pieces: Piece[] = [];
  let size = 0;
  const put = (level: SliceLevel | AreaLevel, from: number, to: number): number => {
    const bytes = 'events' in level ? sliceTileBytes(to - from) : areaTileBytes(to - from);
    const offset = size;
    pieces.push({ offset, bytes, level, from, to });
    size += bytes;
    return offset;
  };
  const overviews = lanes.map(({ lane }) => {
    const fitting = lane.levels.findIndex(level => level.length <= OVERVIEW_ENTRIES);
    const level = fitting < 0 ? lane.levels.length - 1 : fitting;
    return { level, offset: put(lane.levels[level], 0, lane.levels[level].length) };
  });
  const overviewBytes = size;
  const documents = lanes.map(({ id, lane }, i): LaneDocument => {
    const levels = lane.levels.map((level): LevelDocument => {
      const offset = size;
      const tileStarts: number[] = [];
      for (let from = 0; from < level.length; from += TILE_ENTRIES) {
        tileStarts.push('events' in level ? startOfEntry(level, from) : level.start[from]);
        put(level, from, Math.min(from + TILE_ENTRIES, level.length));
      }
      return { bucketNs: level.bucketNs, length: level.length, offset, tileStarts };
    });
    return { id, levels, overview: overviews[i] };
  });
  return { lanes: documents, overviewBytes, bytes: bytesOf(pieces, size) };
}

function bytesOf(pieces: readonly Piece[], length: number): Bytes {
  const offsets = Float64Array.from(pieces, piece => piece.offset);
  return {
    length,
    read(from, to) {
      const answer = new Uint8Array(Math.max(0, Math.min(to, length) - from));
      for (
        let i = Math.max(0, upperBound(offsets, from) - 1);
        i < pieces.length && pieces[i].offset < to;
        i++
      ) {
        const { offset, bytes, level, from: first, to: last } = pieces[i];
        const made = new Uint8Array(bytes);
        if ('events' in level) writeSlices(level, first, last, made.buffer, 0);
        else writeArea(level, first, last, made.buffer, 0);
        const begin = Math.max(0, from - offset);
        const end = Math.min(bytes, to - offset);
        if (end > begin) answer.set(made.subarray(begin, end), offset + begin - from);
      }
      return answer;
    },
  };
}
