/** What people wrote, what was captured, and what was lost, guessed or damaged on the way. */
import { formatCount } from '../../base/units.js';
import type { Pane } from '../state.js';
import { WrittenNotes } from './written-notes.js';

export function NotesPanel({ pane }: { readonly pane: Pane }) {
  const { document } = pane;
  const { notes, facts, steps } = document;
  return (
    <>
      <WrittenNotes pane={pane} />
      <section class="block">
        <h3>Capture</h3>
        <ul class="plain">
          {facts.map(fact => (
            <li key={fact}>{fact}</li>
          ))}
          {steps.length > 0 && (
            <li>
              steps detected by {steps.foundBy.replace('-', ' ')}: {steps.confidence}
            </li>
          )}
        </ul>
      </section>
      <section class="block">
        <h3>Data quality</h3>
        {notes.length === 0 && <p class="muted">No data was lost, inferred or damaged.</p>}
        <ul class="plain notes">
          {notes.map(({ text, severity, count }) => (
            <li key={text} class={severity === 'loss' ? 'bad' : undefined}>
              <b class="figure">{formatCount(count)}</b> {text}
              <span class="tag">{severity}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
