/** What is known about the selected event, fetched when one is selected; its panel opens, and closes with it. */
import { effect, untracked } from '@preact/signals';
import type { EventDocument } from '../timeline/wire.js';
import { makeActive } from './active-pane.js';
import { notify, say } from './announce.js';
import { askJson } from './api.js';
import { asProblem } from './documents.js';
import { moveWindow, type Pane, panel, panes } from './state.js';
import { canvasOf } from './timeline/canvas-of-pane.js';

let panelBefore = 'findings';
/** The pane whose next event is to be brought into view when its place is known. */
let bringing: Pane | null = null;

/** Selects an event and follows it where it is out of view. */
export function selectEvent(pane: Pane, event: { readonly lane: number; readonly index: number }): void {
  bringing = pane;
  pane.event.value = event;
}

function bringIntoView(pane: Pane, { startNs, endNs, lane }: EventDocument): void {
  const { fromNs, toNs } = pane.window.value;
  if (endNs < fromNs || startNs > toNs) {
    const shift = (startNs + endNs) / 2 - (fromNs + toNs) / 2;
    moveWindow(pane, { fromNs: fromNs + shift, toNs: toNs + shift });
  }
  canvasOf(pane)?.reveal(lane);
}

export function followEvents(): void {
  effect(() => {
    const stops = panes.value.map(pane => effect(() => follow(pane)));
    return () => {
      for (const stop of stops) stop();
    };
  });
}

function follow(pane: Pane): (() => void) | undefined {
  const event = pane.event.value;
  if (!event) {
    untracked(() => {
      pane.details.value = null;
      if (panel.value === 'event' && panes.value.every(other => other.event.value === null))
        panel.value = panelBefore;
    });
    return undefined;
  }
  const stop = new AbortController();
  untracked(() => {
    makeActive(pane);
    for (const other of panes.value) if (other !== pane) other.event.value = null;
    if (panel.value !== 'event') {
      panelBefore = panel.value;
      panel.value = 'event';
    }
  });
  askJson<EventDocument>(`/api/profiles/${pane.id}/events/${event.lane}/${event.index}`, {
    signal: stop.signal,
  }).then(
    details => {
      pane.details.value = details;
      say(spokenEvent(details));
      if (bringing === pane) bringIntoView(pane, details);
      bringing = null;
    },
    error => {
      if ((error as Error).name === 'AbortError') return;
      pane.event.value = null;
      const { message, hint } = asProblem(error);
      notify(`${message} ${hint}`, true);
    },
  );
  return () => stop.abort();
}

/** For those who do not see which one it is. */
const spokenEvent = ({ title, facts }: EventDocument): string =>
  [title, ...facts.slice(0, 2).map(({ label, text }) => `${label} ${text}`)].join(', ');
