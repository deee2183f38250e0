/**
 * Mouse, trackpad and fingers: drag pans and scrolls, the wheel and two fingers zoom where they are, shift and wheel
 * scroll, a sideways wheel pans, shift-drag selects an area, a click selects an event, a double click zooms to it,
 * dragging over the ruler zooms to the stretch.
 */
import { moveWindow, type Pane, panel, selectSteps, showWindow } from '../state.js';
import { attachPinch } from './pinch.js';
import { pointer } from './pointer.js';
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
    selects: boolean;
    moved: boolean;
    lastY: number;
  } | null = null;

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { x, y } = place(event);
    const { fromNs, toNs } = pane.window.value;
    drag = {
      x,
      y,
      at: timeline.timeAt(x),
      from: fromNs,
      to: toNs,
      selects: event.shiftKey,
      moved: false,
      lastY: y,
    };
    canvas.setPointerCapture(event.pointerId);
    onHover(undefined, x, y);
  };
  const move = (event: PointerEvent) => {
    const { x, y } = place(event);
    pointer.value = { pane, part: x / timeline.frame().width };
    if (!drag) {
      onHover(timeline.hit(x, y), event.clientX, event.clientY);
      return;
    }
    if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > STILL) drag.moved = true;
    if (!drag.moved) return;
    if (drag.selects) {
      const [fromNs, toNs] = [drag.at, timeline.timeAt(x)].sort((a, b) => a - b);
      pane.area.value = { fromNs, toNs, tracks: timeline.tracksBetween(drag.y, y) };
    } else {
      timeline.scrollBy(drag.lastY - y);
      drag.lastY = y;
      const { nsPerPixel } = timeline.frame();
      const shift = (drag.x - x) * nsPerPixel;
      moveWindow(pane, { fromNs: drag.from + shift, toNs: drag.to + shift });
    }
  };
  const up = (event: PointerEvent) => {
    const done = drag;
    drag = null;
    if (done && !done.moved) click(timeline, timeline.hit(done.x, done.y), event.shiftKey);
    else if (done?.selects && pane.area.value) panel.value = 'selection';
  };
  const leave = () => {
    pointer.value = null;
    onHover(undefined, 0, 0);
  };
  const twice = (event: MouseEvent) => {
    const { x, y } = place(event);
    const hit = timeline.hit(x, y);
    if (hit) showWindow(pane, { fromNs: hit.startNs, toNs: hit.endNs });
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const { fromNs, toNs } = pane.window.value;
    const pixel = event.deltaMode === 1 ? 16 : 1;
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.shiftKey && !event.ctrlKey) timeline.scrollBy((event.deltaY || event.deltaX) * pixel);
    else if (isSideways && !event.ctrlKey) {
      const shift = event.deltaX * pixel * timeline.frame().nsPerPixel;
      moveWindow(pane, { fromNs: fromNs + shift, toNs: toNs + shift });
    } else zoomAt(pane, timeline.timeAt(place(event).x), Math.exp(event.deltaY * pixel * ZOOM_PER_PIXEL));
  };
  /** Two fingers zoom, or the browser scrolls the page with one: neither is a drag. */
  const giveUp = () => {
    drag = null;
  };
  const stops = [
    attachPinch(timeline, giveUp),
    ...listen(canvas, {
      pointerdown: down,
      pointermove: move,
      pointerup: up,
      pointercancel: giveUp,
      pointerleave: leave,
      dblclick: twice,
    }),
    ...brushOn(timeline, ruler),
  ];
  const wheeled = [canvas, ruler];
  for (const element of wheeled) element.addEventListener('wheel', wheel, { passive: false });
  return () => {
    for (const stop of stops) stop();
    for (const element of wheeled) element.removeEventListener('wheel', wheel);
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
    pane.area.value = null;
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
      const box = ruler.getBoundingClientRect();
      pointer.value = { pane: timeline.pane, part: (event.clientX - box.left) / box.width };
      if (!Number.isNaN(from)) set({ fromNs: Math.min(from, at(event)), toNs: Math.max(from, at(event)) });
    },
    pointerup(event: PointerEvent) {
      const { brush } = timeline;
      from = Number.NaN;
      set(null);
      const { nsPerPixel } = timeline.frame();
      if (!brush || brush.toNs - brush.fromNs <= STILL * nsPerPixel) return;
      if (event.shiftKey) {
        timeline.pane.area.value = { ...brush, tracks: [] };
        panel.value = 'selection';
      } else moveWindow(timeline.pane, brush);
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
