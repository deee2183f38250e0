/** Two lines: what happened, what to do. */
import type { Problem } from '../problem.js';

export function ProblemView({ problem }: { readonly problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <p>{problem.message}</p>
      <p class="muted">{problem.hint}</p>
    </div>
  );
}
