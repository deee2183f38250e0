/** What is known about the selected event, fetched when one is selected; its panel opens, and closes with it. */
import { effect, untracked } from '@preact/signals';
import type { EventDocument } from '../timeline/wire.js';
import { makeActive } from './active-pane.js';
import { notify } from './announce.js';
import { askJson } from './api.js';
import { asProblem } from './documents.js';
import { type Pane, panel, panes } from './state.js';

let panelBefore = 'findings';

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
