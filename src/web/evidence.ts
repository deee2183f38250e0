/** Shows what a finding rests on: outlines it in the timeline and brings the first place into view. */
import { batch } from '@preact/signals';
import type { Finding } from '../analyze/findings/finding.js';
import { evidencePlaces } from './evidence-places.js';
import { type Pane, query, showWindow } from './state.js';

export function highlightEvidence(pane: Pane, finding: Finding): void {
  const places = evidencePlaces(finding, pane.document);
  batch(() => {
    pane.highlights.value = places.highlights;
    if (places.query) query.value = places.query;
    // Somebody who looks at certain steps is shown the evidence in them.
    const first = places.highlights.find(place => isSelected(pane, place.fromNs)) ?? places.highlights[0];
    if (first) showWindow(pane, first);
  });
}

function isSelected({ steps, document }: Pane, atNs: number): boolean {
  if (!steps.value) return false;
  const { startNs, endNs } = document.steps;
  return atNs >= startNs[steps.value.first] && atNs < endNs[steps.value.last];
}
