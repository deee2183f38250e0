/** Who waited for whom in what is on screen: asked when the view comes to rest. */
import { effect, type Signal, signal } from '@preact/signals';
import type { WaitDocument } from '../../timeline/wire.js';
import { askJson } from '../api.js';
import { type Pane, panes } from '../state.js';

const REST_MS = 120;
const known = new WeakMap<Pane, Signal<readonly WaitDocument[]>>();

export function waitsOf(pane: Pane): Signal<readonly WaitDocument[]> {
  let own = known.get(pane);
  if (!own) {
    own = signal([]);
    known.set(pane, own);
  }
  return own;
}

export const hasRanks = ({ document }: Pane): boolean => document.tracks.some(track => track.isSummary);

export function followWaits(): void {
  effect(() => {
    const stops = panes.value.filter(hasRanks).map(pane => effect(() => follow(pane)));
    return () => {
      for (const stop of stops) stop();
    };
  });
}

function follow(pane: Pane): () => void {
  const { fromNs, toNs } = pane.window.value;
  const stop = new AbortController();
  const timer = window.setTimeout(() => {
    const path = `/api/profiles/${pane.id}/waits?from=${Math.floor(fromNs)}&to=${Math.ceil(toNs)}`;
    askJson<WaitDocument[]>(path, { signal: stop.signal }).then(
      waits => {
        waitsOf(pane).value = waits;
      },
      // Without them the rows are drawn as they are; the next move asks again.
      () => {},
    );
  }, REST_MS);
  return () => {
    window.clearTimeout(timer);
    stop.abort();
  };
}
