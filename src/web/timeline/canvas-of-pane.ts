/** The canvas each pane is drawn on: for what moves from event to event and for what saves pictures. */
import type { Pane } from '../state.js';
import type { TimelineCanvas } from './timeline-canvas.js';

const canvases = new WeakMap<Pane, TimelineCanvas>();

export function rememberCanvas(pane: Pane, timeline: TimelineCanvas): () => void {
  canvases.set(pane, timeline);
  return () => canvases.delete(pane);
}

export const canvasOf = (pane: Pane): TimelineCanvas | undefined => canvases.get(pane);
