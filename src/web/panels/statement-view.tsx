/** Sentences: the answer, then why. */
import type { StatementBlock } from '../../analyze/block.js';

export function StatementView({ block: { lines, quiet } }: { readonly block: StatementBlock }) {
  return (
    <section class="block">
      {lines.map((line, i) => (
        <p key={line} class={quiet ? 'muted' : i === 0 ? 'lead' : undefined}>
          {line}
        </p>
      ))}
    </section>
  );
}
