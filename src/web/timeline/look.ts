/** Colours of the canvas, taken from the page's style so that themes stay in one place. */
import type { PaletteName, TimelineDocument } from '../../timeline/wire.js';
import { mix, parseColor, pixelOf, type Rgb, SHADES, shadesOf } from './raster.js';

export interface CanvasLook {
  readonly paper: number;
  /** The same, for drawing calls. */
  readonly paperText: string;
  readonly stripe: number;
  readonly line: number;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly onAccent: string;
  readonly area: { readonly mean: number; readonly most: number };
  readonly bright: { readonly [Name in PaletteName]: Uint32Array };
  /** Behind search results, and for tones nobody asked for. */
  readonly dim: { readonly [Name in PaletteName]: Uint32Array };
  /** Of the stripes over idle time. */
  readonly pale: Uint32Array;
  /** Of the line under marked events, whatever their tone. */
  readonly mark: Uint32Array;
  /** Between that line and the event, which may be as dark. */
  readonly paperLine: Uint32Array;
  /** Per palette and tone, the colour of text on it. */
  readonly inkOn: { readonly [Name in PaletteName]: readonly string[] };
}

const DIMMED = 0.22;
const PALE = 0.74;
/** Custom properties the page's style must define as colours of three or six digits. */
function colorOf(style: CSSStyleDeclaration, name: string): Rgb {
  const text = style.getPropertyValue(name).trim();
  return /^#(?:[0-9a-f]{3}){1,2}$/i.test(text) ? parseColor(text) : [128, 128, 128];
}

export function canvasLook(
  { palettes }: TimelineDocument,
  element: Element,
  lit: ReadonlySet<string>,
): CanvasLook {
  const style = getComputedStyle(element);
  const paper = colorOf(style, '--page');
  const names = Object.keys(palettes) as PaletteName[];
  const each = <Value>(make: (name: PaletteName) => Value) =>
    Object.fromEntries(names.map(name => [name, make(name)])) as { [Name in PaletteName]: Value };
  const colors = each(name => palettes[name].map(({ color }) => parseColor(color)));
  const isLit = (name: PaletteName, tone: number) =>
    lit.size === 0 || lit.has(`${name}:${palettes[name][tone]?.id}`);
  const area = colorOf(style, '--area');
  return {
    paper: pixelOf(paper),
    paperText: `rgb(${paper.join(' ')})`,
    stripe: pixelOf(colorOf(style, '--strip')),
    line: pixelOf(colorOf(style, '--line')),
    text: style.getPropertyValue('--text').trim(),
    muted: style.getPropertyValue('--muted').trim(),
    accent: style.getPropertyValue('--accent').trim(),
    onAccent: style.getPropertyValue('--on-accent').trim(),
    area: { mean: pixelOf(mix(paper, area, 0.75)), most: pixelOf(mix(paper, area, 0.3)) },
    bright: each(name => shadesOf(colors[name], paper, tone => (isLit(name, tone) ? 1 : DIMMED))),
    dim: each(name => shadesOf(colors[name], paper, () => DIMMED)),
    pale: shadesOf(colors.cause, paper, tone => (isLit('cause', tone) ? PALE : DIMMED * PALE)),
    // Ink, which is the colour of nothing that is drawn in a lane.
    mark: new Uint32Array(256 * SHADES).fill(pixelOf(colorOf(style, '--text'))),
    paperLine: new Uint32Array(256 * SHADES).fill(pixelOf(paper)),
    inkOn: each(name => colors[name].map(inkOn)),
  };
}

/** Black or white, whichever is easier to read. */
export function inkOn(color: Rgb): string {
  const [red, green, blue] = color.map(value => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.22 ? '#111111' : '#ffffff';
}
