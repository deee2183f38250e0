/** The selected step in figures, and where its time went. */
import { formatDuration, plural } from '../../base/units.js';
import type { Pane } from '../state.js';
import { spokenSpan, stepFacts } from '../strip/step-words.js';
import { AnalysisPanel } from './analysis-panel.js';

export function StepPanel({ pane }: { readonly pane: Pane }) {
  return (
    <>
      <StepFigures pane={pane} />
      <AnalysisPanel id="step-budget" pane={pane} />
    </>
  );
}

function StepFigures({ pane: { document, steps } }: { readonly pane: Pane }) {
  const span = steps.value;
  const all = document.steps;
  if (!span) {
    const steady = all.state.filter(state => state === 'steady').length;
    if (all.length === 0) return null;
    return (
      <p class="muted block">
        {steady === 1
          ? 'The only step in the steady state.'
          : `The mean of ${plural(steady, 'step')} in the steady state. Choose a step above to see that one alone.`}
      </p>
    );
  }
  if (span.first !== span.last)
    return (
      <section class="block">
        <h3>{spokenSpan(document, span)}</h3>
        <p class="muted figure">
          {formatDuration((all.endNs[span.last] - all.startNs[span.first]) / (span.last - span.first + 1))}{' '}
          from step to step
        </p>
      </section>
    );
  return (
    <section class="block">
      <h3>Iteration {all.iteration[span.first]}</h3>
      <dl class="facts">
        {stepFacts(document, span.first).map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
