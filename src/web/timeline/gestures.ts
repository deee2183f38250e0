/**
 * Mouse and trackpad: drag pans, wheel scrolls, Ctrl or pinch zooms where the mouse is, sideways wheel pans, shift-drag
 * measures, a click selects, a double click zooms to what was clicked, dragging over the ruler zooms to the stretch.
 */
import { moveWindow, type Pane, selectSteps, showWindow } from '../state.js';
import type { Hit, TimelineCanvas } from './timeline-canvas.js';

/** Pixels the mouse may move in a click. */
const STILL = 3;
const ZOOM_PER_PIXEL = 0.0032;
const MERGED_ZOOM = 0.2;

interface GestureHandlers {
  onHover(hit: Hit | undefined, x: number, y: number): void;
}

export function attachGestures(
  timeline: TimelineCanvas,
  ruler: HTMLElement,
  { onHover }: GestureHandlers,
): () => void {
  const { pane, canvas } = timeline;
  const place = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  let drag: {
    x: number;
    y: number;
    at: number;
    from: number;
    to: number;
    measures: boolean;
    moved: boolean;
  } | null = null;

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { x, y } = place(event);
    const { fromNs, toNs } = pane.window.value;
    drag = { x, y, at: timeline.timeAt(x), from: fromNs, to: toNs, measures: event.shiftKey, moved: false };
    canvas.setPointerCapture(event.pointerId);
    onHover(undefined, x, y);
  };
  const move = (event: PointerEvent) => {
    const { x, y } = place(event);
    if (!drag) {
      onHover(timeline.hit(x, y), event.clientX, event.clientY);
      return;
    }
    if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > STILL) drag.moved = true;
    if (!drag.moved) return;
    if (drag.measures) pane.measure.value = { fromNs: drag.at, toNs: timeline.timeAt(x) };
    else {
      const { nsPerPixel } = timeline.frame();
      const shift = (drag.x - x) * nsPerPixel;
      moveWindow(pane, { fromNs: drag.from + shift, toNs: drag.to + shift });
    }
  };
  const up = (event: PointerEvent) => {
    const done = drag;
    drag = null;
    if (done && !done.moved) click(timeline, timeline.hit(done.x, done.y), event.shiftKey);
  };
  const leave = () => onHover(undefined, 0, 0);
  const twice = (event: MouseEvent) => {
    const { x, y } = place(event);
    const hit = timeline.hit(x, y);
    if (hit) showWindow(pane, { fromNs: hit.startNs, toNs: hit.endNs });
  };
  const wheel = (event: WheelEvent) => {
    const { fromNs, toNs } = pane.window.value;
    const pixel = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoomAt(pane, timeline.timeAt(place(event).x), Math.exp(event.deltaY * pixel * ZOOM_PER_PIXEL));
      return;
    }
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (sideways === 0) return;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) event.preventDefault();
    const shift = sideways * pixel * timeline.frame().nsPerPixel;
    moveWindow(pane, { fromNs: fromNs + shift, toNs: toNs + shift });
  };
  const stops = [
    ...listen(canvas, {
      pointerdown: down,
      pointermove: move,
      pointerup: up,
      pointerleave: leave,
      dblclick: twice,
    }),
    ...brushOn(timeline, ruler),
  ];
  canvas.addEventListener('wheel', wheel, { passive: false });
  return () => {
    for (const stop of stops) stop();
    canvas.removeEventListener('wheel', wheel);
  };
}

export function zoomAt(pane: Pane, at: number, factor: number): void {
  const { fromNs, toNs } = pane.window.value;
  moveWindow(pane, { fromNs: at - (at - fromNs) * factor, toNs: at + (toNs - at) * factor });
}

function click(timeline: TimelineCanvas, hit: Hit | undefined, extend: boolean): void {
  const { pane } = timeline;
  if (!hit) {
    pane.event.value = null;
    pane.measure.value = null;
    pane.highlights.value = [];
    return;
  }
  if (hit.count > 1) {
    const middle = (hit.startNs + hit.endNs) / 2;
    zoomAt(pane, middle, MERGED_ZOOM);
    return;
  }
  const selected = pane.details.value;
  if (extend && selected) {
    pane.measure.value = { fromNs: selected.startNs, toNs: hit.startNs };
    return;
  }
  if (hit.row.track.palette === 'phase') {
    const middle = (hit.startNs + hit.endNs) / 2;
    const { startNs, endNs } = pane.document.steps;
    const step = startNs.findIndex((start, i) => start <= middle && middle < endNs[i]);
    if (step >= 0) selectSteps(pane, { first: step, last: step }, false);
  }
  pane.event.value = { lane: hit.place.id, index: hit.index };
}

/** Dragging over the ruler marks the stretch to zoom to. */
function brushOn(timeline: TimelineCanvas, ruler: HTMLElement): (() => void)[] {
  let from = Number.NaN;
  const at = (event: PointerEvent) => timeline.timeAt(event.clientX - ruler.getBoundingClientRect().left);
  const set = (window: TimelineCanvas['brush']) => {
    timeline.brush = window;
    timeline.schedule();
  };
  return listen(ruler, {
    pointerdown(event: PointerEvent) {
      from = at(event);
      ruler.setPointerCapture(event.pointerId);
    },
    pointermove(event: PointerEvent) {
      if (!Number.isNaN(from)) set({ fromNs: Math.min(from, at(event)), toNs: Math.max(from, at(event)) });
    },
    pointerup() {
      const { brush } = timeline;
      from = Number.NaN;
      set(null);
      const { nsPerPixel } = timeline.frame();
      if (brush && brush.toNs - brush.fromNs > STILL * nsPerPixel) moveWindow(timeline.pane, brush);
    },
  });
}

type Handlers = Record<string, (event: never) => void>;

function listen(target: HTMLElement, handlers: Handlers): (() => void)[] {
  return Object.entries(handlers).map(([name, handler]) => {
    target.addEventListener(name, handler as unknown as EventListener);
    return () => target.removeEventListener(name, handler as unknown as EventListener);
  });
}
