/** One frame of the timeline: lanes as pixels, then names, arrows, outlines and measures on top. */
import { lowerBound, upperBound } from '../../base/bisect.js';
import type { SliceTile } from '../../timeline/slice-pyramid.js';
import type { AreaTile } from '../../timeline/tiles.js';
import { FittingText } from './fitting-text.js';
import type { LabelStore } from './label-store.js';
import type { LanePlace, Layout, Row } from './layout.js';
import type { CanvasLook } from './look.js';
import { hatch, Line, paintArea } from './raster.js';
import type { TileStore } from './tile-store.js';

/** What a frame shows, in CSS pixels and nanoseconds. */
export interface Frame {
  readonly fromNs: number;
  readonly nsPerPixel: number;
  readonly width: number;
  readonly height: number;
  readonly scrollTop: number;
  readonly ratio: number;
  readonly layout: Layout;
  readonly look: CanvasLook;
  /** Matches of a search: everything else steps back. */
  readonly matches: TileStore | null;
  /** Events that are underlined. */
  readonly marks: TileStore | null;
}

/** Names narrower than this cannot be read. */
const LEAST_NAME_WIDTH = 26;
/** The line under a marked event. */
const MARK_HEIGHT = 4;
const FONT = '11px system-ui, sans-serif';
/** Lanes lower than this have no room for letters. */
const LEAST_NAME_HEIGHT = 13;

export class Painter {
  private image: ImageData | undefined;
  private pixels = new Uint32Array(0);
  private line = new Line(0);

