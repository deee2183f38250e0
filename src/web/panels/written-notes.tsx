/** What people wrote about the profile: each note leads to its place. */
import { useState } from 'preact/hooks';
import { formatDuration } from '../../base/units.js';
import type { WrittenNote } from '../../timeline/notes.js';
import { selectEvent } from '../event-details.js';
import { addNote, notesOf, removeNote, subjectOf } from '../notes.js';
import { isOffline } from '../offline/offline.js';
import { type Pane, showWindow } from '../state.js';

export function WrittenNotes({ pane }: { readonly pane: Pane }) {
  const document = notesOf(pane);
  const [text, setText] = useState('');
  const notes = document?.notes ?? [];
  const submit = () => {
    if (text.trim() === '') return;
    void addNote(pane, text.trim());
    setText('');
  };
  return (
    <section class="block">
      <h3>Your notes</h3>
      <ul class="plain">
        {notes.map(note => (
          <li key={note.id} class="note-item">
            <button type="button" class="text" onClick={() => show(pane, note)}>
              {note.text}
            </button>
            <span class="muted figure">
              {(note.fromNs / 1e6).toFixed(3)} ms, {formatDuration(note.toNs - note.fromNs)}
            </span>
            {!isOffline && (
              <button
                type="button"
                class="small"
                aria-label={`Remove the note ${note.text.slice(0, 40)}`}
                onClick={() => void removeNote(pane, note)}
              >
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {!isOffline && (
        <form
          class="note-form"
          onSubmit={event => {
            event.preventDefault();
            submit();
          }}
        >
          <textarea
            rows={2}
            aria-label="New note"
            placeholder={`A note on ${subjectOf(pane).words}`}
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
          <button type="submit" class="small">
            Add
          </button>
        </form>
      )}
      {!isOffline && (
        <p class="muted">
          {document?.file
            ? `Kept in ${document.file} next to the profile.`
            : 'Kept until the server stops: this profile has no file to write next to.'}
        </p>
      )}
    </section>
  );
}

function show(pane: Pane, { fromNs, toNs, event, text }: WrittenNote): void {
  if (event) selectEvent(pane, event);
  else pane.highlights.value = [{ fromNs, toNs, label: text }];
  showWindow(pane, { fromNs, toNs });
}
