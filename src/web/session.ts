/** Which profiles are open, being opened, or could not be: from the first question to the server on. */
import { batch, signal } from '@preact/signals';
import type { ErrorDocument, ProfileState, StateDocument, TimelineDocument } from '../timeline/wire.js';
import { activeIndex } from './active-pane.js';
import { askJson } from './api.js';
import { asProblem } from './documents.js';
import { homeWindow } from './home-window.js';
import { Problem } from './problem.js';
import { createPane, moveWindow, type Pane, panes, selectSteps } from './state.js';

export type Screen =
  | { readonly kind: 'starting' }
  /** No profile: a place to drop one. */
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'opening';
      readonly name: string;
      /** For example `Reading rank0.json`. */
      readonly doing: string;
      /** 0: nobody knows. */
      readonly done: number;
    }
  | { readonly kind: 'failed'; readonly name: string; readonly error: ErrorDocument['error'] }
  | { readonly kind: 'ready' };

export const screen = signal<Screen>({ kind: 'starting' });
/** All the server knows, for choosing another. */
export const profiles = signal<readonly ProfileState[]>([]);

/** What SQL can ask: the columns of the selection, and the tables of the profile; null: it cannot be asked here. */
export const sqlTables = signal<Pick<StateDocument, 'sql' | 'sqlTables'> | null>(null);

/** Short: what is ready should be shown at once. */
const POLL_MS = 40;
const wait = (ms: number) => new Promise(done => window.setTimeout(done, ms));

export async function refreshState(): Promise<StateDocument> {
  const state = await askJson<StateDocument>('/api/state');
  profiles.value = state.profiles;
  if (!sqlTables.peek() && state.sql) sqlTables.value = { sql: state.sql, sqlTables: state.sqlTables };
  return state;
}

/** Waits until the profile can be shown, telling how far it is. Throws a Problem where it cannot. */
async function ready(id: number): Promise<ProfileState> {
  for (;;) {
    const state = (await refreshState()).profiles.find(profile => profile.id === id);
    if (!state) throw asProblem(new Error(`profile ${id} does not exist`));
    if (state.status === 'ready') return state;
    if (state.status === 'failed')
      throw new Problem(state.error?.message ?? 'The file could not be opened.', state.error?.hint ?? '');
    if (state.status === 'opening')
      screen.value = {
        kind: 'opening',
        name: state.name,
        doing: state.doing ?? `Opening ${state.name}`,
        done: state.done,
      };
    await wait(POLL_MS);
  }
}

async function loadPane(id: number): Promise<Pane> {
  const known = panes.value.find(pane => pane.id === id);
  if (known) return known;
  const { name } = await ready(id);
  return createPane(id, name, await askJson<TimelineDocument>(`/api/profiles/${id}/timeline`));
}

/** Shows one profile, or two side by side. What was on screen stays reachable if that fails. */
export async function openProfiles(ids: readonly number[]): Promise<boolean> {
  let name = '';
  try {
    const opened: Pane[] = [];
    for (const id of ids.slice(0, 2)) {
      name = profiles.value.find(profile => profile.id === id)?.name ?? '';
      opened.push(await loadPane(id));
    }
    batch(() => {
      panes.value = opened;
      activeIndex.value = 0;
      screen.value = { kind: 'ready' };
      // A pane that was there keeps its steps, and the one beside it follows.
      if (opened[0].steps.value) selectSteps(opened[0], opened[0].steps.value);
      else moveWindow(opened[0], homeWindow(opened[0].document));
    });
    return true;
  } catch (error) {
    fail(name, error);
    return false;
  }
}

/** What could not be opened, over what is on screen already. */
export const trouble = signal<{ readonly name: string; readonly error: ErrorDocument['error'] } | null>(null);

export function fail(name: string, error: unknown): void {
  const { message, hint } = asProblem(error);
  const what = { name, error: { message, hint } };
  // What is on screen stays there.
  if (panes.value.length > 0) {
    trouble.value = what;
    screen.value = { kind: 'ready' };
  } else screen.value = { kind: 'failed', ...what };
}

/** From a failed opening back to the empty page. */
export function goBack(): void {
  screen.value = { kind: 'empty' };
}
