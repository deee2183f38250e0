/** The line between timeline and panels, moved with the mouse or with arrow keys. */
import { signal } from '@preact/signals';

const KEY = 'stepscope-side';
const LEAST = 300;
const STEP = 24;

const widest = () => Math.max(LEAST, Math.round(window.innerWidth * 0.62));
const clamped = (width: number) => Math.min(Math.max(Math.round(width), LEAST), widest());

/** Tables have more columns where there is room for them. */
const usual = () => Math.min(640, Math.max(420, window.innerWidth * 0.25));

function remembered(): number {
  try {
    return Number(localStorage.getItem(KEY)) || usual();
  } catch {
    return usual();
  }
}

export const sideWidth = signal(clamped(remembered()));

function setWidth(width: number): void {
  sideWidth.value = clamped(width);
  try {
    localStorage.setItem(KEY, String(sideWidth.value));
  } catch {
    // Not remembered, then.
  }
}

export function SideSeparator() {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      class="separator"
      role="separator"
      tabIndex={0}
      aria-label="Panel width"
      aria-orientation="vertical"
      aria-valuemin={LEAST}
      aria-valuemax={widest()}
      aria-valuenow={sideWidth.value}
      onPointerDown={event => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={event => {
        if (event.currentTarget.hasPointerCapture(event.pointerId))
          setWidth(window.innerWidth - event.clientX);
      }}
      onDblClick={() => setWidth(usual())}
      onKeyDown={event => {
        const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        setWidth(sideWidth.value + by);
      }}
    />
  );
}
