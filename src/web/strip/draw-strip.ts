/**
 * Puts the bars on a canvas. Colour is the phase; the darker part is the time the GPU worked; a bracket shows what of it
 * the timeline shows, and a dot marks a step that is unusually long for its phase.
 */
import type { StepSpan } from '../../timeline/spans.js';
import type { TimelineDocument } from '../../timeline/wire.js';
import { labelStride, placeOfTime, type StripLayout, type stripScale, wallOf } from './strip-layout.js';

/** Below the bars: iteration numbers. */
const LABELS_HEIGHT = 16;
/** Above the bars, so that the bracket and dots have room. */
const TOP = 10;
const PALE = 0.38;

export interface Inks {
  readonly text: string;
  readonly muted: string;
  readonly band: string;
  readonly line: string;
  readonly accent: string;
  readonly page: string;
  readonly font: string;
}

interface StripPicture {
  readonly document: TimelineDocument;
  readonly layout: StripLayout;
  readonly scales: ReturnType<typeof stripScale>;
  readonly outliers: ReadonlySet<number>;
  /** What the timeline shows. */
  readonly window: { readonly fromNs: number; readonly toNs: number };
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
  bracket(pen, picture, width);
}

/** ⎴ over the steps that the timeline shows. */
function bracket(pen: CanvasRenderingContext2D, picture: StripPicture, width: number): void {
  const { document, layout, window, inks } = picture;
  const from = placeOfTime(document.steps, layout, window.fromNs);
  const to = placeOfTime(document.steps, layout, window.toNs);
  const left = Math.max(1, Math.min(from, width - 3));
  const right = Math.min(width - 1, Math.max(to, left + 3));
  pen.globalAlpha = 1;
  pen.strokeStyle = inks.accent;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(left, 7);
  pen.lineTo(left, 1.5);
  pen.lineTo(right, 1.5);
  pen.lineTo(right, 7);
  pen.stroke();
}

/** Where the steps of a span begin and end; never too thin to see. */
function extent({ layout }: StripPicture, { first, last }: StepSpan) {
  const { pitch, perBar, gap } = layout;
  const bar = (step: number) => Math.floor((step - layout.first) / perBar);
  const from = Math.max(-pitch, bar(first) * pitch);
  const to = Math.min(layout.slowest.length + 1, bar(last) + 1) * pitch - gap;
  return { from, to: Math.max(to, from + 2) };
}

function band(pen: CanvasRenderingContext2D, picture: StripPicture, span: StepSpan, floor: number): void {
  const { from, to } = extent(picture, span);
  pen.fillStyle = picture.inks.band;
  pen.fillRect(from, TOP - 3, to - from, floor - TOP + 3);
}

function bars(pen: CanvasRenderingContext2D, picture: StripPicture, floor: number): void {
  const { document, layout, scales, hovered } = picture;
  const { steps, palettes } = document;
  const busyInk = palettes.phase.map(look => darker(look.color));
  const width = Math.max(1, layout.pitch - layout.gap);
  layout.slowest.forEach((step, bar) => {
    const wall = wallOf(steps, step);
    const topNs = scales.get(steps.phase[step])?.topNs ?? 1;
    const scale = (floor - TOP) / Math.max(1, topNs);
    const tall = Math.max(1, Math.min(floor - TOP, wall * scale));
    const busy = Math.min(tall, Math.min(wall, steps.busyNs[step]) * scale);
    const x = bar * layout.pitch;
    pen.globalAlpha = steps.state[step] === 'steady' ? (bar === hovered ? 0.8 : 1) : PALE;
    pen.fillStyle = palettes.phase[steps.phase[step]]?.color ?? '#7f7f7f';
    pen.fillRect(x, floor - tall, width, tall);
    pen.fillStyle = busyInk[steps.phase[step]] ?? '#4c4c4c';
    pen.fillRect(x, floor - busy, width, busy);
    if (wall > topNs) cutMark(pen, picture, x, width);
    if (picture.outliers.has(step)) dot(pen, picture, x + width / 2, floor - tall);
  });
}

function dot(pen: CanvasRenderingContext2D, { inks }: StripPicture, x: number, y: number): void {
  pen.globalAlpha = 1;
  pen.fillStyle = inks.text;
  pen.beginPath();
  pen.arc(x, Math.max(4, y - 4), 2.5, 0, 2 * Math.PI);
  pen.fill();
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
  const { iteration } = document.steps;
  pen.font = inks.font;
  pen.textBaseline = 'top';
  const widest = pen.measureText(String(iteration[layout.end - 1])).width + 14;
  const perStep = layout.pitch / layout.perBar;
  const stride = labelStride(perStep, widest);
  const middle = (step: number) =>
    Math.floor((step - layout.first) / layout.perBar) * layout.pitch + (layout.pitch - layout.gap) / 2;
  // Round numbers, but for iterations that are counted in another way than one by one.
  const isCounted = iteration[layout.end - 1] - iteration[layout.first] === layout.end - 1 - layout.first;
  const roundNumber = (step: number) => (isCounted ? iteration[step] : step - layout.first);
  const isShown = (step: number) => step >= layout.first && step < layout.end;
  const write = (step: number) => {
    const text = String(iteration[step]);
    const half = pen.measureText(text).width / 2;
    const x = Math.min(Math.max(middle(step) - half, 0), width - 2 * half);
    pen.fillText(text, x, floor + 4);
    return [x - 6, x + 2 * half + 6] as const;
  };
  pen.fillStyle = inks.text;
  const kept = selected && isShown(selected.first) ? [write(selected.first)] : [];
  if (
    selected &&
    isShown(selected.last) &&
    selected.last !== selected.first &&
    middle(selected.last) - middle(selected.first) > widest
  )
    kept.push(write(selected.last));
  pen.fillStyle = inks.muted;
  for (let step = layout.first; step < layout.end; step++) {
    if (roundNumber(step) % stride !== 0) continue;
    const [from, to] = [middle(step) - widest / 2, middle(step) + widest / 2];
    if (kept.every(([left, right]) => to - 7 < left || from + 7 > right)) kept.push(write(step));
  }
}

function outline(pen: CanvasRenderingContext2D, picture: StripPicture, span: StepSpan, floor: number): void {
  const { from, to } = extent(picture, span);
  if (to < 0) return;
  pen.strokeStyle = picture.inks.text;
  pen.lineWidth = 1.5;
  pen.strokeRect(Math.max(0.75, from), TOP - 3, Math.max(2, to - Math.max(0.75, from)), floor - TOP + 3);
}

/** `#1f78b4` with a third of its light taken away. */
function darker(color: string): string {
  const part = (at: number) => Math.round(Number.parseInt(color.slice(at, at + 2), 16) * 0.62);
  return /^#[0-9a-f]{6}$/i.test(color) ? `rgb(${part(1)} ${part(3)} ${part(5)})` : color;
}
