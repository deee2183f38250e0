/** What lies over the lanes: ticks, steps, evidence, the selected event with its arrows, the measured stretch. */
import { formatDuration } from '../../base/units.js';
import type { EventDocument, EventLink } from '../../timeline/wire.js';
import type { Highlight, TimeWindow } from '../state.js';
import type { Frame } from './painter.js';
import type { Tick } from './ruler.js';

export interface Overlay {
  readonly ticks: readonly Tick[];
  readonly selection: TimeWindow | null;
  readonly highlights: readonly Highlight[];
  readonly measure: TimeWindow | null;
  readonly event: EventDocument | null;
  /** The stretch dragged over in the ruler. */
  readonly brush: TimeWindow | null;
}

const MOST_ARROWS = 60;

export function paintOverlay(context: CanvasRenderingContext2D, frame: Frame, overlay: Overlay): void {
  const { height, width, look } = frame;
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
    context.globalAlpha = 0.1;
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
  for (const { fromNs, toNs } of overlay.highlights)
    band(context, x(fromNs), x(toNs), frame, '#d9a400', 0.16);
  if (overlay.brush) band(context, x(overlay.brush.fromNs), x(overlay.brush.toNs), frame, look.accent, 0.2);
  if (overlay.event) paintEvent(context, frame, overlay.event, x);
  if (overlay.measure) paintMeasure(context, frame, overlay.measure, x);
  context.restore();
}

function band(
  context: CanvasRenderingContext2D,
  from: number,
  to: number,
  { width, height }: Frame,
  color: string,
  alpha: number,
): void {
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
  { layout, scrollTop, look }: Frame,
  event: EventDocument,
  x: (ns: number) => number,
): void {
  const place = layout.laneAt.get(event.lane);
  if (!place) return;
  const top = place.y - scrollTop;
  const from = x(event.startNs);
  const to = Math.max(x(event.endNs), from + 2);
  context.globalAlpha = 1;
  context.strokeStyle = look.text;
  context.lineWidth = 2;
  context.strokeRect(from, top, to - from, place.height);
  context.lineWidth = 1.25;
  context.strokeStyle = look.accent;
  context.fillStyle = look.accent;
  for (const link of event.links.slice(0, MOST_ARROWS)) {
    const other = layout.laneAt.get(link.lane);
    if (other) arrow(context, event, link, top + place.height / 2, other.y - scrollTop + other.height / 2, x);
  }
}

/** From the call to what it caused, whichever of the two was selected. */
function arrow(
  context: CanvasRenderingContext2D,
  event: EventDocument,
  link: EventLink,
  ownY: number,
  otherY: number,
  x: (ns: number) => number,
): void {
  const causes = link.relation === 'launches';
  const fromX = causes ? x(event.startNs) : x(link.startNs);
  const toX = causes ? x(link.startNs) : x(event.startNs);
  const [fromY, toY] = causes ? [ownY, otherY] : [otherY, ownY];
  const bend = Math.max(12, Math.abs(toX - fromX) / 2);
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.bezierCurveTo(fromX + bend, fromY, toX - bend, toY, toX, toY);
  context.stroke();
  context.beginPath();
  context.moveTo(toX, toY);
  context.lineTo(toX - 6, toY - 3.5);
  context.lineTo(toX - 6, toY + 3.5);
  context.fill();
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
  const text = formatDuration(Math.abs(toNs - fromNs));
  context.font = '600 12px system-ui, sans-serif';
  const half = context.measureText(text).width / 2 + 7;
  const middle = Math.max(half, Math.min(frame.width - half, (from + to) / 2));
  context.fillStyle = frame.look.accent;
  context.beginPath();
  context.roundRect(middle - half, 8, half * 2, 20, 4);
  context.fill();
  context.fillStyle = frame.look.onAccent;
  context.textAlign = 'center';
  context.fillText(text, middle, 18.5);
  context.textAlign = 'start';
}
