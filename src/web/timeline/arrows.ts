/**
 * From the call to what it caused, whichever of the two is selected. An arrow is drawn where both ends are on screen;
 * otherwise a stub at the selected event says what is there, on which side, and how far away.
 */
import { formatDuration } from '../../base/units.js';
import type { EventDocument, EventLink } from '../../timeline/wire.js';
import type { Frame } from './painter.js';

const MOST_ARROWS = 60;
/** More labels than these would cover the lanes. */
const MOST_STUBS = 2;
const STUB = 22;
/** From the middle of a lane to a text under it. */
const BELOW_LANE = 19;
const LONGEST_TITLE = 36;

interface Point {
  readonly x: number;
  readonly y: number;
}

export function paintLinks(
  context: CanvasRenderingContext2D,
  frame: Frame,
  event: EventDocument,
  x: (ns: number) => number,
): void {
  const { layout, scrollTop, look, width, height } = frame;
  const middle = (lane: number): number | undefined => {
    const place = layout.laneAt.get(lane);
    return place && place.y - scrollTop + place.height / 2;
  };
  const ownY = middle(event.lane);
  if (ownY === undefined) return;
  const own: Point = { x: x(event.startNs), y: ownY };
  context.lineWidth = 1.25;
  context.strokeStyle = look.accent;
  context.fillStyle = look.accent;
  const away: { readonly link: EventLink; readonly at: Point }[] = [];
  for (const link of event.links.slice(0, MOST_ARROWS)) {
    const at: Point = { x: x(link.startNs), y: middle(link.lane) ?? -1 };
    const isOnScreen = at.x >= 0 && at.x <= width && at.y >= 0 && at.y <= height;
    if (!isOnScreen || own.x < 0 || own.x > width) away.push({ link, at });
    else if (link.relation === 'launches') arrow(context, own, at);
    else arrow(context, at, own);
  }
  if (ownY < 0 || ownY > height) return;
  away.slice(0, MOST_STUBS).forEach(({ link, at }, i) => {
    stub(context, frame, own, x(event.endNs), at, i, stubText(event, link, away.length - MOST_STUBS, i));
  });
}

function stubText(event: EventDocument, link: EventLink, more: number, i: number): string {
  const title = link.title.length > LONGEST_TITLE ? `${link.title.slice(0, LONGEST_TITLE - 1)}…` : link.title;
  const gap = link.startNs - event.startNs;
  const when = `${formatDuration(Math.abs(gap))} ${gap < 0 ? 'earlier' : 'later'}`;
  const rest = i === MOST_STUBS - 1 && more > 0 ? `, ${more} more` : '';
  return `${title}, ${when}${rest}`;
}

function arrow(context: CanvasRenderingContext2D, from: Point, to: Point): void {
  const bend = Math.max(12, Math.abs(to.x - from.x) / 2);
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
  context.stroke();
  head(context, to, 1);
}

function head(context: CanvasRenderingContext2D, { x, y }: Point, sign: 1 | -1): void {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 6 * sign, y - 3.5);
  context.lineTo(x - 6 * sign, y + 3.5);
  context.fill();
}

function stub(
  context: CanvasRenderingContext2D,
  { width, look }: Frame,
  own: Point,
  ownEnd: number,
  at: Point,
  i: number,
  text: string,
): void {
  const sign = at.x < own.x ? -1 : 1;
  const start = Math.max(4, Math.min(width - 4, sign < 0 ? own.x : ownEnd));
  const end = Math.max(2, Math.min(width - 2, start + sign * STUB));
  let y = own.y + i * 15;
  context.beginPath();
  context.moveTo(start, own.y);
  context.lineTo(end, y);
  context.stroke();
  head(context, { x: end, y }, sign);
  context.font = '11px system-ui, sans-serif';
  const room = context.measureText(text).width;
  const isBeside = sign < 0 ? end - room - 8 > 0 : end + room + 8 < width;
  const left = sign < 0 ? Math.max(6, end - room - 8) : Math.min(end + 8, width - room - 4);
  // Where there is no room beside the event, below it: nothing may cover what was asked about.
  if (!isBeside) y += BELOW_LANE;
  context.save();
  context.fillStyle = look.paperText;
  context.globalAlpha = 0.88;
  context.fillRect(left - 3, y - 8, room + 6, 16);
  context.restore();
  context.fillStyle = look.text;
  context.fillText(text, left, y + 0.5);
  context.fillStyle = look.accent;
}
