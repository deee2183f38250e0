/** Calls in the loop that wait for the GPU: once where results are read, or many times inside one step. */
import { formatDuration, formatShare } from '../../base/units.js';
import { blockingCalls } from '../host/blocking-calls.js';
import { hostBlockers } from '../host-code/host-blockers.js';
import { waitingPlaces } from '../host-code/waiting-places.js';
import { formatMean } from '../words.js';
import { budgetEvidence, idleFinding } from './budget-evidence.js';
import { triggeredIn } from './code-evidence.js';
import type { Finding } from './finding.js';
import { anyOf, costing, finding, perWindow, phaseName, type Rule, type RuleInput } from './rule.js';

const syncInDecode: Rule = {
  id: 'sync-in-decode',
  about: 'calls in the loop that wait for the GPU',
  yieldsTo: anyOf('blocking-in-layers'),
  uses: [hostBlockers],
  look(input) {
    return input.phases.flatMap((total): Finding[] => {
      const ns = total.idleByCause.synchronisation ?? 0;
      if (ns < input.policy.syncShare * total.wallNs) return [];
      const claim = `Results are read back synchronously in ${phaseName(total.phase)}`;
      return [
        idleFinding('sync-in-decode', input, total, ns, claim, [
          budgetEvidence(total, ns, 'host wake-up after waiting for the GPU'),
          ...triggeredIn(input, total, 'synchronisation'),
        ]),
      ];
    });
  },
};

/** One read at the end of a step is how tokens get out; one per layer keeps the host from running ahead. */
const blockingInLayers: Rule = {
  id: 'blocking-in-layers',
  about: 'many small copies or synchronizations inside one step that make the host wait',
  uses: [blockingCalls, hostBlockers, waitingPlaces],
  look(input) {
    const found = input.use(blockingCalls);
    const [total] = input.phases;
    if (!found || !total || total.phase === null) return [];
    const { perStep, waitNs, idleNs, calls, rows } = found.avoidable;
    const wallNs = input.phases.reduce((sum, phase) => sum + phase.wallNs, 0);
    if (perStep < input.policy.blockingPerStep || idleNs < input.policy.syncShare * wallNs) return [];
    const windows = input.phases.reduce((sum, phase) => sum + phase.windows, 0);
    const costNs = Math.min(idleNs / windows, perWindow(total, total.idleNs));
    return [
      finding('blocking-in-layers', input, {
        claim: `The host waits for the GPU ${formatMean(perStep)} times per step${calls.length > 1 ? ', mostly' : ''} in ${calls[0]}`,
        ...costing(
          total,
          costNs,
          'if the host launched ahead and the idle time after these waits disappeared: an upper bound',
        ),
        confidence: 'likely',
        evidence: [
          {
            text: `${mostlyIn(input, rows.length)}${formatDuration(waitNs / windows)} of waiting per step, then ${formatDuration(costNs)} idle`,
            numerator: waitNs,
            denominator: wallNs,
            unit: 'ns',
            analysis: 'step-budget',
          },
          ...triggeredIn(input, total, 'synchronisation'),
        ],
        confirm: 'stepscope stats FILE -r cuda_api_sum',
      }),
    ];
  },
};

/** A place is worth naming if a good part of the calls is there, and more is known than the call itself. */
const MANY_CALLS = 0.25;

function mostlyIn({ useIfRecorded }: RuleInput, all: number): string {
  const [first] = useIfRecorded(waitingPlaces) ?? [];
  if (!first || first.calls < MANY_CALLS * all || !first.label.includes(' → ')) return '';
  return `${formatShare(first.calls / all)} of them in ${first.label}; `;
}

export const syncRules: readonly Rule[] = [syncInDecode, blockingInLayers];
