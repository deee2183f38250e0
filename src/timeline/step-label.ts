/** What a step is called on the timeline: `12 prefill · 32 ctx`; of no known phase, its number. */
import type { StepFacts } from '../catalog/engine-markers.js';
import { phases } from '../catalog/phases.js';

/** `32 ctx, 8 gen`; empty where the engine did not say. */
export function batchText({ contextRequests, generationRequests }: StepFacts): string {
  return [
    contextRequests ? `${contextRequests} ctx` : '',
    generationRequests ? `${generationRequests} gen` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

export function stepLabel(iteration: number, facts: StepFacts): string {
  const label = facts.phase === 'unknown' ? '' : ` ${phases.find(({ id }) => id === facts.phase)!.label}`;
  const batch = batchText(facts);
  return `${iteration}${label}${batch ? ` · ${batch}` : ''}`;
}
