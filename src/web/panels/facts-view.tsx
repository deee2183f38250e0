/** Labelled statements. */
import type { FactsBlock } from '../../analyze/block.js';
import { printable } from '../../base/printable.js';

export function FactsView({ block: { title, facts } }: { readonly block: FactsBlock }) {
  return (
    <section class="block">
      <h3>{title}</h3>
      {facts.length === 0 && <p class="muted">Nothing to report.</p>}
      <dl class="facts">
        {facts.map(({ label, text, tone, hint }) => (
          <div key={`${label}/${text}`} class={tone}>
            <dt>{label}</dt>
            <dd>
              {printable(text)}
              {hint && <span class="hint">→ {printable(hint)}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
