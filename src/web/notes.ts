/** Notes on what is shown: fetched with a profile, kept by the server beside its file. */
import { effect, signal } from '@preact/signals';
import type { NotesDocument, WrittenNote } from '../timeline/notes.js';
import { notify } from './announce.js';
import { askJson } from './api.js';
import { asProblem } from './documents.js';
import { type Pane, panes } from './state.js';

const known = signal<ReadonlyMap<number, NotesDocument>>(new Map());

export const notesOf = (pane: Pane): NotesDocument | undefined => known.value.get(pane.id);

function keep(pane: Pane, document: NotesDocument): void {
  known.value = new Map(known.peek()).set(pane.id, document);
}

export function followNotes(): void {
  effect(() => {
    for (const pane of panes.value) {
      if (known.peek().has(pane.id)) continue;
      askJson<NotesDocument>(`/api/profiles/${pane.id}/notes`).then(
        document => keep(pane, document),
        error => tell(error),
      );
    }
  });
}

const tell = (error: unknown) => {
  const { message, hint } = asProblem(error);
  notify(`${message} ${hint}`, true);
};

async function save(pane: Pane, notes: readonly WrittenNote[]): Promise<void> {
  try {
    const answer = await askJson<NotesDocument>(`/api/profiles/${pane.id}/notes`, {
      method: 'PUT',
      headers: { 'X-Stepscope': '1', 'Content-Type': 'application/json' },
      body: JSON.stringify({ notes }),
    });
    keep(pane, answer);
  } catch (error) {
    tell(error);
  }
}

/** What a note that is written now is about: the narrowest thing that is selected, else what is in view. */
export function subjectOf(pane: Pane): Omit<WrittenNote, 'text'> & { readonly words: string } {
  const [event, details, area, steps] = [
    pane.event.value,
    pane.details.value,
    pane.area.value,
    pane.steps.value,
  ];
  if (event && details)
    return { fromNs: details.startNs, toNs: details.endNs, event: { ...event }, words: details.title };
  if (area) return { fromNs: area.fromNs, toNs: area.toNs, words: 'the selected area' };
  const { iteration, startNs, endNs } = pane.document.steps;
  if (steps)
    return {
      fromNs: startNs[steps.first],
      toNs: endNs[steps.last],
      words:
        steps.first === steps.last
          ? `step ${iteration[steps.first]}`
          : `steps ${iteration[steps.first]} to ${iteration[steps.last]}`,
    };
  return { ...pane.window.value, words: 'the visible range' };
}

export const addNote = (pane: Pane, text: string): Promise<void> => {
  const { words: _, ...place } = subjectOf(pane);
  return save(pane, [...(notesOf(pane)?.notes ?? []), { text, ...place }]);
};

export const removeNote = (pane: Pane, note: WrittenNote): Promise<void> =>
  save(
    pane,
    (notesOf(pane)?.notes ?? []).filter(other => other !== note),
  );
