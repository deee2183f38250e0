/** What lies over the lanes: ticks, steps, evidence, the selected event with its arrows, the measured stretch. */
import { formatDuration } from '../../base/units.js';
import type { WrittenNote } from '../../timeline/notes.js';
import type { EventDocument, WaitDocument } from '../../timeline/wire.js';
import type { Area, Highlight, TimeWindow } from '../state.js';
import { paintLinks } from './arrows.js';
import { paintWaits } from './paint-waits.js';
import type { Frame } from './painter.js';
import type { Tick } from './ruler.js';

export interface Overlay {
  readonly ticks: readonly Tick[];
  readonly selection: TimeWindow | null;
  readonly highlights: readonly Highlight[];
  readonly measure: TimeWindow | null;
  readonly area: Area | null;
  /** What is outside the selected steps steps back; not while evidence is shown, which may lie there. */
  readonly isVeiled: boolean;
  readonly notes: readonly WrittenNote[];
  readonly waits: readonly WaitDocument[];
  readonly event: EventDocument | null;
  /** The stretch dragged over in the ruler. */
  readonly brush: TimeWindow | null;
}

export function paintOverlay(context: CanvasRenderingContext2D, frame: Frame, overlay: Overlay): void {
  const { width, look } = frame;
  const height = rowsEnd(frame);
  const x = (ns: number) => (ns - frame.fromNs) / frame.nsPerPixel;
  context.save();
  context.strokeStyle = look.muted;
  context.globalAlpha = 0.18;
  context.beginPath();
  for (const { ns } of overlay.ticks) {
    const at = Math.round(x(ns)) + 0.5;
    context.moveTo(at, 0);
    context.lineTo(at, height);
  }
  context.stroke();
  if (overlay.selection) {
    // Outside the selected steps everything steps back a little.
    const from = Math.max(0, Math.min(width, x(overlay.selection.fromNs)));
    const to = Math.max(0, Math.min(width, x(overlay.selection.toNs)));
    context.globalAlpha = overlay.isVeiled ? 0.1 : 0;
    context.fillStyle = look.muted;
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    context.globalAlpha = 0.9;
    context.strokeStyle = look.accent;
    context.setLineDash([3, 3]);
    context.beginPath();
    for (const ns of [overlay.selection.fromNs, overlay.selection.toNs]) {
      const at = x(ns);
      if (at < 0 || at > width) continue;
      context.moveTo(Math.round(at) + 0.5, 0);
      context.lineTo(Math.round(at) + 0.5, height);
    }
    context.stroke();
    context.setLineDash([]);
  }
  // Outlined, not tinted: a veil would change what the colours under it mean.
  for (const { fromNs, toNs } of overlay.highlights) band(context, x(fromNs), x(toNs), frame, look.text, 0);
  paintWaits(context, frame, overlay.waits, x);
  paintNotes(context, frame, overlay.notes, x);
  if (overlay.brush) band(context, x(overlay.brush.fromNs), x(overlay.brush.toNs), frame, look.accent, 0.2);
  if (overlay.event) paintEvent(context, frame, overlay.event, x);
  if (overlay.area) paintArea(context, frame, overlay.area, x);
  if (overlay.measure) paintMeasure(context, frame, overlay.measure, x);
  context.restore();
}

/** Lines and veils end with the last row: below it there is nothing that they are about. */
const rowsEnd = ({ height, layout, scrollTop }: Frame): number =>
  Math.max(0, Math.min(height, layout.height - scrollTop));

function band(
  context: CanvasRenderingContext2D,
  from: number,
  to: number,
  frame: Frame,
  color: string,
  alpha: number,
): void {
  const { width } = frame;
  const height = rowsEnd(frame);
  if (to < 0 || from > width) return;
  const left = Math.max(-2, from);
  const right = Math.min(width + 2, Math.max(to, from + 2));
  context.fillStyle = color;
  context.globalAlpha = alpha;
  context.fillRect(left, 0, right - left, height);
  context.globalAlpha = 1;
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.strokeRect(left, 0.75, right - left, height - 1.5);
  context.lineWidth = 1;
}

