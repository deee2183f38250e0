/** The answer, before anything else on the page. */
import type { AnswerDocument, PanelDocument } from '../timeline/wire.js';
import { activePane, letterOf } from './active-pane.js';
import { answerPath, comparePath, useDocument } from './documents.js';
import { inSelection, selectionName } from './selection-words.js';
import { panes } from './state.js';

export function Verdict() {
  const [first, second] = panes.value;
  const pane = activePane.value;
  const answer = useDocument<AnswerDocument>(pane ? answerPath(pane) : null);
  const compared = useDocument<PanelDocument>(comparePath(first, second));
  if (!pane) return null;
  // Of two profiles, how they differ is the answer.
  const difference = second && compared.document?.blocks.find(block => block.kind === 'statement');
  const words = inSelection(pane);
  const lines = difference?.lines ?? answer.document?.lines.map(words);
  const about = difference ? '' : selectionName(pane);
  const gain = difference ? null : answer.document?.gain;
  const { isLoading, problem } = difference ? compared : answer;
  if (problem)
    return (
      <section class="verdict" aria-label="Verdict">
        <div>
          <h1>{problem.message}</h1>
          <p>{problem.hint}</p>
        </div>
      </section>
    );
  return (
    <section
      class={isLoading && lines ? 'verdict stale' : 'verdict'}
      aria-label="Verdict"
      aria-busy={isLoading}
    >
      <div>
        <h1 title={lines?.[0]}>
          {second && !difference && <b class="letter">{letterOf(pane)}</b>}
          {lines ? lines[0] : <span class="skeleton-line">Reading steps…</span>}
        </h1>
        {/* Two lines whatever there is to say: the steps below must not jump from selection to selection. */}
        <p title={lines?.slice(1).join(' ')}>
          {lines && about !== '' && <b>{about}: </b>}
          {lines?.slice(1).join(' ') || '\u00a0'}
        </p>
      </div>
      {gain && (
        <div class="verdict-gain" title={gain.how}>
          <b>{gain.amount}</b>
          <p>{gain.how}</p>
        </div>
      )}
    </section>
  );
}