  private readonly fitting: FittingText;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly tiles: TileStore,
    private readonly labels: LabelStore,
  ) {
    this.fitting = new FittingText(text => {
      context.font = FONT;
      return context.measureText(text).width;
    });
  }

  paint(frame: Frame): void {
    const width = Math.max(1, Math.round(frame.width * frame.ratio));
    const height = Math.max(1, Math.round(frame.height * frame.ratio));
    this.prepare(width, height);
    const { layout, look, scrollTop } = frame;
    // Below the last row there is only paper: few rows on a large screen cost little.
    const used = Math.min(height, Math.max(1, Math.ceil((layout.height - scrollTop) * frame.ratio)));
    this.pixels.fill(look.paper, 0, used * width);
    this.tiles.beginFrame();
    frame.matches?.beginFrame();
    frame.marks?.beginFrame();
    const shown = layout.rows.filter(
      row => row.y + row.height > scrollTop && row.y < scrollTop + frame.height,
    );
    const named: { row: Row & { kind: 'track' }; place: LanePlace; entries: readonly SliceTile[] }[] = [];
    for (const row of shown) {
      this.background(row, frame, width, height);
      if (row.kind === 'group') continue;
      for (const place of row.lanes) {
        if (place.y + place.height <= scrollTop || place.y >= scrollTop + frame.height) continue;
        const entries = this.lane(row, place, frame, width, height);
        if (place.height < LEAST_NAME_HEIGHT || row.track.isSummary) continue;
        if (entries.length > 0 && !row.folded && row.track.kind === 'slices')
          named.push({ row, place, entries: entries as readonly SliceTile[] });
      }
    }
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.putImageData(this.image!, 0, 0, 0, 0, width, used);
    this.context.fillStyle = look.paperText;
    if (used < height) this.context.fillRect(0, used, width, height - used);
    this.context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
    this.context.font = FONT;
    this.context.textBaseline = 'middle';
    for (const { row, place, entries } of named) this.names(row, place, entries, frame);
    this.tiles.endFrame();
    frame.matches?.endFrame();
    frame.marks?.endFrame();
  }

  private prepare(width: number, height: number): void {
    if (this.image?.width === width && this.image.height === height) return;
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.line = new Line(width);
  }

  /** Lines between tracks, and a tint behind group names. */
  private background(row: Row, { scrollTop, ratio, look }: Frame, width: number, height: number): void {
    const top = Math.round((row.y - scrollTop) * ratio);
    const bottom = Math.round((row.y + row.height - scrollTop) * ratio);
    if (row.kind === 'group')
      this.pixels.fill(look.stripe, Math.max(0, top) * width, Math.max(0, Math.min(height, bottom)) * width);
    if (bottom > 0 && bottom <= height) this.pixels.fill(look.line, (bottom - 1) * width, bottom * width);
  }

  private lane(
    { track }: Row & { kind: 'track' },
    place: LanePlace,
    frame: Frame,
    width: number,
    height: number,
  ): readonly (SliceTile | AreaTile)[] {
    const { fromNs, scrollTop, ratio, look, matches } = frame;
    const nsPerPixel = frame.nsPerPixel / ratio;
    const toNs = fromNs + width * nsPerPixel;
    const top = Math.max(0, Math.round((place.y - scrollTop) * ratio));
    const bottom = Math.min(height, Math.round((place.y + place.height - scrollTop) * ratio));
    const entries = this.tiles.entries(place.id, fromNs, toNs, nsPerPixel);
    if (track.kind === 'area') {
      const area = entries as readonly AreaTile[];
      // A curve that is scrolled half out of view is drawn whole and cut: its height tells its value.
      const whole = {
        top: Math.round((place.y - scrollTop) * ratio),
        bottom: Math.round((place.y + place.height - scrollTop) * ratio),
      };
      paintArea(
        area,
        fromNs,
        nsPerPixel,
        track.highest ?? 1,
        this.pixels,
        width,
        width,
        whole.top,
        whole.bottom,
        look.area,
        height,
      );
      return entries;
    }
    const gap = ratio;
    this.line.clear();
    for (const tile of entries as readonly SliceTile[]) this.line.add(tile, fromNs, nsPerPixel, gap);
    this.line.paint(this.pixels, width, top, bottom, (matches ? look.dim : look.bright)[track.palette]);
    if (track.palette === 'cause' && !matches)
      hatch(this.line, this.pixels, width, top, bottom, look.pale, ratio);
    const found = matches?.entries(place.id, fromNs, toNs, nsPerPixel) as readonly SliceTile[] | undefined;
    if (found) {
      this.line.clear();
      for (const tile of found) this.line.add(tile, fromNs, nsPerPixel, gap);
      this.line.paint(this.pixels, width, top, bottom, look.bright[track.palette]);
    }
    if (frame.marks) {
      this.line.clear();
      for (const tile of frame.marks.entries(place.id, fromNs, toNs, nsPerPixel) as readonly SliceTile[])
        this.line.add(tile, fromNs, nsPerPixel, gap);
      const under = Math.max(top, bottom - Math.round(MARK_HEIGHT * ratio));
      this.line.paint(this.pixels, width, Math.max(top, under - Math.round(ratio)), under, look.paperLine);
      this.line.paint(this.pixels, width, under, bottom, look.mark);
    }
    return found ?? entries;
  }

  /** Names on events that are wide enough for them. */
  private names(
    { track }: Row & { kind: 'track' },
    place: LanePlace,
    entries: readonly SliceTile[],
    frame: Frame,
  ): void {
    const { fromNs, nsPerPixel, width, look } = frame;
    const toNs = fromNs + width * nsPerPixel;
    // Above the line under marked events.
    const y = place.y - frame.scrollTop + (place.height - (frame.marks ? MARK_HEIGHT : 0)) / 2 + 0.5;
    const inks = look.inkOn[track.palette];
    for (const { start, end, label, tone } of entries) {
      const last = lowerBound(start, toNs);
      for (let i = upperBound(end, fromNs); i < last; i++) {
        if ((end[i] - start[i]) / nsPerPixel < LEAST_NAME_WIDTH || label[i] < 0) continue;
        const from = Math.max(0, (start[i] - fromNs) / nsPerPixel);
        const to = Math.min(width, (end[i] - fromNs) / nsPerPixel);
        const text = this.labels.text(label[i]);
        const shown = text && this.fitting.shortened(text, to - from - 8);
        if (!shown) continue;
        this.context.fillStyle = inks[tone[i]] ?? look.text;
        this.context.fillText(shown, from + 4, y);
      }
    }
  }
}