function paintEvent(
  context: CanvasRenderingContext2D,
  frame: Frame,
  event: EventDocument,
  x: (ns: number) => number,
): void {
  const { layout, scrollTop, look } = frame;
  const place = layout.laneAt.get(event.lane);
  if (!place) return;
  const top = place.y - scrollTop;
  const from = x(event.startNs);
  const to = Math.max(x(event.endNs), from + 2);
  context.globalAlpha = 1;
  context.strokeStyle = look.text;
  context.lineWidth = 2;
  context.strokeRect(from, top, to - from, place.height);
  paintLinks(context, frame, event, x);
}

const NOTE_HEIGHT = 15;
const LONGEST_NOTE = 40;

/** A flag at the top for each note, over a line as long as what it is about. */
function paintNotes(
  context: CanvasRenderingContext2D,
  { width, height, look }: Frame,
  notes: readonly WrittenNote[],
  x: (ns: number) => number,
): void {
  context.font = '11px system-ui, sans-serif';
  for (const { fromNs, toNs, text } of notes) {
    const from = x(fromNs);
    const to = Math.max(from + 2, x(toNs));
    if (to < 0 || from > width) continue;
    const left = Math.max(0, from);
    const words = text.length > LONGEST_NOTE ? `${text.slice(0, LONGEST_NOTE - 1)}…` : text;
    const room = context.measureText(words).width + 8;
    const flag = Math.min(left, Math.max(0, width - room));
    context.globalAlpha = 1;
    context.fillStyle = look.text;
    context.fillRect(left, NOTE_HEIGHT, Math.min(width, to) - left, 2);
    context.globalAlpha = 0.35;
    context.fillRect(left, NOTE_HEIGHT, 1, height);
    context.globalAlpha = 1;
    context.fillRect(flag, 0, room, NOTE_HEIGHT);
    context.fillStyle = look.paperText;
    context.fillText(words, flag + 4, NOTE_HEIGHT / 2 + 0.5);
  }
}

/** The rows that were dragged over, each outlined where it is on screen. */
function paintArea(
  context: CanvasRenderingContext2D,
  frame: Frame,
  { fromNs, toNs, tracks }: Area,
  x: (ns: number) => number,
): void {
  const { layout, scrollTop, look, width, height } = frame;
  const left = Math.max(-2, x(fromNs));
  const right = Math.min(width + 2, x(toNs));
  if (right < 0 || left > width) return;
  const wanted = new Set(tracks);
  const rows = layout.rows.filter(
    row => tracks.length === 0 || (row.kind === 'track' && wanted.has(row.track.id)),
  );
  context.fillStyle = look.accent;
  context.strokeStyle = look.accent;
  for (const row of rows) {
    const top = Math.max(-2, row.y - scrollTop);
    const bottom = Math.min(height + 2, row.y + row.height - scrollTop);
    if (bottom <= top) continue;
    context.globalAlpha = 0.07;
    context.fillRect(left, top, right - left, bottom - top);
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  const first = rows[0];
  const last = rows[rows.length - 1];
  if (first && last)
    context.strokeRect(left, first.y - scrollTop + 0.75, right - left, last.y + last.height - first.y - 1.5);
  context.lineWidth = 1;
  badge(context, frame, (left + right) / 2, formatDuration(toNs - fromNs));
}

function paintMeasure(
  context: CanvasRenderingContext2D,
  frame: Frame,
  { fromNs, toNs }: TimeWindow,
  x: (ns: number) => number,
): void {
  const from = x(Math.min(fromNs, toNs));
  const to = x(Math.max(fromNs, toNs));
  band(context, from, to, frame, frame.look.accent, 0.12);
  badge(context, frame, (from + to) / 2, formatDuration(Math.abs(toNs - fromNs)));
}

function badge(context: CanvasRenderingContext2D, frame: Frame, at: number, text: string): void {
  context.font = '600 12px system-ui, sans-serif';
  const half = context.measureText(text).width / 2 + 7;
  const middle = Math.max(half, Math.min(frame.width - half, at));
  context.fillStyle = frame.look.accent;
  context.beginPath();
  context.roundRect(middle - half, 8, half * 2, 20, 4);
  context.fill();
  context.fillStyle = frame.look.onAccent;
  context.textAlign = 'center';
  context.fillText(text, middle, 18.5);
  context.textAlign = 'start';
}
