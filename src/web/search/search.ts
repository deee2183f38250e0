/** The search over all open profiles: asks when typing rests, and walks from match to match. */
import { effect, signal } from '@preact/signals';
import { formatCount } from '../../base/units.js';
import type { MatchDocument, SearchDocument } from '../../timeline/wire.js';
import { activePane } from '../active-pane.js';
import { say } from '../announce.js';
import { askJson } from '../api.js';
import { asProblem } from '../documents.js';
import type { Problem } from '../problem.js';
import { moveWindow, type Pane, panes, query } from '../state.js';

export const searchProblem = signal<Problem | null>(null);
export const isSearching = signal(false);
/** The match shown last, of the active pane; -1: none yet. */
export const matchNumber = signal(-1);

const REST_MS = 150;
/** An event is shown with this many times its own length around it, unless the window is narrower already. */
const AROUND = 200;
const LEAST_AROUND = 3;

const path = (pane: Pane, what: string) =>
  `/api/profiles/${pane.id}/search${what}?q=${encodeURIComponent(query.value.trim())}`;

export function followQuery(): void {
  effect(() => {
    const text = query.value.trim();
    const all = panes.value;
    matchNumber.value = -1;
    searchProblem.value = null;
    if (text === '') {
      for (const pane of all) pane.search.value = null;
      isSearching.value = false;
      return undefined;
    }
    isSearching.value = true;
    const stop = new AbortController();
    const timer = window.setTimeout(() => run(all, stop.signal), REST_MS);
    return () => {
      window.clearTimeout(timer);
      stop.abort();
    };
  });
}

async function run(all: readonly Pane[], stop: AbortSignal): Promise<void> {
  try {
    await Promise.all(
      all.map(async pane => {
        pane.search.value = await askJson<SearchDocument>(path(pane, ''), { signal: stop });
      }),
    );
  } catch (error) {
    if ((error as Error).name === 'AbortError') return;
    for (const pane of all) pane.search.value = null;
    searchProblem.value = asProblem(error);
  }
  isSearching.value = false;
}

/** Where somebody looks: the selected steps if they are in view, without the margin before them. */
function firstMoment({ window, steps, document }: Pane): number {
  const { fromNs, toNs } = window.value;
  const selected = steps.value ? document.steps.startNs[steps.value.first] : fromNs;
  return selected > fromNs && selected < toNs ? selected : fromNs;
}

/** The first step goes to the first match in view; from there on one by one, around the end. */
export async function walkMatches(by: 1 | -1): Promise<void> {
  const pane = activePane.value;
  const count = pane?.search.value?.count ?? 0;
  if (!pane || count === 0) return;
  const at = matchNumber.value;
  const where = at < 0 ? `&near=${Math.round(firstMoment(pane))}` : `&n=${(at + by + count) % count}`;
  try {
    const match = await askJson<MatchDocument>(path(pane, '/match') + where);
    matchNumber.value = match.n;
    showMatch(pane, match);
    say(`Match ${formatCount(match.n + 1)} of ${formatCount(count)}`);
  } catch (error) {
    searchProblem.value = asProblem(error);
  }
}

function showMatch(pane: Pane, { lane, index, startNs, endNs }: MatchDocument): void {
  pane.event.value = { lane, index };
  const { fromNs, toNs } = pane.window.value;
  const length = Math.max(1, endNs - startNs);
  const span = Math.max(Math.min(toNs - fromNs, length * AROUND), length * LEAST_AROUND);
  const middle = (startNs + endNs) / 2;
  moveWindow(pane, { fromNs: middle - span / 2, toNs: middle + span / 2 });
}
