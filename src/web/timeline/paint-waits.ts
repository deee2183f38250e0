/** From the end of each wait to the rank that came last, which is marked. */
import type { WaitDocument } from '../../timeline/wire.js';
import type { LanePlace, Layout } from './layout.js';
import type { Frame } from './painter.js';

/** Shorter waits are not drawn: lines would cover the rows. */
const LEAST_PIXELS = 4;
/** So many of the longest are, whatever the zoom: they say where to look. */
const ALWAYS = 3;

/** The rows of ranks by device. */
function rankRows({ rows }: Layout): Map<number, LanePlace> {
  const found = new Map<number, LanePlace>();
  for (const row of rows)
    if (row.kind === 'track' && row.track.isSummary)
      found.set(Number(row.track.group.slice('gpu:'.length)), row.lanes[0]);
  return found;
}

/** From this length on a wait is drawn, in nanoseconds. */
function leastShown({ fromNs, width, nsPerPixel }: Frame, waits: readonly WaitDocument[]): number {
  const toNs = fromNs + width * nsPerPixel;
  const longest = waits
    .filter(({ lastNs }) => lastNs >= fromNs && lastNs <= toNs)
    .map(({ waiting }) => waiting.reduce((most, one) => Math.max(most, one.untilNs - one.fromNs), 0))
    .sort((a, b) => b - a);
  return Math.min(LEAST_PIXELS * nsPerPixel, longest[Math.min(ALWAYS, longest.length) - 1] ?? Infinity);
}

export function paintWaits(
  context: CanvasRenderingContext2D,
  frame: Frame,
  waits: readonly WaitDocument[],
  x: (ns: number) => number,
): void {
  if (waits.length === 0) return;
  const { scrollTop, look } = frame;
  const rows = rankRows(frame.layout);
  context.lineWidth = 1;
  context.strokeStyle = look.text;
  context.fillStyle = look.text;
  const least = leastShown(frame, waits);
  for (const { lastDevice, lastNs, waiting } of waits) {
    const last = rows.get(lastDevice);
    if (!last) continue;
    const long = waiting.filter(({ fromNs, untilNs }) => untilNs - fromNs >= least);
    if (long.length === 0) continue;
    const at = { x: x(lastNs), y: last.y - scrollTop };
    context.globalAlpha = 0.5;
    context.beginPath();
    for (const { device, untilNs } of long) {
      const own = rows.get(device);
      if (!own) continue;
      const isAbove = own.y < last.y;
      context.moveTo(x(untilNs), own.y - scrollTop + (isAbove ? own.height : 0));
      context.lineTo(at.x, at.y + (isAbove ? 0 : last.height));
    }
    context.stroke();
    // The late arrival itself.
    context.globalAlpha = 1;
    context.beginPath();
    context.moveTo(at.x, at.y + 3);
    context.lineTo(at.x - 4, at.y - 4);
    context.lineTo(at.x + 4, at.y - 4);
    context.fill();
  }
}
