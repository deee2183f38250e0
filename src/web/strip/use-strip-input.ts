/** The mouse on the strip: hovering, choosing a step, brushing a range. */
import { useRef, useState } from 'preact/hooks';
import { makeActive } from '../active-pane.js';
import { type Pane, selectSteps } from '../state.js';
import { barAt, type StripLayout, stepsOfBars } from './strip-layout.js';

interface Hover {
  readonly bar: number;
  readonly x: number;
}

export function useStripInput(pane: Pane, layout: StripLayout) {
  const [hover, setHover] = useState<Hover | null>(null);
  const from = useRef<number | null>(null);
  const placeOf = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return Math.min(Math.max(event.clientX - box.left, 0), box.width - 1);
  };
  const lastBar = layout.slowest.length - 1;
  const brush = (start: number, end: number, show: boolean) => {
    // One bar of many steps stands for the slowest of them.
    const slowest = layout.slowest[start];
    const span = start === end ? { first: slowest, last: slowest } : stepsOfBars(layout, start, end);
    selectSteps(pane, span, show);
  };

  return {
    hover,
    handlers: {
      onPointerDown(event: PointerEvent) {
        if (event.button !== 0) return;
        makeActive(pane);
        const bar = barAt(layout, placeOf(event));
        if (bar < 0) return selectSteps(pane, null);
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        const selected = pane.steps.value;
        if (event.shiftKey && selected) {
          const { first, last } = stepsOfBars(layout, bar, bar);
          selectSteps(pane, { first: Math.min(selected.first, first), last: Math.max(selected.last, last) });
          return;
        }
        from.current = bar;
        brush(bar, bar, false);
      },
      onPointerMove(event: PointerEvent) {
        const x = placeOf(event);
        const bar = barAt(layout, x);
        setHover(bar < 0 ? null : { bar, x });
        if (from.current !== null) brush(from.current, bar < 0 ? lastBar : bar, false);
      },
      onPointerUp(event: PointerEvent) {
        if (from.current === null) return;
        const bar = barAt(layout, placeOf(event));
        const start = from.current;
        from.current = null;
        brush(start, bar < 0 ? lastBar : bar, true);
      },
      onPointerCancel() {
        from.current = null;
      },
      onPointerLeave() {
        setHover(null);
      },
    },
  };
}
