/**
 * Tiles: stretches of a lane's level as bytes, written by the server and wrapped by the page without copying. Columns
 * lie one after the other, widest first, so each is aligned by itself; a tile is padded to 8 bytes.
 *
 *   slices   start f64 · end f64 · label i32 · event u32 · count u32 · fill f32 · tone u8
 *   area     start f64 · mean f32 · least f32 · most f32
 *
 * Little-endian, like every machine this runs on.
 */

import { NONE } from '../base/column.js';
import { firstEventOf, type SliceLevel, type SliceTile } from './slice-pyramid.js';

/** A sampled value over time: each entry holds until the next begins. */
export interface AreaTile {
  readonly length: number;
  readonly start: Float64Array;
  readonly mean: Float32Array;
  readonly least: Float32Array;
  readonly most: Float32Array;
}

const SLICE_BYTES = 33;
const AREA_BYTES = 20;

const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
export const sliceTileBytes = (length: number) => padded(length * SLICE_BYTES);
export const areaTileBytes = (length: number) => padded(length * AREA_BYTES);

export function wrapSlices(buffer: ArrayBufferLike, offset: number, length: number): SliceTile {
  return {
    length,
    start: new Float64Array(buffer, offset, length),
    end: new Float64Array(buffer, offset + length * 8, length),
    label: new Int32Array(buffer, offset + length * 16, length),
    event: new Uint32Array(buffer, offset + length * 20, length),
    count: new Uint32Array(buffer, offset + length * 24, length),
    fill: new Float32Array(buffer, offset + length * 28, length),
    tone: new Uint8Array(buffer, offset + length * 32, length),
  };
}

export function wrapArea(buffer: ArrayBufferLike, offset: number, length: number): AreaTile {
  return {
    length,
    start: new Float64Array(buffer, offset, length),
    mean: new Float32Array(buffer, offset + length * 8, length),
    least: new Float32Array(buffer, offset + length * 12, length),
    most: new Float32Array(buffer, offset + length * 16, length),
  };
}

export function writeSlices(
  level: SliceLevel,
  from: number,
  to: number,
  buffer: ArrayBufferLike,
  offset: number,
): void {
  const tile = wrapSlices(buffer, offset, to - from);
  const { events, merged } = level;
  if (merged) {
    for (let i = from; i < to; i++) {
      const first = firstEventOf(level, i);
      const next = firstEventOf(level, i + 1);
      tile.start[i - from] = events.start[first];
      tile.end[i - from] = events.end[next - 1];
      tile.label[i - from] = next === first + 1 ? events.label[first] : NONE;
      tile.count[i - from] = next - first;
    }
    tile.event.set(merged.event.subarray(from, to));
    tile.fill.set(merged.fill.subarray(from, to));
    tile.tone.set(merged.tone.subarray(from, to));
  } else {
    tile.start.set(events.start.subarray(from, to));
    tile.end.set(events.end.subarray(from, to));
    tile.label.set(events.label.subarray(from, to));
    tile.tone.set(events.tone.subarray(from, to));
    for (let i = from; i < to; i++) tile.event[i - from] = i;
    tile.count.fill(1);
    tile.fill.fill(1);
  }
}

export function writeArea(
  level: AreaTile,
  from: number,
  to: number,
  buffer: ArrayBufferLike,
  offset: number,
): void {
  const tile = wrapArea(buffer, offset, to - from);
  for (const name of ['start', 'mean', 'least', 'most'] as const)
    tile[name].set(level[name].subarray(from, to));
}
