/**
 * Shows what a finding rests on: outlines and marks it in the timeline and brings it into view. A search steps back
 * meanwhile; closing the finding brings it and the view back.
 */
import { batch } from '@preact/signals';
import type { Finding } from '../analyze/findings/finding.js';
import type { SearchDocument } from '../timeline/wire.js';
import { notify } from './announce.js';
import { askJson } from './api.js';
import { asProblem } from './documents.js';
import { evidencePlaces } from './evidence-places.js';
import { openFinding, type Pane, query, showWindow, type TimeWindow } from './state.js';

interface Before {
  readonly pane: Pane;
  readonly window: TimeWindow;
  readonly query: string;
}

/** What was on screen when the first of the findings was opened. */
let before: Before | null = null;

export const findingKey = ({ id, phase }: Finding): string => `${id}/${phase ?? ''}`;

export function showEvidence(pane: Pane, finding: Finding, move = true): void {
  const places = evidencePlaces(finding, pane.document, pane.steps.value?.first ?? null);
  batch(() => {
    if (move) before ??= { pane, window: pane.window.value, query: query.value };
    openFinding.value = findingKey(finding);
    pane.highlights.value = places.highlights;
    query.value = '';
    // Somebody who looks at certain steps is shown the evidence in them.
    const first = places.highlights.find(place => isSelected(pane, place.fromNs)) ?? places.view;
    if (first && move) showWindow(pane, first);
  });
  if (places.query) void mark(pane, places.query);
  else pane.marks.value = null;
}

async function mark(pane: Pane, text: string): Promise<void> {
  const asked = openFinding.value;
  try {
    const found = await askJson<SearchDocument>(
      `/api/profiles/${pane.id}/search?q=${encodeURIComponent(text)}`,
    );
    if (openFinding.value === asked) pane.marks.value = found;
  } catch (error) {
    const { message, hint } = asProblem(error);
    notify(`${message} ${hint}`, true);
  }
}

export function hideEvidence(pane: Pane): void {
  const saved = before;
  before = null;
  batch(() => {
    openFinding.value = null;
    pane.highlights.value = [];
    pane.marks.value = null;
    if (saved?.pane !== pane) return;
    pane.window.value = saved.window;
    query.value = saved.query;
  });
}

function isSelected({ steps, document }: Pane, atNs: number): boolean {
  if (!steps.value) return false;
  const { startNs, endNs } = document.steps;
  return atNs >= startNs[steps.value.first] && atNs < endNs[steps.value.last];
}
