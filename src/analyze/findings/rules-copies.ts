/** Copies from the host: through pageable memory, or many tiny ones. */
import { formatBytes, formatCount, formatDuration } from '../../base/units.js';
import { memoryOperations } from '../gpu/memory-operations.js';
import { tinyCopies } from '../gpu/tiny-copies.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { formatMean, perStep } from '../words.js';
import type { Evidence, Finding } from './finding.js';
import {
  anyOf,
  costing,
  finding,
  perPhaseStep,
  perWindow,
  phaseName,
  type Rule,
  type RuleInput,
} from './rule.js';

const copyFinding = (
  id: string,
  input: RuleInput,
  total: PhaseBudget,
  claim: string,
  ns: number,
  evidence: readonly Evidence[],
): Finding =>
  finding(id, input, {
    claim,
    ...costing(
      total,
      perWindow(total, ns),
      'if the GPU time of these copies is hidden; host wait time is counted elsewhere',
    ),
    confidence: 'possible',
    evidence,
    confirm: 'stepscope analyze FILE --only memory-operations',
  });

const tinyCopiesRule: Rule = {
  id: 'tiny-copies',
  about: 'many tiny copies from the host',
  uses: [tinyCopies],
  look(input) {
    const all = input.use(tinyCopies);
    return input.phases.flatMap((total): Finding[] => {
      const own = all.filter(({ phase }) => phase === total.phase);
      const count = own.reduce((sum, { countPerStep }) => sum + countPerStep, 0);
      // Without steps nobody knows how often the loop ran: a count of a whole run is no rate.
      if (total.phase === null || count < input.policy.tinyCopiesPerStep) return [];
      const ns = own.reduce((sum, { totalNs }) => sum + totalNs, 0);
      const claim = `${formatCount(Math.round(count))} tiny copies to the GPU ${perPhaseStep(total.phase)}`;
      const evidence = own.map(row => ({
        text: `${formatMean(row.countPerStep)} per step from ${row.from ?? 'host'} memory, ${formatBytes(row.bytes / row.count)} on average, at most ${formatBytes(row.largestBytes)}`,
        numerator: row.bytes,
        denominator: row.count,
        unit: 'bytes' as const,
        analysis: 'memory-operations',
      }));
      return [copyFinding('tiny-copies', input, total, claim, ns, evidence)];
    });
  },
};

const pageableCopies: Rule = {
  id: 'pageable-copies',
  about: 'copies through pageable memory',
  yieldsTo: anyOf('tiny-copies'),
  uses: [memoryOperations],
  look(input) {
    const { rows } = input.use(memoryOperations);
    return input.phases.flatMap((total): Finding[] => {
      const own = rows.filter(
        row => row.phase === total.phase && row.operation === 'Host-to-Device' && row.from === 'Pageable',
      );
      const count = own.reduce((sum, row) => sum + row.countPerStep, 0);
      if (count < 1) return [];
      const ns = own.reduce((sum, row) => sum + row.totalNs, 0);
      const claim = `Inputs are copied from pageable memory in ${phaseName(total.phase)}: the host blocks on each copy`;
      const evidence = own.map(row => ({
        text: `${formatMean(row.countPerStep)} ${perStep(row.phase)}, ${formatBytes(row.bytes / row.count)} on average (median ${formatBytes(row.medianBytes)}), ${formatDuration(row.totalNs / row.count)} each`,
        numerator: row.bytes,
        denominator: row.count,
        unit: 'bytes' as const,
        analysis: 'memory-operations',
        rows: [row.key],
      }));
      return [copyFinding('pageable-copies', input, total, claim, ns, evidence)];
    });
  },
};

export const copyRules: readonly Rule[] = [tinyCopiesRule, pageableCopies];
