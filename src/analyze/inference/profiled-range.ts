/**
 * TensorRT-LLM's TLLM_PROFILE_START_STOP=A-B covered B up to early 2026 and stops before it since. The captured
 * steps say which; the report names what was observed, never what was asked for.
 */

import { engineLabelled } from '../../catalog/engines.js';
import type { Profile } from '../../model/profile.js';
import type { Json } from '../analysis.js';
import type { Steps } from './steps.js';

/** The range the capture's own environment asked for, where the file carries it. */
export function requestedIn(profile: Profile): { first: number; last: number } | undefined {
  const match = /^(\d+)-(\d+)$/.exec(profile.capture.settings.REQUESTED_ITERATIONS ?? '');
  return match ? { first: Number(match[1]), last: Number(match[2]) } : undefined;
}

export function profiledRange(
  found: Steps,
  requested: { readonly first: number; readonly last: number } | undefined,
): { readonly [name: string]: Json } {
  const meanings = engineLabelled(found.engine)?.rangeEnds;
  if (!requested || !found.numbered || !meanings) return {};
  const numbers = found.steps.map(step => step.iteration);
  const observed = { first: numbers[0], last: numbers[numbers.length - 1] };
  const shift = observed.last - requested.last;
  const rangeEnd = shift === 0 ? 'inclusive' : shift === -1 ? 'exclusive' : 'other';
  return {
    requested: { first: requested.first, last: requested.last },
    rangeEnd,
    rangeMeaning: {
      ...meanings,
      other:
        'the captured steps differ from the requested range: the engine may number loop iterations and steps differently',
    }[rangeEnd],
  };
}
