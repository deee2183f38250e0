/** Keeps a canvas showing its pane: redraws once per frame when something it shows has changed. */
import { effect } from '@preact/signals';
import { lowerBound, upperBound } from '../../base/bisect.js';
import type { SliceTile } from '../../timeline/slice-pyramid.js';
import type { SearchDocument } from '../../timeline/wire.js';
import { notesOf } from '../notes.js';
import { waitsOf } from '../ranks/waits.js';
import { litTones, type Pane, type TimeWindow } from '../state.js';
import { LabelStore } from './label-store.js';
import { type LanePlace, type Layout, layOutTracks, placeAt, type Row } from './layout.js';
import { layoutWishes } from './layout-wishes.js';
import { type CanvasLook, canvasLook } from './look.js';
import { type Overlay, paintOverlay } from './overlay.js';
import { type Frame, Painter } from './painter.js';
import { type Tick, ticksOf } from './ruler.js';
import { TileStore } from './tile-store.js';

/** What is under the mouse. */
export interface Hit {
  readonly row: Row & { readonly kind: 'track' };
  readonly place: LanePlace;
  readonly startNs: number;
  readonly endNs: number;
  /** Number of the event in its lane; the first of several where count is above 1. */
  readonly index: number;
  readonly count: number;
  readonly fill: number;
  readonly tone: number;
  /** Undefined where several events are merged. */
  readonly name: string | undefined;
}

/** How far from an event the mouse may be, in pixels. */
const REACH = 3;
/** Room under the last track, to click beside everything. */
const BELOW = 48;

export class TimelineCanvas {
  readonly tiles: TileStore;
  readonly labels: LabelStore;
  layout: Layout;
  /** Set while a stretch of the ruler is dragged over. */
  brush: TimeWindow | null = null;
  /** Told after each frame what the ruler shows. */
  onFrame: (ticks: readonly Tick[]) => void = () => {};
  private readonly painter: Painter;
  private readonly context: CanvasRenderingContext2D;
  private matches: TileStore | null = null;
  private marks: TileStore | null = null;
  private look: CanvasLook | undefined;
  private width = 0;
  private height = 0;
  private scheduled = 0;
  /** Pixels per pixel of the page; 0: as the screen has. */
  private ratio = 0;
  private readonly stop: (() => void)[] = [];

  constructor(
    readonly pane: Pane,
    readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly onTrouble: (error: unknown) => void,
  ) {
    const redraw = () => this.schedule();
    const base = `./api/profiles/${pane.id}`;
    const areas = new Set(
      pane.document.tracks.flatMap(({ kind, lanes }) => (kind === 'area' ? lanes.map(({ id }) => id) : [])),
    );
    const lanes = pane.document.tracks.flatMap(track => track.lanes);
    this.tiles = new TileStore(`${base}/columns`, lanes, id => areas.has(id), redraw, onTrouble);
    this.labels = new LabelStore(`${base}/labels`, redraw);
    this.context = canvas.getContext('2d', { alpha: false })!;
    this.painter = new Painter(this.context, this.tiles, this.labels);
    this.layout = this.currentLayout();
    this.watch();
  }

  /** Resolves when the first picture can be drawn. */
  async load(): Promise<void> {
    await this.tiles.load(this.pane.document.overviewBytes);
  }

  private currentLayout = (): Layout => layOutTracks(this.pane.document, layoutWishes());

  private watch(): void {
    const { pane } = this;
    this.stop.push(
      effect(() => {
        this.layout = this.currentLayout();
        this.schedule();
      }),
      effect(() => {
        void litTones.value;
        this.look = undefined;
        this.schedule();
      }),
      effect(() => {
        for (const seen of [pane.window, pane.steps, pane.highlights, pane.details, pane.measure, pane.area])
          void seen.value;
        void notesOf(pane);
        void waitsOf(pane).value;
        this.schedule();
      }),
      effect(() => {
        this.matches = this.storeOf(pane.search.value);
        this.schedule();
      }),
      effect(() => {
        this.marks = this.storeOf(pane.marks.value);
        this.schedule();
      }),
    );
    const size = new ResizeObserver(() => this.schedule());
    size.observe(this.canvas.parentElement!);
    this.stop.push(() => size.disconnect());
    const themes = new MutationObserver(() => this.changeLook());
    themes.observe(document.documentElement, { attributes: true });
    this.stop.push(() => themes.disconnect());
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const onTheme = () => this.changeLook();
    dark.addEventListener('change', onTheme);
    this.stop.push(() => dark.removeEventListener('change', onTheme));
  }

