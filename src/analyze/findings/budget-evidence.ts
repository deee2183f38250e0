/** Evidence from the step budget, and findings about one cause of idle. */
import { formatDuration } from '../../base/units.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { perStep } from '../words.js';
import type { Finding } from './finding.js';
import { costing, finding, perWindow, type RuleInput } from './rule.js';

export const budgetEvidence = (
  total: PhaseBudget,
  causeNs: number,
  what: string,
): Finding['evidence'][number] => ({
  text: `${formatDuration(perWindow(total, causeNs))} of ${formatDuration(perWindow(total, total.wallNs))} ${perStep(total.phase)}: ${what}`,
  numerator: causeNs,
  denominator: total.wallNs,
  unit: 'ns',
  analysis: 'step-budget',
});

/** A finding about one cause of idle: all of it would go. */
export function idleFinding(
  id: string,
  input: RuleInput,
  total: PhaseBudget,
  causeNs: number,
  claim: string,
  evidence: Finding['evidence'],
  confidence: Finding['confidence'] = 'likely',
): Finding {
  const costNs = perWindow(total, causeNs);
  return finding(id, input, {
    claim,
    ...costing(total, costNs, 'if this idle time is removed and nothing else changes'),
    confidence,
    evidence,
    confirm: `stepscope analyze FILE --only idle-gaps${total.phase ? ` --phase ${total.phase}` : ''}`,
  });
}
