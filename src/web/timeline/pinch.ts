/** Two fingers: what lies under each of them stays there, so that spreading zooms in and moving both pans. */
import { moveWindow } from '../state.js';
import type { TimelineCanvas } from './timeline-canvas.js';

/** Fingers nearer to each other than this tell nothing about the scale. */
const LEAST_APART = 12;

interface Finger {
  /** The moment it was put on. */
  readonly ns: number;
  x: number;
}

/** To be attached before other listeners of the canvas, which then do not see the moves of a pinch. */
export function attachPinch(timeline: TimelineCanvas, onBegin: () => void): () => void {
  const { canvas, pane } = timeline;
  const fingers = new Map<number, Finger>();
  const placeOf = (event: PointerEvent) => event.clientX - canvas.getBoundingClientRect().left;

  const down = (event: PointerEvent) => {
    if (event.pointerType !== 'touch') return;
    const x = placeOf(event);
    fingers.set(event.pointerId, { ns: timeline.timeAt(x), x });
    if (fingers.size < 2) return;
    // The first may have moved the view since it was put on.
    for (const [id, finger] of fingers) fingers.set(id, { ns: timeline.timeAt(finger.x), x: finger.x });
    canvas.setPointerCapture(event.pointerId);
    event.stopImmediatePropagation();
    onBegin();
  };
  const move = (event: PointerEvent) => {
    const own = fingers.get(event.pointerId);
    if (!own) return;
    own.x = placeOf(event);
    if (fingers.size < 2) return;
    event.stopImmediatePropagation();
    const [a, b] = [...fingers.values()].sort((one, other) => one.x - other.x);
    if (b.x - a.x < LEAST_APART || b.ns <= a.ns) return;
    const nsPerPixel = (b.ns - a.ns) / (b.x - a.x);
    const fromNs = a.ns - a.x * nsPerPixel;
    moveWindow(pane, { fromNs, toNs: fromNs + timeline.frame().width * nsPerPixel });
  };
  const up = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId)) return;
    // A finger that is left over is not a click.
    if (fingers.size > 0) event.stopImmediatePropagation();
  };
  const handlers = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up };
  const entries = Object.entries(handlers) as [string, (event: PointerEvent) => void][];
  for (const [name, handler] of entries) canvas.addEventListener(name, handler as EventListener);
  return () => {
    for (const [name, handler] of entries) canvas.removeEventListener(name, handler as EventListener);
  };
}
