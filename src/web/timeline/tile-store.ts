/**
 * The tiles of a pane: fetched by byte range when a frame needs them, kept while they are of use. A frame never waits:
 * until a tile is there, a coarser level that is stands in for it.
 */
import { lowerBound, upperBound } from '../../base/bisect.js';
import type { SliceTile } from '../../timeline/slice-pyramid.js';
import { type AreaTile, areaTileBytes, sliceTileBytes, wrapArea, wrapSlices } from '../../timeline/tiles.js';
import { type LaneDocument, type LevelDocument, TILE_ENTRIES } from '../../timeline/wire.js';
import { askBytes } from '../api.js';

type Tile = SliceTile | AreaTile;

/** About 80 MB of tiles. */
const MOST_TILES = 600;
const AT_ONCE = 6;
/** Tiles side by side that are asked for together. */
const LONGEST_RUN = 16;

interface Wanted {
  readonly lane: number;
  readonly level: number;
  readonly first: number;
  readonly last: number;
}

export class TileStore {
  private readonly overview = new Map<number, Tile>();
  private readonly tiles = new Map<string, Tile>();
  private readonly lanes: ReadonlyMap<number, LaneDocument>;
  private queue: Wanted[] = [];
  private readonly underway = new Set<string>();
  private busy = 0;

  constructor(
    private readonly path: string,
    lanes: readonly LaneDocument[],
    private readonly isArea: (lane: number) => boolean,
    private readonly onArrival: () => void,
    private readonly onTrouble: (error: unknown) => void,
  ) {
    this.lanes = new Map(lanes.map(lane => [lane.id, lane]));
  }

  /** Fetches the overview of every lane, in one piece. */
  async load(overviewBytes: number): Promise<void> {
    if (overviewBytes === 0) return;
    const buffer = await askBytes(this.path, 0, overviewBytes);
    for (const { id, levels, overview } of this.lanes.values())
      this.overview.set(id, this.wrap(id, buffer, overview.offset, levels[overview.level].length));
    this.onArrival();
  }

  /** Call before drawing a frame: what earlier frames wanted and this one does not is no longer fetched. */
  beginFrame(): void {
    this.queue = [];
  }

  endFrame(): void {
    this.pump();
  }

  /** What to draw of a lane: the level whose merged events are narrower than a pixel, or what is there of it. */
  entries(laneId: number, fromNs: number, toNs: number, nsPerPixel: number): readonly Tile[] {
    const lane = this.lanes.get(laneId);
    const whole = this.overview.get(laneId);
    if (!lane || !whole) return [];
    let level = lane.levels.findLastIndex(({ bucketNs }) => bucketNs <= nsPerPixel);
    if (level >= lane.overview.level) return [whole];
    const found = this.tilesOf(laneId, level, fromNs, toNs, true);
    if (found) return found;
    while (++level < lane.overview.level) {
      const coarser = this.tilesOf(laneId, level, fromNs, toNs, false);
      if (coarser) return coarser;
    }
    return [whole];
  }

  /** Undefined when some are not there; those are wanted then. */
  private tilesOf(
    lane: number,
    level: number,
    fromNs: number,
    toNs: number,
    want: boolean,
  ): readonly Tile[] | undefined {
    const { tileStarts } = this.lanes.get(lane)!.levels[level];
    const first = Math.max(0, upperBound(tileStarts, fromNs) - 1);
    const last = Math.max(first, lowerBound(tileStarts, toNs) - 1);
    const found: Tile[] = [];
    let missing = false;
    for (let tile = first; tile <= last; tile++) {
      const key = `${lane}/${level}/${tile}`;
      const known = this.tiles.get(key);
      if (known) {
        // Moved to the end: the tiles used last are kept longest.
        this.tiles.delete(key);
        this.tiles.set(key, known);
        found.push(known);
      } else missing = true;
    }
    if (missing && want) this.queue.push({ lane, level, first, last });
    return missing ? undefined : found;
  }

  private pump(): void {
    while (this.busy < AT_ONCE && this.queue.length > 0) {
      const wanted = this.queue.shift()!;
      const run = this.missingRun(wanted);
      if (!run) continue;
      if (run.last < wanted.last) this.queue.unshift({ ...wanted, first: run.last + 1 });
      void this.fetchRun(run);
    }
  }

  /** The first tiles side by side that are neither here nor on their way. */
  private missingRun({ lane, level, first, last }: Wanted): Wanted | undefined {
    const isMissing = (tile: number) => {
      const key = `${lane}/${level}/${tile}`;
      return !this.tiles.has(key) && !this.underway.has(key);
    };
    let from = first;
    while (from <= last && !isMissing(from)) from++;
    if (from > last) return undefined;
    let to = from;
    while (to < last && to - from + 1 < LONGEST_RUN && isMissing(to + 1)) to++;
    return { lane, level, first: from, last: to };
  }

  private async fetchRun({ lane, level, first, last }: Wanted): Promise<void> {
    const document = this.lanes.get(lane)!.levels[level];
    const keys: string[] = [];
    for (let tile = first; tile <= last; tile++) keys.push(`${lane}/${level}/${tile}`);
    for (const key of keys) this.underway.add(key);
    this.busy++;
    try {
      const full = this.bytesOf(lane, TILE_ENTRIES);
      const from = document.offset + first * full;
      const buffer = await askBytes(
        this.path,
        from,
        document.offset + last * full + this.bytesOf(lane, lengthOf(document, last)),
      );
      for (let tile = first; tile <= last; tile++)
        this.tiles.set(
          `${lane}/${level}/${tile}`,
          this.wrap(lane, buffer, (tile - first) * full, lengthOf(document, tile)),
        );
      while (this.tiles.size > MOST_TILES) this.tiles.delete(this.tiles.keys().next().value!);
      this.onArrival();
    } catch (error) {
      this.onTrouble(error);
    } finally {
      for (const key of keys) this.underway.delete(key);
      this.busy--;
      this.pump();
    }
  }

  private bytesOf(lane: number, length: number): number {
    return this.isArea(lane) ? areaTileBytes(length) : sliceTileBytes(length);
  }

  private wrap(lane: number, buffer: ArrayBuffer, offset: number, length: number): Tile {
    return this.isArea(lane) ? wrapArea(buffer, offset, length) : wrapSlices(buffer, offset, length);
  }
}

const lengthOf = ({ length }: LevelDocument, tile: number) =>
  Math.min(TILE_ENTRIES, length - tile * TILE_ENTRIES);
