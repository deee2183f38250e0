/** What was captured, and what was lost, guessed or damaged on the way. */
import { formatCount } from '../../base/units.js';
import type { Pane } from '../state.js';

export function NotesPanel({ pane: { document } }: { readonly pane: Pane }) {
  const { notes, facts, steps } = document;
  return (
    <>
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
        <h3>Notes</h3>
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
