/** The contract of a rule: looks at results, gives findings; throws NotRecorded when it cannot look. */
import { adviceOn } from '../../catalog/advice.js';
import type { Phase } from '../../catalog/phases.js';
import type { Policy } from '../../catalog/policy.js';
import type { Profile } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import type { ProfiledProgram } from '../program.js';
import type { Finding, Severity } from './finding.js';

export interface RuleInput {
  readonly profile: Profile;
  readonly policy: Policy;
  readonly program: ProfiledProgram;
  /** Budgets of the selected steps by phase, the phase with most time first; without steps the whole trace. */
  readonly phases: readonly PhaseBudget[];
  use<Result>(other: Derived<Result>): Result;
  useIfRecorded<Result>(other: Derived<Result>): Result | undefined;
}

export interface Rule {
  readonly id: string;
  /** What it looks for, for the list. */
  readonly about: string;
  readonly uses: readonly Derived<unknown>[];
  look(input: RuleInput): Finding[];
  /** Ids of findings besides its own. */
  readonly alsoGives?: readonly string[];
  /** Whether others of the same phase say already what a finding of this id says; then it is left out. */
  yieldsTo?(others: readonly Finding[], own: Finding): boolean;
}

export const anyOf =
  (...ids: readonly string[]) =>
  (others: readonly Finding[]): boolean =>
    others.some(({ id }) => ids.includes(id));

/** What a rule says; severity and advice follow. */
export type Claim = Omit<Finding, 'id' | 'severity' | 'advice'> & { readonly severity?: Severity };

const HIGH = 0.2;
const MEDIUM = 0.05;

export function finding(id: string, { program }: Pick<RuleInput, 'program'>, claim: Claim): Finding {
  const share = claim.costShare ?? 0;
  const severity = claim.severity ?? (share >= HIGH ? 'high' : share >= MEDIUM ? 'medium' : 'low');
  return { id, ...claim, confidence: tested(claim), severity, advice: adviceOn(id, program) };
}

/** A gain is a prediction: what was counted in the file may be certain, what mending it brings is not. */
const tested = ({ gain, confidence }: Claim): Finding['confidence'] =>
  gain !== null && confidence === 'certain' ? 'likely' : confidence;

/** What is left of a step when `savedNs` go: more steps per second by this part. */
const throughputGain = (wallNs: number, savedNs: number): number =>
  savedNs >= wallNs ? 0 : wallNs / (wallNs - savedNs) - 1;

/** What a part of a phase's steps costs, and what a step gains when `savedNs` of it go (all, unless said). */
export function costing(
  total: PhaseBudget,
  costNs: number,
  how: string,
  savedNs = costNs,
): Pick<Finding, 'phase' | 'costNs' | 'costShare' | 'gain'> {
  const wallNs = perWindow(total, total.wallNs);
  // Kernels that run beside each other add up to more than the step.
  const cost = Math.min(costNs, wallNs);
  const saved = Math.max(0, Math.min(savedNs, wallNs));
  return {
    phase: total.phase,
    costNs: cost,
    costShare: cost / wallNs,
    gain: { nsPerStep: saved, throughput: throughputGain(wallNs, saved), how },
  };
}

export const perWindow = (total: PhaseBudget, ns: number): number => ns / total.windows;

/** Where in the run: `decode`, `the step` where the phase is not known, `the trace` where there are no steps. */
export const phaseName = (phase: Phase | null): string => (phase === null ? 'the trace' : phaseWords[phase]);

const phaseWords: Readonly<Record<Phase, string>> = {
  prefill: 'prefill',
  mixed: 'mixed batching',
  decode: 'decode',
  speculative: 'speculative decoding',
  draft: 'drafting',
  unknown: 'the step',
};

/** `per decode step`, `per step`, or `in all` where there are no steps. */
export const perPhaseStep = (phase: Phase | null): string =>
  phase === null ? 'in total' : phase === 'unknown' ? 'per step' : `per ${phase} step`;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
