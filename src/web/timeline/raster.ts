/**
 * Drawing lanes into pixels by hand: a lane is one line of pixels, worked out once and repeated over its height. Each
 * entry costs what it covers, so a frame costs what is on the screen; a canvas rectangle per event would not.
 */
import { lowerBound, upperBound } from '../../base/bisect.js';
import type { SliceTile } from '../../timeline/slice-pyramid.js';
import type { AreaTile } from '../../timeline/tiles.js';

/** Shades between paper and a full colour. */
export const SHADES = 32;
/** The least shade of something that is there: a single short event must not vanish. */
const LEAST_SHADE = 0.3;

export type Rgb = readonly [number, number, number];

/** `#1f4e79`, or `#fff`: what minifies the style shortens colours where it can. */
export function parseColor(text: string): Rgb {
  const digits = text.length === 4 ? text.replace(/[0-9a-f]/gi, '$&$&') : text;
  const number = Number.parseInt(digits.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

export const mix = (paper: Rgb, ink: Rgb, part: number): Rgb =>
  [0, 1, 2].map(i => Math.round(paper[i] + (ink[i] - paper[i]) * part)) as unknown as Rgb;

/** As a pixel lies in memory on a little-endian machine. */
export const pixelOf = ([red, green, blue]: Rgb): number =>
  ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** Pixels of every tone in every shade. `strength` below 1 dims a tone. */
export function shadesOf(
  colors: readonly Rgb[],
  paper: Rgb,
  strength: (tone: number) => number,
): Uint32Array {
  const shades = new Uint32Array(256 * SHADES);
  for (let tone = 0; tone < 256; tone++) {
    const ink = colors[tone] ?? [128, 128, 128];
    for (let shade = 0; shade < SHADES; shade++) {
      const part = LEAST_SHADE + (1 - LEAST_SHADE) * ((shade + 1) / SHADES);
      shades[tone * SHADES + shade] = pixelOf(mix(paper, ink, part * strength(tone)));
    }
  }
  return shades;
}

/** One line of pixels: how much of each is covered, and by what mostly. */
export class Line {
  readonly cover: Float32Array;
  private readonly most: Float32Array;
  readonly tone: Uint8Array;

  constructor(readonly width: number) {
    this.cover = new Float32Array(width);
    this.most = new Float32Array(width);
    this.tone = new Uint8Array(width);
  }

  clear(): void {
    this.cover.fill(0);
    this.most.fill(0);
  }

  /** Adds the entries of a tile that lie in view. `gap` pixels are left between entries wide enough for it. */
  add(tile: SliceTile, fromNs: number, nsPerPixel: number, gap: number): void {
    const { start, end, fill, tone } = tile;
    const { width, cover, most, tone: tones } = this;
    const toNs = fromNs + width * nsPerPixel;
    const first = upperBound(end, fromNs);
    const last = lowerBound(start, toNs);
    const perNs = 1 / nsPerPixel;
    for (let i = first; i < last; i++) {
      const from = Math.max(0, (start[i] - fromNs) * perNs);
      let to = Math.min(width, (end[i] - fromNs) * perNs);
      if (to - from > 3 * gap) to -= gap;
      const part = fill[i];
      const own = tone[i];
      const firstPixel = Math.min(width - 1, from | 0);
      const lastPixel = Math.min(width - 1, to | 0);
      if (firstPixel === lastPixel) {
        // Narrower than a pixel: it adds to what is there. A moment without length still shows.
        const weight = Math.max((to - from) * part, 1e-4);
        cover[firstPixel] += weight;
        if (weight > most[firstPixel]) {
          most[firstPixel] = weight;
          tones[firstPixel] = own;
        }
        continue;
      }
      for (let pixel = firstPixel; pixel <= lastPixel; pixel++) {
        const weight = (Math.min(to, pixel + 1) - Math.max(from, pixel)) * part;
        if (weight <= 0) continue;
        cover[pixel] += weight;
        if (weight > most[pixel]) {
          most[pixel] = weight;
          tones[pixel] = own;
        }
      }
    }
  }

  /** Paints the line over a stretch of rows. Pixels nothing covers are left as they are. */
  paint(pixels: Uint32Array, stride: number, top: number, bottom: number, shades: Uint32Array): void {
    if (bottom <= top) return;
    const { width, cover, tone } = this;
    const at = top * stride;
    for (let x = 0; x < width; x++) {
      const covered = cover[x];
      if (covered === 0) continue;
      const shade = covered >= 1 ? SHADES - 1 : (covered * SHADES) | 0;
      pixels[at + x] = shades[tone[x] * SHADES + shade];
    }
    for (let row = top + 1; row < bottom; row++) pixels.copyWithin(row * stride, at, at + width);
  }
}

/** Pixels from stripe to stripe, and how many of them a stripe has. */
const STRIPES = 6;
const STRIPE = 2;

/** Diagonal stripes of a paler shade over what `paint` has drawn: idle time looks like nothing that runs. */
export function hatch(
  { width, cover, tone }: Line,
  pixels: Uint32Array,
  stride: number,
  top: number,
  bottom: number,
  shades: Uint32Array,
  ratio: number,
): void {
  const period = Math.round(STRIPES * ratio);
  const thick = Math.round(STRIPE * ratio);
  for (let y = top; y < bottom; y++)
    for (let x = 0; x < width; x++) {
      if (cover[x] === 0 || (x + y) % period >= thick) continue;
      const shade = cover[x] >= 1 ? SHADES - 1 : (cover[x] * SHADES) | 0;
      pixels[y * stride + x] = shades[tone[x] * SHADES + shade];
    }
}

interface AreaInk {
  readonly mean: number;
  readonly most: number;
}

/** Paints a curve as an area from the bottom: the mean full, what reaches above it pale. */
export function paintArea(
  tiles: readonly AreaTile[],
  fromNs: number,
  nsPerPixel: number,
  highest: number,
  pixels: Uint32Array,
  stride: number,
  width: number,
  top: number,
  bottom: number,
  ink: AreaInk,
  /** Rows there are; what lies beyond them is cut. */
  rows: number,
): void {
  const height = bottom - top;
  const [least, end] = [Math.max(0, top), Math.min(rows, bottom)];
  const level = (value: number) => Math.max(0, Math.min(height, Math.round((value / highest) * height)));
  for (const { start, mean, most, length } of tiles) {
    if (length === 0) continue;
    const toNs = fromNs + width * nsPerPixel;
    let i = Math.max(0, upperBound(start, fromNs) - 1);
    for (; i < length && start[i] < toNs; i++) {
      // Several in one pixel: the highest of their means, so that no peak is lost.
      const from = Math.max(0, ((start[i] - fromNs) / nsPerPixel) | 0);
      const nextStart = i + 1 < length ? start[i + 1] : start[i] + (i > 0 ? start[i] - start[i - 1] : 0);
      const to = Math.min(width, Math.max(from + 1, Math.ceil((nextStart - fromNs) / nsPerPixel)));
      const solid = level(mean[i]);
      const pale = level(most[i]);
      for (let x = from; x < to; x++) {
        for (let y = Math.max(least, bottom - pale); y < Math.min(end, bottom - solid); y++)
          if (pixels[y * stride + x] !== ink.mean) pixels[y * stride + x] = ink.most;
        for (let y = Math.max(least, bottom - solid); y < end; y++) pixels[y * stride + x] = ink.mean;
      }
    }
  }
}
