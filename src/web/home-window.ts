/** What of a profile is shown at first: its steady steps, not the minute of loading before them; and what `0` shows. */
import type { TimelineDocument } from '../timeline/wire.js';
import type { TimeWindow } from './state.js';

const MARGIN = 0.02;

export function homeWindow(document: TimelineDocument): TimeWindow {
  const { steps } = document;
  const steady = steps.state.flatMap((state, i) => (state === 'steady' ? [i] : []));
  const [first, last] = steady.length > 0 ? [steady[0], steady[steady.length - 1]] : [0, steps.length - 1];
  if (last < first) return wholeWindow(document);
  const [fromNs, toNs] = [steps.startNs[first], steps.endNs[last]];
  const margin = (toNs - fromNs) * MARGIN;
  return { fromNs: fromNs - margin, toNs: toNs + margin };
}

/** All that was recorded, without empty hours. */
export function wholeWindow(document: TimelineDocument): TimeWindow {
  const { startNs, endNs } = document.main;
  const margin = (endNs - startNs) * MARGIN;
  return { fromNs: startNs - margin, toNs: endNs + margin };
}
