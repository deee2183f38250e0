/** Which step of another profile corresponds to a step of this one. */
import type { StepsDocument } from '../timeline/wire.js';

/**
 * The step with the same iteration number and phase; where the numbers do not meet, the one at the same place among
 * steps of the phase. -1 when the other profile has no step of that phase.
 */
export function alignedStep(from: StepsDocument, to: StepsDocument, index: number): number {
  const phase = from.phase[index];
  const number = from.iteration[index];
  const same = to.iteration.findIndex((other, i) => other === number && to.phase[i] === phase);
  if (same >= 0) return same;
  const own = placesOf(from, phase);
  const others = placesOf(to, phase);
  if (others.length === 0) return -1;
  return others[Math.min(own.indexOf(index), others.length - 1)];
}

function placesOf(steps: StepsDocument, phase: number): number[] {
  return steps.phase.flatMap((other, i) => (other === phase ? [i] : []));
}
