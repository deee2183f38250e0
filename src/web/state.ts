/**
 * What the page shows, as signals. A pane is one profile on screen; comparing puts two panes in lock step. Everything
 * that changes the view goes through the functions here, so that panes stay aligned and the address stays true.
 */
import { batch, type Signal, signal } from '@preact/signals';
import type { StepSpan } from '../timeline/spans.js';
import type { EventDocument, SearchDocument, TimelineDocument } from '../timeline/wire.js';
import { alignedStep } from './align-steps.js';
import type { RowHeight } from './row-heights.js';

export interface TimeWindow {
  readonly fromNs: number;
  readonly toNs: number;
}

interface EventAddress {
  readonly lane: number;
  readonly index: number;
}

/** A stretch the timeline outlines: the evidence of a finding, the row of a table. */
export interface Highlight extends TimeWindow {
  readonly label: string;
}

/** What was dragged over: a stretch of time on some tracks. */
export interface Area extends TimeWindow {
  /** Ids of tracks; none: all. */
  readonly tracks: readonly string[];
}

export interface Pane {
  readonly id: number;
  readonly name: string;
  readonly document: TimelineDocument;
  readonly window: Signal<TimeWindow>;
  /** Positions in document.steps, both included; null: nothing is selected, panels show the steady state. */
  readonly steps: Signal<StepSpan | null>;
  /** The steps the strip shows; null: all. */
  readonly stripSpan: Signal<StepSpan | null>;
  readonly event: Signal<EventAddress | null>;
  readonly details: Signal<EventDocument | null>;
  readonly search: Signal<SearchDocument | null>;
  readonly highlights: Signal<readonly Highlight[]>;
  /** What the evidence of a finding names, marked and not set apart from the rest. */
  readonly marks: Signal<SearchDocument | null>;
  readonly measure: Signal<TimeWindow | null>;
  readonly area: Signal<Area | null>;
}

export function createPane(id: number, name: string, document: TimelineDocument): Pane {
  return {
    id,
    name,
    document,
    window: signal(wholeOf(document)),
    steps: signal(null),
    stripSpan: signal(null),
    event: signal(null),
    details: signal(null),
    search: signal(null),
    highlights: signal([]),
    marks: signal(null),
    measure: signal(null),
    area: signal(null),
  };
}

export const panes: Signal<readonly Pane[]> = signal([]);
/** The open panel: an analysis, or one of the page's own (`step`, `event`, `compare`, `notes`). */
export const panel: Signal<string> = signal('findings');
export const query: Signal<string> = signal('');
/** Ids of tracks: held at the top, in this order. */
export const pinned: Signal<ReadonlySet<string>> = signal(new Set());
/** Ids of tracks and groups: opened or folded against what the profile proposes. */
export const toggled: Signal<ReadonlySet<string>> = signal(new Set());
/** Text that track names must contain. */
export const trackFilter: Signal<string> = signal('');
/** Ids of tracks that were moved: each stands before the track named. */
export const moved: Signal<ReadonlyMap<string, string>> = signal(new Map());
export const rowHeight: Signal<RowHeight> = signal('normal');
/** The finding whose evidence is shown: `rule/phase`. */
export const openFinding: Signal<string | null> = signal(null);
/** What the Selection panel counts and how it splits it; empty: what the selection proposes. */
export const countedKind: Signal<string> = signal('');
export const splitBy: Signal<string> = signal('');
/** Durations that the bar chart of the Selection panel was clicked for; null: all. */
export const durations: Signal<TimeWindow | null> = signal(null);
/** Ids in a palette; others are dimmed. Empty: all. */
export const litTones: Signal<ReadonlySet<string>> = signal(new Set());

const SHORTEST_WINDOW_NS = 50;

const wholeOf = ({ startNs, endNs }: TimelineDocument): TimeWindow => {
  const margin = (endNs - startNs) * 0.01;
  return { fromNs: startNs - margin, toNs: endNs + margin };
};

/** Never wider than the profile, never beyond its ends. */
function clampWindow({ fromNs, toNs }: TimeWindow, document: TimelineDocument): TimeWindow {
  const whole = wholeOf(document);
  const span = Math.min(Math.max(toNs - fromNs, SHORTEST_WINDOW_NS), whole.toNs - whole.fromNs);
  const middle = (fromNs + toNs) / 2;
  const from = Math.min(Math.max(middle - span / 2, whole.fromNs), whole.toNs - span);
  return { fromNs: from, toNs: from + span };
}

/** Where the pane's time begins to count in lock step: the selected step, else the first, else the profile. */
const anchorOf = ({ steps, document }: Pane): number =>
  document.steps.startNs[steps.value?.first ?? 0] ?? document.startNs;

export function moveWindow(pane: Pane, window: TimeWindow): void {
  batch(() => {
    const kept = clampWindow(window, pane.document);
    pane.window.value = kept;
    for (const other of panes.value) {
      if (other === pane) continue;
      const shift = anchorOf(other) - anchorOf(pane);
      // Not clamped: the same moment must stay above the same moment, even where one profile has ended.
      other.window.value = { fromNs: kept.fromNs + shift, toNs: kept.toNs + shift };
    }
  });
}

/** Selects steps, shows them, and lets the other pane follow to the steps that correspond. */
export function selectSteps(pane: Pane, span: StepSpan | null, show = true): void {
  batch(() => {
    pane.steps.value = span;
    followStrip(pane, span);
    for (const other of panes.value) {
      if (other !== pane) other.steps.value = span && alignedSpan(pane, other, span);
    }
    if (show) showSteps(pane);
  });
}

/** A zoomed strip moves on to the steps that were selected. */
function followStrip({ stripSpan }: Pane, span: StepSpan | null): void {
  const shown = stripSpan.value;
  if (!shown || !span || (span.first >= shown.first && span.first <= shown.last)) return;
  const shift = span.first < shown.first ? span.first - shown.first : span.last - shown.last;
  stripSpan.value = { first: shown.first + shift, last: shown.last + shift };
}

function alignedSpan(pane: Pane, other: Pane, { first, last }: StepSpan): StepSpan | null {
  const from = alignedStep(pane.document.steps, other.document.steps, first);
  const to = alignedStep(pane.document.steps, other.document.steps, last);
  return from < 0 || to < 0 ? null : { first: Math.min(from, to), last: Math.max(from, to) };
}

/** Brings the selected steps into view with a little of what is around them. */
export function showSteps(pane: Pane): void {
  const span = pane.steps.value;
  if (!span) return;
  const { startNs, endNs } = pane.document.steps;
  showWindow(pane, { fromNs: startNs[span.first], toNs: endNs[span.last] });
}

/** With a margin, which ends where the profile does: what is shown stays in the middle. */
export function showWindow(pane: Pane, { fromNs, toNs }: TimeWindow): void {
  const margin = Math.max((toNs - fromNs) * 0.08, SHORTEST_WINDOW_NS);
  const whole = wholeOf(pane.document);
  const left = Math.max(fromNs - margin, Math.min(fromNs, whole.fromNs));
  const right = Math.min(toNs + margin, Math.max(toNs, whole.toNs));
  moveWindow(pane, { fromNs: left, toNs: right });
}

export function toggle(set: Signal<ReadonlySet<string>>, id: string): void {
  const next = new Set(set.value);
  if (!next.delete(id)) next.add(id);
  set.value = next;
}
