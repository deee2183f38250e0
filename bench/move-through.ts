/** Moving through a timeline as a user does, and how long the frames take. */
import type { Page } from 'playwright-core';

const FRAMES = 400;

/** Wheel events as from a user, one per frame: from the whole profile down to single kernels and back, across all of it. */
export function moveThrough(page: Page): Promise<number[]> {
  return page.evaluate(`new Promise(resolve => {
    const canvas = document.querySelector('.timeline-canvas canvas');
    const box = canvas.getBoundingClientRect();
    const times = [];
    let frame = 0;
    let last = performance.now();
    const turn = (init, x) => canvas.dispatchEvent(new WheelEvent('wheel', {
      bubbles: true, cancelable: true, clientX: box.left + box.width * x, clientY: box.top + 80, ...init }));
    const tick = now => {
      if (frame > 5) times.push(now - last);
      last = now;
      if (frame++ >= ${FRAMES}) return resolve(times);
      const part = frame / ${FRAMES};
      // Four zooms, each at a different place; each pans sideways at the deepest level.
      const dive = (part * 4) % 1;
      const x = 0.15 + 0.2 * Math.floor(part * 4);
      if (dive < 0.4) turn({ ctrlKey: true, deltaY: -90 }, x);
      else if (dive < 0.6) turn({ deltaX: 60 }, x);
      else turn({ ctrlKey: true, deltaY: 90 }, x);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  })`);
}

export function framesOf(times: readonly number[]): { readonly medianMs: number; readonly p95Ms: number } {
  const sorted = [...times].sort((a, b) => a - b);
  return { medianMs: sorted[sorted.length >> 1], p95Ms: sorted[Math.floor(sorted.length * 0.95)] };
}