  private changeLook(): void {
    this.look = undefined;
    this.schedule();
  }

  private storeOf(found: SearchDocument | null): TileStore | null {
    if (!found || found.query === '') return null;
    const path = `./api/profiles/${this.pane.id}/search/columns?q=${encodeURIComponent(found.query)}`;
    const store = new TileStore(
      path,
      found.lanes,
      () => false,
      () => this.schedule(),
      this.onTrouble,
    );
    store.load(found.overviewBytes).then(
      () => this.schedule(),
      error => this.onTrouble(error),
    );
    return store;
  }

  schedule(): void {
    this.scheduled ||= requestAnimationFrame(() => {
      this.scheduled = 0;
      this.draw();
    });
  }

  frame(): Frame {
    const { fromNs, toNs } = this.pane.window.value;
    this.look ??= canvasLook(this.pane.document, this.canvas, litTones.value);
    return {
      fromNs,
      nsPerPixel: (toNs - fromNs) / Math.max(1, this.width),
      width: this.width,
      height: this.height,
      scrollTop: this.scroller.scrollTop,
      ratio: this.ratio || globalThis.devicePixelRatio || 1,
      layout: this.layout,
      look: this.look,
      matches: this.matches,
      marks: this.marks,
    };
  }

  private fit(): void {
    const box = this.canvas.parentElement!.getBoundingClientRect();
    this.width = Math.max(1, Math.floor(box.width));
    // Not higher than what there is to show: every pixel of it is put on screen in every frame.
    this.height = Math.max(1, Math.min(this.scroller.clientHeight, this.layout.height + BELOW));
    const ratio = this.ratio || globalThis.devicePixelRatio || 1;
    const width = Math.round(this.width * ratio);
    const height = Math.round(this.height * ratio);
    if (this.canvas.width === width && this.canvas.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
  }

  /** Draws now. Also used by what measures frames and by what saves pictures. */
  draw(): void {
    this.fit();
    const frame = this.frame();
    this.painter.paint(frame);
    const overlay = this.overlay(frame);
    paintOverlay(this.context, frame, overlay);
    this.onFrame(overlay.ticks);
  }

  /** The same picture with another number of pixels; draw again afterwards. */
  drawnAt(ratio: number): HTMLCanvasElement {
    this.ratio = ratio;
    this.draw();
    this.ratio = 0;
    const copy = document.createElement('canvas');
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    copy.getContext('2d')!.drawImage(this.canvas, 0, 0);
    return copy;
  }

  private overlay(frame: Frame): Overlay {
    const { pane } = this;
    const { startNs, endNs } = pane.document.steps;
    const span = pane.steps.value;
    // Without selected steps, times are those every report of the profile gives.
    const zero = span ? startNs[span.first] : 0;
    return {
      ticks: ticksOf(frame.fromNs, frame.fromNs + frame.width * frame.nsPerPixel, frame.width, zero),
      selection: span ? { fromNs: startNs[span.first], toNs: endNs[span.last] } : null,
      highlights: pane.highlights.value,
      measure: pane.measure.value,
      area: pane.area.value,
      waits: waitsOf(pane).value,
      notes: notesOf(pane)?.notes ?? [],
      isVeiled: pane.highlights.value.length === 0 && !pane.marks.value,
      event: pane.event.value ? pane.details.value : null,
      brush: this.brush,
    };
  }

  /** Nanoseconds at a distance from the canvas's left side. */
  timeAt(x: number): number {
    const { fromNs, nsPerPixel } = this.frame();
    return fromNs + x * nsPerPixel;
  }

  /** The event at a point of the canvas, or the nearest within reach. */
  hit(x: number, y: number): Hit | undefined {
    const frame = this.frame();
    const found = placeAt(this.layout, y + frame.scrollTop);
    if (!found || found.row.track.kind === 'area') return undefined;
    const { row, lane: place } = found;
    const { nsPerPixel, fromNs, ratio } = frame;
    const at = fromNs + x * nsPerPixel;
    const reach = REACH * nsPerPixel;
    const toNs = fromNs + frame.width * nsPerPixel;
    const source = frame.matches ?? this.tiles;
    let nearest: { tile: SliceTile; i: number; distance: number } | undefined;
    for (const tile of source.entries(place.id, fromNs, toNs, nsPerPixel / ratio) as readonly SliceTile[]) {
      const last = lowerBound(tile.start, at + reach);
      for (let i = Math.max(0, upperBound(tile.end, at - reach) - 1); i < last; i++) {
        const distance = Math.max(tile.start[i] - at, at - tile.end[i], 0);
        if (distance <= reach && (!nearest || distance < nearest.distance)) nearest = { tile, i, distance };
      }
    }
    if (!nearest) return undefined;
    const { tile, i } = nearest;
    return {
      row,
      place,
      startNs: tile.start[i],
      endNs: tile.end[i],
      index: tile.event[i],
      count: tile.count[i],
      fill: tile.fill[i],
      tone: tile.tone[i],
      name: tile.label[i] < 0 ? undefined : (this.labels.text(tile.label[i]) ?? ''),
    };
  }

  /** Ids of the lanes on screen or scrolled out of it, from top to bottom. */
  lanesInOrder(): number[] {
    return this.layout.rows.flatMap(row =>
      row.kind === 'track' && row.track.kind === 'slices' && (!row.folded || row.track.isSummary)
        ? row.lanes.map(({ id }) => id)
        : [],
    );
  }

  /** Number of the event of a lane that is nearest to a moment, of those in view. */
  nearestIn(lane: number, atNs: number): number | undefined {
    const { fromNs, nsPerPixel, width, ratio } = this.frame();
    const toNs = fromNs + width * nsPerPixel;
    let nearest: { index: number; distance: number } | undefined;
    for (const tile of this.tiles.entries(lane, fromNs, toNs, nsPerPixel / ratio) as readonly SliceTile[]) {
      const last = lowerBound(tile.start, toNs);
      for (let i = upperBound(tile.end, fromNs); i < last; i++) {
        const distance = Math.max(tile.start[i] - atNs, atNs - tile.end[i], 0);
        if (!nearest || distance < nearest.distance) nearest = { index: tile.event[i], distance };
      }
    }
    return nearest?.index;
  }

  /** Scrolls until the lane is on screen. */
  reveal(lane: number): void {
    const place = this.layout.laneAt.get(lane);
    if (!place) return;
    const { scrollTop, clientHeight } = this.scroller;
    if (place.y < scrollTop) this.scroller.scrollTop = place.y - place.height;
    else if (place.y + place.height > scrollTop + clientHeight)
      this.scroller.scrollTop = place.y + 2 * place.height - clientHeight;
  }

  scrollBy(pixels: number): void {
    this.scroller.scrollTop += pixels;
  }

  /** Ids of the tracks between two heights of the canvas. */
  tracksBetween(y: number, other: number): string[] {
    const { scrollTop } = this.scroller;
    const [top, bottom] = [Math.min(y, other) + scrollTop, Math.max(y, other) + scrollTop];
    return this.layout.rows.flatMap(row =>
      row.kind === 'track' && row.y <= bottom && row.y + row.height > top ? [row.track.id] : [],
    );
  }

  dispose(): void {
    for (const stop of this.stop) stop();
    cancelAnimationFrame(this.scheduled);
  }
}
