/** Notes on what is shown: fetched with a profile, kept by the server beside its file. */
import { effect, signal } from '@preact/signals';
import type { NotesChange, NotesDocument, WrittenNote } from '../timeline/notes.js';
import { notify } from './announce.js';
import { askJson } from './api.js';
import { asProblem } from './documents.js';
import { type Pane, panel, panes } from './state.js';

const known = signal<ReadonlyMap<number, NotesDocument>>(new Map());

export const notesOf = (pane: Pane): NotesDocument | undefined => known.value.get(pane.id);

function keep(pane: Pane, document: NotesDocument): void {
  known.value = new Map(known.peek()).set(pane.id, document);
}

export function followNotes(): void {
  effect(() => {
    for (const pane of panes.value) {
      // Others may write notes too: whoever comes to read them sees the latest.
      const isRead = panel.value === 'notes';
      if (known.peek().has(pane.id) && !isRead) continue;
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

/** Only what was done is sent: somebody else may have changed the notes since they were fetched. */
async function save(pane: Pane, change: Partial<NotesChange>): Promise<void> {
  try {
    const answer = await askJson<NotesDocument>(`/api/profiles/${pane.id}/notes`, {
      method: 'PUT',
      headers: { 'X-Stepscope': '1', 'Content-Type': 'application/json' },
      body: JSON.stringify(change),
    });
    keep(pane, answer);
  } catch (error) {
    tell(error);
  }
}

/** What a note that is written now is about: the narrowest thing that is selected, else what is in view. */
export function subjectOf(pane: Pane): Omit<WrittenNote, 'id' | 'text'> & { readonly words: string } {
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
  return save(pane, { add: [{ id: newId(), text, ...place }] });
};

export const removeNote = (pane: Pane, note: WrittenNote): Promise<void> => save(pane, { remove: [note.id] });

/** A page that another machine serves without TLS has no `randomUUID`. */
const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(12))].map(byte => byte.toString(16).padStart(2, '0')).join('');
