/** Copies between host and GPU: through pageable memory, many tiny ones, or so much that the link is the limit. */
import { formatBytes, formatCount, formatDuration, formatShare } from '../../base/units.js';
import { peakFromProfile } from '../../catalog/gpus.js';
import { memoryOperations } from '../gpu/memory-operations.js';
import { tinyCopies } from '../gpu/tiny-copies.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { formatMean, perStep } from '../words.js';
import type { Evidence, Finding } from './finding.js';
import {
  anyOf,
  capital,
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
  how: string,
  savedNs: number,
  evidence: readonly Evidence[],
): Finding =>
  finding(id, input, {
    claim,
    ...costing(total, perWindow(total, ns), how, perWindow(total, savedNs)),
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
        numerator: row.totalNs,
        denominator: total.wallNs,
        unit: 'ns' as const,
        analysis: 'memory-operations',
      }));
      const how = 'if the GPU time of these copies is hidden; host wait time is counted elsewhere';
      return [copyFinding('tiny-copies', input, total, claim, ns, how, ns, evidence)];
    });
  },
};

interface CopyRow {
  readonly operation: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly totalNs: number;
}

const isPageableInput = ({ operation, from }: CopyRow): boolean =>
  operation === 'Host-to-Device' && from === 'Pageable';
const isPageableOutput = ({ operation, to }: CopyRow): boolean =>
  operation === 'Device-to-Host' && to === 'Pageable';
const sumNs = (rows: readonly CopyRow[]): number => rows.reduce((sum, { totalNs }) => sum + totalNs, 0);

const pageableCopies: Rule = {
  id: 'pageable-copies',
  about: 'copies through pageable memory',
  yieldsTo: anyOf('tiny-copies'),
  uses: [memoryOperations],
  look(input) {
    const { rows } = input.use(memoryOperations);
    return input.phases.flatMap((total): Finding[] => {
      const own = rows.filter(
        row => row.phase === total.phase && (isPageableInput(row) || isPageableOutput(row)),
      );
      const count = own.reduce((sum, row) => sum + row.countPerStep, 0);
      if (count < 1) return [];
      const ns = sumNs(own);
      const bytes = own.reduce((sum, row) => sum + row.bytes, 0);
      // Pinned memory makes a copy as fast as the link, not free.
      const link = linkOf(input);
      const savedNs = Math.max(0, ns - (link ? (bytes / link) * 1e9 : 0));
      const how = link
        ? `if these copies run at the link’s peak, ${formatBytes(link)}/s; host wait time is counted elsewhere`
        : 'if the GPU time of these copies is hidden; host wait time is counted elsewhere';
      const isMostlyOutput = sumNs(own.filter(isPageableOutput)) > sumNs(own) / 2;
      const claim = `Data is copied ${isMostlyOutput ? 'to' : 'from'} pageable memory in ${phaseName(total.phase)}: the host blocks on each copy`;
      const evidence = own.map(row => ({
        text: `${formatMean(row.countPerStep)} ${perStep(row.phase)}, ${formatBytes(row.bytes / row.count)} on average (median ${formatBytes(row.medianBytes)}), ${formatDuration(row.totalNs / row.count)} each`,
        numerator: row.totalNs,
        denominator: total.wallNs,
        unit: 'ns' as const,
        analysis: 'memory-operations',
        rows: [row.key],
      }));
      return [copyFinding('pageable-copies', input, total, claim, ns, how, savedNs, evidence)];
    });
  },
};

/** Bytes per second between host and GPU at most; undefined where the GPU is not known. */
const linkOf = ({ profile }: RuleInput): number | undefined =>
  profile.gpus.map(gpu => peakFromProfile(gpu).pcieBytesPerSecond?.value).find(value => value !== undefined);

const OVER_THE_LINK = ['Host-to-Device', 'Device-to-Host'];

/** Of the step: less is nothing that overlapping would bring. */
const ALL_BUSY = 0.01;

const linkBound: Rule = {
  id: 'link-bound',
  about: 'the GPU waits for data that is copied from or to the host',
  yieldsTo: anyOf('pageable-copies', 'tiny-copies'),
  uses: [memoryOperations],
  look(input) {
    const { rows } = input.use(memoryOperations);
    const link = linkOf(input);
    return input.phases.flatMap((total): Finding[] => {
      const own = rows.filter(row => row.phase === total.phase && OVER_THE_LINK.includes(row.operation));
      const ns = sumNs(own);
      const exposedNs = Math.min(ns, total.copyExposedNs);
      // Where nothing is computed, nothing waits for the copies.
      if (total.computeNs === 0 || exposedNs < input.policy.copyShare * total.wallNs) return [];
      const bytes = own.reduce((sum, row) => sum + row.bytes, 0);
      const rate = (bytes / ns) * 1e9;
      const ofPeak = link && rate <= link ? ` (${formatShare(rate / link)} of the link’s peak)` : '';
      // Copies and kernels side by side take as long as the longer of the two. A link carries both directions at once:
      // the busier one is what remains.
      const besides = total.wallNs - exposedNs;
      const busiest = Math.max(
        ...OVER_THE_LINK.map(operation => sumNs(own.filter(row => row.operation === operation))),
      );
      const savedNs = total.wallNs - Math.max(besides, Math.min(busiest, total.wallNs));
      const found = copyFinding(
        'link-bound',
        input,
        total,
        `${capital(phaseName(total.phase))} waits for copies between host and GPU: ${formatDuration(perWindow(total, exposedNs))} ${perPhaseStep(total.phase)}`,
        exposedNs,
        'if the copies run beside the kernels: the longer of the two remains',
        savedNs,
        [
          {
            text: `${formatBytes(bytes / total.windows)} ${perStep(total.phase)} at ${formatBytes(rate)}/s${ofPeak}`,
            numerator: exposedNs,
            denominator: total.wallNs,
            unit: 'ns',
            analysis: 'memory-operations',
            rows: own.map(({ key }) => key),
          },
        ],
      );
      // A link that is busy all the time cannot be hidden: only less to copy helps, and how much less nobody knows.
      return [savedNs < ALL_BUSY * total.wallNs ? { ...found, gain: null } : found];
    });
  },
};

export const copyRules: readonly Rule[] = [tinyCopiesRule, pageableCopies, linkBound];
