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
import {
  openFinding,
  type Pane,
  panes,
  query,
  showWindow,
  type TimeWindow,
  toggle,
  toggled,
} from './state.js';
import { groupKey } from './timeline/layout.js';

interface Before {
  readonly pane: Pane;
  readonly window: TimeWindow;
  readonly query: string;
  readonly toggled: ReadonlySet<string>;
}

/** What was on screen when the first of the findings was opened. */
let before: Before | null = null;
/** The finding whose evidence is marked. */
let shown: string | null = null;

export const findingKey = ({ id, phase }: Finding): string => `${id}/${phase ?? ''}`;

export function showEvidence(pane: Pane, finding: Finding, move = true): void {
  const places = evidencePlaces(finding, pane.document, pane.steps.value?.first ?? null);
  batch(() => {
    if (move) before ??= { pane, window: pane.window.value, query: query.value, toggled: toggled.value };
    openFinding.value = findingKey(finding);
    shown = findingKey(finding);
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
    if (openFinding.value !== asked) return;
    pane.marks.value = found;
    unfoldMarked(pane, found);
  } catch (error) {
    const { message, hint } = asProblem(error);
    notify(`${message} ${hint}`, true);
  }
}

/** Marks that are all inside folded groups would not be seen: the first of these is opened. */
function unfoldMarked({ document }: Pane, { byTrack }: SearchDocument): void {
  const hasRows = document.tracks.some(track => track.isSummary);
  const marked = new Set(byTrack.map(({ track }) => track));
  const tracks = document.tracks.filter(({ id }) => marked.has(id));
  if (!hasRows || tracks.length === 0 || tracks.some(track => track.isSummary)) return;
  const groups = tracks.map(({ group }) => document.groups.find(({ id }) => id === group)!);
  const keys = groups.map(({ id, under }) => groupKey(under ?? id));
  if (!keys.some(key => toggled.value.has(key))) toggle(toggled, keys[0]);
}

/** Another view was gone to: nothing is marked, and what was on screen before a finding does not come back. */
export function forgetEvidence(): void {
  before = null;
  shown = null;
  for (const { highlights, marks } of panes.value) {
    highlights.value = [];
    marks.value = null;
  }
}

/** A finding that an address names shows its evidence where the address says. */
export function showNamed(pane: Pane, finding: Finding): void {
  if (shown !== findingKey(finding)) showEvidence(pane, finding, false);
}

export function hideEvidence(pane: Pane): void {
  const saved = before;
  before = null;
  shown = null;
  batch(() => {
    openFinding.value = null;
    pane.highlights.value = [];
    pane.marks.value = null;
    if (saved?.pane !== pane) return;
    pane.window.value = saved.window;
    query.value = saved.query;
    toggled.value = saved.toggled;
  });
}

function isSelected({ steps, document }: Pane, atNs: number): boolean {
  if (!steps.value) return false;
  const { startNs, endNs } = document.steps;
  return atNs >= startNs[steps.value.first] && atNs < endNs[steps.value.last];
}
