/** Findings about the host say which code it is: the names, what to do about them, or how to record them. */
import { formatDuration } from '../../base/units.js';
import { SLEEPING_CALL } from '../../catalog/host-activities.js';
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import { type BlockerWords, blockerWords } from '../host-code/blocker-text.js';
import { type CauseSet, hostBlockers } from '../host-code/host-blockers.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { perStep } from '../words.js';
import type { Evidence, Finding } from './finding.js';
import { perWindow, type RuleInput } from './rule.js';

export interface Code {
  readonly words: BlockerWords;
  readonly evidence: Evidence;
}

/** Undefined where the phase has no such idle time. Amounts are as profiled, and say so where a finding's are not. */
export function codeOf({ useIfRecorded }: RuleInput, total: PhaseBudget, causes: CauseSet): Code | undefined {
  const blockers = useIfRecorded(hostBlockers);
  const words = blockers && blockerWords(blockers, total.phase, causes);
  if (!words) return undefined;
  const removed = causeIds(causes).some(cause => (total.recordingByCause?.[cause] ?? 0) > 0);
  const amount = `${formatDuration(perWindow(total, words.totalNs))} ${perStep(total.phase)}`;
  return {
    words,
    evidence: {
      text: `${amount}${removed ? ' as profiled' : ''}: ${words.text}`,
      analysis: 'host-code',
      rows: words.places.map(({ label }) => `${total.phase ?? 'outside'}/${label}`),
    },
  };
}

function causeIds(causes: CauseSet): readonly string[] {
  if (causes === 'all') return [];
  if (causes.startsWith('host-work-and-launches')) return [...HOST_CAUSES, 'launch-bound'];
  return causes.startsWith('host-work') ? HOST_CAUSES : [causes];
}

/** The names first, since they are the answer; then what is known about the causes. Advice follows the names. */
export function namedCode(finding: Finding, code: Code | undefined): Finding {
  if (!code) return finding;
  const advice = code.words.advice.map(text => ({ engine: 'any', text }));
  const [first] = code.words.places;
  return {
    ...finding,
    // Who sleeps may have had nothing to do, and who waits for work depends on who gives it: perhaps nothing is gained.
    ...(first && waitsForOthers(first.label) ? { confidence: 'possible' as const } : {}),
    // Part and whole are those of the finding.
    evidence: [{ ...finding.evidence[0], ...code.evidence }, ...finding.evidence],
    advice: [...advice, ...finding.advice],
  };
}

/** Calls that end when another thread or process has something, or is done. */
const WAITING_FOR_WORK =
  /^(?:futex|pthread_(?:cond_(?:timed|clock)?wait|join)|sem_(?:timed|clock)?wait|p?poll|p?select|epoll_p?wait|recv(?:from|m?msg)?|accept4?|wait(?:4|pid))$/;

const innermost = (label: string): string => label.split(' → ').pop() ?? label;

/** Who sleeps may poll, or have nothing to do. */
export const sleeps = (label: string): boolean =>
  SLEEPING_CALL.test(innermost(label)) || /^(?:(?:time|asyncio)\.)?sleep\b/.test(innermost(label));

export const waitsForOthers = (label: string): boolean =>
  WAITING_FOR_WORK.test(innermost(label)) || sleeps(label);

/** Where the idle time of a cause arises, as one more piece of evidence. */
export function triggeredIn(input: RuleInput, total: PhaseBudget, causes: CauseSet): readonly Evidence[] {
  const code = codeOf(input, total, causes);
  return code ? [code.evidence] : [];
}
