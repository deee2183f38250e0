/** Puts the bars on a canvas. Colour is the phase; the darker part is the time the GPU worked. */
import type { StepSpan } from '../../timeline/viewed-profile.js';
import type { TimelineDocument } from '../../timeline/wire.js';
import { labelStride, type StripLayout, wallOf } from './strip-layout.js';

/** Below the bars: iteration numbers. */
const LABELS_HEIGHT = 16;
/** Above the bars, so that an outline has room. */
const TOP = 4;
const PALE = 0.38;

export interface Inks {
  readonly text: string;
  readonly muted: string;
  readonly band: string;
  readonly line: string;
  readonly page: string;
  readonly font: string;
}

interface StripPicture {
  readonly document: TimelineDocument;
  readonly layout: StripLayout;
  readonly topNs: number;
  readonly selected: StepSpan | null;
  readonly hovered: number;
  readonly inks: Inks;
}

export function drawStrip(canvas: HTMLCanvasElement, picture: StripPicture): void {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext('2d');
  if (!pen || picture.layout.slowest.length === 0) return;
  pen.scale(ratio, ratio);
  const floor = height - LABELS_HEIGHT;
  if (picture.selected) band(pen, picture, picture.selected, floor);
  bars(pen, picture, floor);
  pen.globalAlpha = 1;
  pen.fillStyle = picture.inks.line;
  pen.fillRect(0, floor, width, 1);
  numbers(pen, picture, width, floor);
  if (picture.selected) outline(pen, picture, picture.selected, floor);
}

/** Where the steps of a span begin and end; never too thin to see. */
function extent({ layout: { pitch, perBar, gap } }: StripPicture, { first, last }: StepSpan) {
  const from = Math.floor(first / perBar) * pitch;
  const to = (Math.floor(last / perBar) + 1) * pitch - gap;
  return { from, to: Math.max(to, from + 2) };
}

function band(pen: CanvasRenderingContext2D, picture: StripPicture, span: StepSpan, floor: number): void {
  const { from, to } = extent(picture, span);
  pen.fillStyle = picture.inks.band;
  pen.fillRect(from, 0, to - from, floor);
}

function bars(pen: CanvasRenderingContext2D, picture: StripPicture, floor: number): void {
  const { document, layout, topNs, hovered } = picture;
  const { steps, palettes } = document;
  const scale = (floor - TOP) / Math.max(1, topNs);
  const busyInk = palettes.phase.map(look => darker(look.color));
  const width = Math.max(1, layout.pitch - layout.gap);
  layout.slowest.forEach((step, bar) => {
    const wall = wallOf(steps, step);
    const tall = Math.max(1, Math.min(floor - TOP, wall * scale));
    const busy = Math.min(tall, Math.min(wall, steps.busyNs[step]) * scale);
    const x = bar * layout.pitch;
    pen.globalAlpha = steps.state[step] === 'steady' ? (bar === hovered ? 0.8 : 1) : PALE;
    pen.fillStyle = palettes.phase[steps.phase[step]]?.color ?? '#7f7f7f';
    pen.fillRect(x, floor - tall, width, tall);
    pen.fillStyle = busyInk[steps.phase[step]] ?? '#4c4c4c';
    pen.fillRect(x, floor - busy, width, busy);
    if (wall > topNs) cutMark(pen, picture, x, width);
  });
}

/** Two strokes across a bar that goes on beyond the top. */
function cutMark(pen: CanvasRenderingContext2D, { inks }: StripPicture, x: number, width: number): void {
  pen.globalAlpha = 1;
  pen.fillStyle = inks.page;
  for (const y of [TOP + 6, TOP + 11]) {
    pen.beginPath();
    pen.moveTo(x, y + 3);
    pen.lineTo(x + width, y - 2);
    pen.lineTo(x + width, y);
    pen.lineTo(x, y + 5);
    pen.fill();
  }
}

function numbers(pen: CanvasRenderingContext2D, picture: StripPicture, width: number, floor: number): void {
  const { document, layout, selected, inks } = picture;
  const { iteration, length } = document.steps;
  pen.font = inks.font;
  pen.textBaseline = 'top';
  const widest = pen.measureText(String(iteration[length - 1])).width + 14;
  const perStep = layout.pitch / layout.perBar;
  const stride = labelStride(perStep, widest);
  const middle = (step: number) =>
    Math.floor(step / layout.perBar) * layout.pitch + (layout.pitch - layout.gap) / 2;
  const write = (step: number) => {
    const text = String(iteration[step]);
    const half = pen.measureText(text).width / 2;
    const x = Math.min(Math.max(middle(step) - half, 0), width - 2 * half);
    pen.fillText(text, x, floor + 4);
    return [x - 6, x + 2 * half + 6] as const;
  };
  pen.fillStyle = inks.text;
  const kept = selected ? [write(selected.first)] : [];
  if (selected && selected.last !== selected.first && middle(selected.last) - middle(selected.first) > widest)
    kept.push(write(selected.last));
  pen.fillStyle = inks.muted;
  for (let step = 0; step < length; step++) {
    if (iteration[step] % stride !== 0) continue;
    const [from, to] = [middle(step) - widest / 2, middle(step) + widest / 2];
    if (kept.every(([left, right]) => to - 7 < left || from + 7 > right)) kept.push(write(step));
  }
}

function outline(pen: CanvasRenderingContext2D, picture: StripPicture, span: StepSpan, floor: number): void {
  const { from, to } = extent(picture, span);
  pen.strokeStyle = picture.inks.text;
  pen.lineWidth = 1.5;
  pen.strokeRect(Math.max(0.75, from), 0.75, Math.max(2, to - Math.max(0.75, from)), floor);
}

/** `#1f78b4` with a third of its light taken away. */
function darker(color: string): string {
  const part = (at: number) => Math.round(Number.parseInt(color.slice(at, at + 2), 16) * 0.62);
  return /^#[0-9a-f]{6}$/i.test(color) ? `rgb(${part(1)} ${part(3)} ${part(5)})` : color;
}
