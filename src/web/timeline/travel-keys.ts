/** W and S zoom where the mouse is, A and D pan, smoothly while held. */
import { activePane } from '../active-pane.js';
import { moveWindow, type Pane } from '../state.js';
import { zoomAt } from './gestures.js';
import { pointer } from './pointer.js';

/** Part of the view travelled, and zoomed, per second. */
const PAN_PER_SECOND = 1.1;
const ZOOM_PER_SECOND = 3.2;

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function attachTravelKeys(): () => void {
  const held = new Set<string>();
  let last = 0;
  let ticking = 0;
  const tick = (now: number) => {
    ticking = 0;
    const pane = activePane.value;
    if (held.size === 0 || !pane) return;
    travel(pane, held, Math.min(now - last, 50) / 1000);
    last = now;
    ticking = requestAnimationFrame(tick);
  };
  const down = (event: KeyboardEvent) => {
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const pane = activePane.value;
    if (!pane) return;
    if (!'wasd'.includes(key) || event.shiftKey) return;
    if (!held.has(key)) {
      held.add(key);
      // A short press moves too.
      travel(pane, new Set([key]), 0.05);
      last = performance.now();
      ticking ||= requestAnimationFrame(tick);
    }
    event.preventDefault();
  };
  const up = (event: KeyboardEvent) => held.delete(event.key.toLowerCase());
  const drop = () => held.clear();
  addEventListener('keydown', down);
  addEventListener('keyup', up);
  addEventListener('blur', drop);
  return () => {
    removeEventListener('keydown', down);
    removeEventListener('keyup', up);
    removeEventListener('blur', drop);
    cancelAnimationFrame(ticking);
  };
}

function travel(pane: Pane, held: ReadonlySet<string>, seconds: number): void {
  const { fromNs, toNs } = pane.window.value;
  const span = toNs - fromNs;
  const sideways = (held.has('d') ? 1 : 0) - (held.has('a') ? 1 : 0);
  const inwards = (held.has('w') ? 1 : 0) - (held.has('s') ? 1 : 0);
  const shift = sideways * span * PAN_PER_SECOND * seconds;
  if (shift !== 0) moveWindow(pane, { fromNs: fromNs + shift, toNs: toNs + shift });
  const part = pointer.value?.pane === pane ? pointer.value.part : 0.5;
  if (inwards !== 0)
    zoomAt(pane, fromNs + shift + span * part, Math.exp(-inwards * ZOOM_PER_SECOND * seconds));
}
