/** The timeline of one pane: ruler, track names and canvas. */
import type { Pane } from '../state.js';

export function TimelineView({ pane }: { readonly pane: Pane }) {
  return <section aria-label={`Timeline of ${pane.name}`} />;
}
