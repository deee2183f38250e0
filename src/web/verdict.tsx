/** The answer, before anything else on the page. */
import type { AnswerDocument, PanelDocument } from '../timeline/wire.js';
import { activePane, letterOf } from './active-pane.js';
import { Clauses, claimAndFigures } from './clauses.js';
import { answerPath, comparePath, stepsAsked, useDocument } from './documents.js';
import { afterName, inSelection, selectionName } from './selection-words.js';
import { panes } from './state.js';

export function Verdict() {
  const [first, second] = panes.value;
  const pane = activePane.value;
  const answer = useDocument<AnswerDocument>(pane ? answerPath(pane) : null);
  const compared = useDocument<PanelDocument>(comparePath(first, second));
  const span = stepsAsked(answer.answered);
  if (!pane) return null;
  // Of two profiles, how they differ is the answer.
  const difference = second && compared.document?.blocks.find(block => block.kind === 'statement');
  const [headline, ...details] = difference?.lines ?? answer.document?.lines ?? [];
  const about = difference || !answer.document?.hasFigures ? '' : selectionName(pane.document, span);
  const detail = difference ? details.join(' ') : details.map(afterName(span)).join(' ');
  const gain = difference ? null : answer.document?.gain;
  const { isLoading, problem } = difference ? compared : answer;
  if (problem)
    return (
      <section class="verdict" aria-label="Verdict">
        <div>
          <h1 title={problem.message}>
            <span>{problem.message}</span>
          </h1>
        </div>
        <div>
          <p title={problem.hint}>{problem.hint}</p>
        </div>
      </section>
    );
  const claim = headline === undefined || difference ? headline : inSelection(span)(headline);
  return (
    <section
      class={isLoading && claim ? 'verdict stale' : 'verdict'}
      aria-label="Verdict"
      aria-busy={isLoading}
    >
      <div>
        <h1 title={claim}>
          <span>
            {second && !difference && <b class="letter">{letterOf(pane)}</b>}
            {claim === undefined ? (
              <span class="skeleton-line">Reading steps…</span>
            ) : (
              <Clauses text={claim} split={claimAndFigures} />
            )}
          </span>
        </h1>
        {gain && <b class="verdict-gain">{gain.amount}</b>}
      </div>
      {/* Two lines whatever there is to say: the steps below must not jump from selection to selection. */}
      <div>
        <p title={detail}>
          {claim && about !== '' && <b>{about}: </b>}
          <Clauses text={detail || '\u00a0'} />
        </p>
        {gain && (
          <p class="verdict-how" title={gain.how}>
            <Clauses text={gain.how} />
          </p>
        )}
      </div>
    </section>
  );
}
