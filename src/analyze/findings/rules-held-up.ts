/** The launching thread is stopped in one place after another: something outside its code does that. */
import { formatDuration } from '../../base/units.js';
import { heldUp } from '../host-code/held-up.js';
import { formatMean } from '../words.js';
import { budgetEvidence } from './budget-evidence.js';
import type { Finding } from './finding.js';
import { anyOf, costing, finding, perWindow, type Rule } from './rule.js';

/** Names that make the point without filling the line. */
const SHOWN_PLACES = 3;

const heldUpRule: Rule = {
  id: 'held-up',
  about: 'the launching thread stalls in changing places: no CPU, the GIL or garbage collection',
  uses: [heldUp],
  // Where it is recorded who has the CPU or the interpreter, that says more.
  yieldsTo: anyOf('cpu-contention', 'lost-cpu', 'core-migrations', 'gil-contention', 'garbage-collection'),
  look(input) {
    const found = input.useIfRecorded(heldUp);
    return input.phases.flatMap((total): Finding[] => {
      const own = total.phase === null ? undefined : found?.get(total.phase);
      if (!own || own.ns < input.policy.hostShareOfWall * total.wallNs) return [];
      const places = own.places
        .filter(place => place !== '')
        .slice(0, SHOWN_PLACES)
        .join(', ');
      const meanNs = own.ns / own.gaps;
      return [
        finding('held-up', input, {
          claim: `The launching thread is held up ${formatMean(own.gaps / total.windows)} times per step for ${formatDuration(meanNs)} each, in changing places: no CPU, the GIL or garbage collection`,
          ...costing(total, perWindow(total, own.ns), ''),
          gain: null,
          confidence: 'possible',
          evidence: [
            budgetEvidence(
              total,
              own.ns,
              `${own.gaps} stalls, the longest ${formatDuration(own.longestNs)}, in ${own.places.length} places (${places} …) that other steps pass quickly`,
            ),
          ],
          confirm: 'stepscope analyze FILE --only idle-gaps',
        }),
      ];
    });
  },
};

export const heldUpRules: readonly Rule[] = [heldUpRule];
