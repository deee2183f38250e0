/** What the capture does not hold, and how to record it: never a zero. */
import type { NotRecordedBlock } from '../../analyze/block.js';

export function NotRecordedView({ block: { title, what, hint } }: { readonly block: NotRecordedBlock }) {
  return (
    <section class="block not-recorded">
      <h3>{title}</h3>
      <p>
        <b>Not recorded:</b> {what}
      </p>
      {hint && <p class="muted">→ {hint}</p>}
    </section>
  );
}
