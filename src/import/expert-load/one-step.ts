/** Loads that are one block of counts in memory, or a few: what small text formats give. */
import { NoteCounter } from '../../base/notes.js';
import type { ExpertLoads, LoadPhase, LoadShape } from '../../model/expert-load.js';
import type { LoadContent } from './load-content.js';

interface HeldStep {
  readonly iteration: number;
  readonly phase?: LoadPhase;
  readonly counts: Float64Array;
}

export function oneStep(
  content: LoadContent,
  format: string,
  shape: LoadShape,
  counts: Float64Array,
  notes = new NoteCounter(),
): ExpertLoads {
  return heldSteps(content, format, shape, [{ iteration: 0, counts }], notes);
}

export function heldSteps(
  content: LoadContent,
  format: string,
  shape: LoadShape,
  steps: readonly HeldStep[],
  notes = new NoteCounter(),
  rank?: number,
): ExpertLoads {
  return {
    kind: 'counts',
    source: { file: content.name, format },
    shape: { ...shape, iterations: steps.length },
    ...(rank === undefined ? {} : { rank }),
    notes,
    steps: () => steps,
    close: () => content.close(),
  };
}
