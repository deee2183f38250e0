/** All rules asked, their findings in order of what mending them would bring, and what could not be looked at. */
import { defaultPolicy } from '../../catalog/policy.js';
import type { Analysis, AnalysisResult, Derived, Json } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import type { FindingsBlock } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { type PhaseBudget, totalsByPhase } from '../inference/budget-totals.js';
import { stepBudget } from '../inference/step-budget.js';
import { program } from '../program.js';
import { undisturbedBudget, undisturbedStep } from '../undisturbed/undisturbed-step.js';
import type { Finding, Unmeasured } from './finding.js';
import { findingHeadline, isHeadline } from './headline.js';
import type { Rule, RuleInput } from './rule.js';
import { captureRules } from './rules-capture.js';
import { copyRules } from './rules-copies.js';
import { cpuRules } from './rules-cpu.js';
import { gpuRules } from './rules-gpu.js';
import { heldUpRules } from './rules-held-up.js';
import { hostRules } from './rules-host.js';
import { hostCounterRules } from './rules-host-counters.js';
import { launchRules } from './rules-launch.js';
import { loopCallRules } from './rules-loop-calls.js';
import { precisionRules } from './rules-precision.js';
import { programRules } from './rules-program.js';
import { rankRules } from './rules-ranks.js';
import { stepKernelRules } from './rules-step-kernels.js';
import { stepRules } from './rules-steps.js';
import { syncRules } from './rules-sync.js';
import { windowRules } from './rules-window.js';

const rules: Rule[] = [
  ...captureRules,
  ...windowRules,
  ...launchRules,
  ...hostRules,
  ...heldUpRules,
  ...loopCallRules,
  ...cpuRules,
  ...hostCounterRules,
  ...syncRules,
  ...copyRules,
  ...gpuRules,
  ...stepKernelRules,
  ...precisionRules,
  ...stepRules,
  ...rankRules,
  ...programRules,
];

interface FindingsResult extends AnalysisResult<FindingRow> {
  readonly findings: readonly Finding[];
  readonly unmeasured: readonly Unmeasured[];
  /** Costs are per step; without steps, of the whole trace. */
  readonly inSteps: boolean;
}

const fields = {
  key: keyField,
  rule: field.text('Rule', 'the rule that found it'),
  claim: field.text('Finding', 'cause and cost, in one sentence'),
  phase: maybe(field.text('Phase', 'null: the whole capture')),
  severity: field.text('Severity', 'high from 20% of the step, medium from 5%, low, or note'),
  costNs: maybe(field.nsMean('Per step', 'time it costs per step')),
  costShare: maybe(field.share('Share (%)', 'of the step')),
  gainNs: maybe(field.nsMean('Gain', 'estimated time saved per step')),
  gainThroughput: maybe(field.share('Throughput (%)', 'estimated increase in steps per second')),
  gainHow: quiet(maybe(field.text('Estimated', 'how the gain was estimated'))),
  confidence: field.text('Confidence', 'certain, likely or possible'),
  evidence: field.list('Evidence', 'figures with numerator and denominator, row keys, time windows'),
  advice: field.list('Advice', 'what to do, by engine'),
  confirm: quiet(field.text('Confirm', 'a command that would confirm it')),
};

type FindingRow = RowOf<typeof fields>;

const used: Derived<unknown>[] = [
  stepBudget,
  undisturbedStep,
  program,
  ...new Set(rules.flatMap(rule => rule.uses)),
];

/** One of a plugin's. */
export function addRule(rule: Rule): void {
  if (rules.some(({ id }) => id === rule.id)) throw new Error('its id is taken');
  rules.push(rule);
  used.push(...rule.uses);
}

export const findings: Analysis<FindingRow, FindingsResult> = {
  id: 'findings',
  title: 'Findings',
  question: 'What is wrong, what does it cost, and what should you do next?',
  reads: {},
  uses: used,
  fields,
  compute({ profile, settings, use, useIfRecorded }) {
    const undisturbed = useIfRecorded(undisturbedStep)?.rows ?? [];
    // Costs and gains are those of the step when no profiler looks.
    const totals = totalsByPhase(useIfRecorded(stepBudget)?.rows ?? [])
      .map(total =>
        undisturbedBudget(
          total,
          undisturbed.find(({ phase }) => phase === total.phase),
        ),
      )
      .sort((a, b) => b.wallNs - a.wallNs);
    const inSteps = totals.filter(total => total.phase !== null);
    const phases = inSteps.length > 0 ? inSteps : totals;
    const input: RuleInput = {
      profile,
      policy: settings.policy ?? defaultPolicy,
      program: use(program),
      // Where no GPU work was recorded (a file that was cut off, kernels that were lost), nothing says what it waited for.
      phases: phases.filter(({ wallNs, idleNs }) => idleNs < wallNs),
      use,
      useIfRecorded,
    };
    const found: Finding[] = [];
    const unmeasured: Unmeasured[] = [];
    for (const rule of rules) {
      try {
        found.push(...rule.look(input));
      } catch (error) {
        if (!(error instanceof NotRecorded)) throw error;
        // A rule about what never happened has looked, and found nothing.
        if (!error.none) unmeasured.push({ rule: rule.id, what: error.what, hint: error.hint });
      }
    }
    const worth = found.filter(
      ({ costShare }) => costShare === null || costShare >= input.policy.smallestShare,
    );
    const ordered = inOrder(withoutRepeats(worth), phases);
    const headline = ordered.find(isHeadline);
    return {
      findings: ordered,
      inSteps: phases.length === 0 || inSteps.length > 0,
      unmeasured:
        phases.length === 0 ? [] : worthSaying(unmeasured, profile.capture.distributed?.worldSize ?? 1),
      rows: ordered.map(asRow),
      summary: {
        engine: input.program.engine || null,
        verdict: headline ? findingHeadline(headline) : null,
        rules: rules.length,
        unmeasured: unmeasured.map(({ rule, what, hint }) => ({ rule, what, hint })),
      },
    };
  },
  describe: result => [findingsBlock(result)],
};

/** The first few, for the page; all when no number is given. */
export function findingsBlock(result: FindingsResult, most = Infinity): FindingsBlock {
  return {
    kind: 'findings',
    id: 'findings',
    title: 'Findings',
    per: result.inSteps ? 'per step' : 'in total',
    findings: result.findings.slice(0, most),
    more: Math.max(0, result.findings.length - most),
    unmeasured: result.unmeasured,
  };
}

/** A finding that says what a more specific one says already is left out. */
function withoutRepeats(all: readonly Finding[]): Finding[] {
  return all.filter(own => {
    const others = all.filter(({ id, phase }) => id !== own.id && phase === own.phase);
    const rule = rules.find(({ id, alsoGives }) => id === own.id || alsoGives?.includes(own.id));
    return !rule?.yieldsTo?.(others, own);
  });
}

/** What makes all other figures doubtful first, then by the time mending would save in the capture, then remarks. */
function inOrder(all: readonly Finding[], phases: readonly PhaseBudget[]): Finding[] {
  const windows = (phase: Finding['phase']) =>
    phases.find(total => total.phase === phase)?.windows ?? phases[0]?.windows ?? 1;
  const rank = (finding: Finding) =>
    finding.severity === 'high' && finding.costNs === null ? 0 : finding.severity === 'note' ? 2 : 1;
  const saved = ({ gain, phase, severity, costNs }: Finding) => {
    // A cost whose gain nobody can name counts whole: what costs less does not come before it.
    const unknown = severity === 'high' || severity === 'medium' ? (costNs ?? 0) : 0;
    return (gain?.nsPerStep ?? unknown) * windows(phase);
  };
  const cost = (finding: Finding) => (finding.costNs ?? 0) * windows(finding.phase);
  return [...all].sort((a, b) => rank(a) - rank(b) || saved(b) - saved(a) || cost(b) - cost(a));
}

/** What other lines say already, or what one GPU cannot have, need not be said. */
function worthSaying(all: readonly Unmeasured[], worldSize: number): Unmeasured[] {
  const seen = new Set<string>();
  return all.filter(({ rule, what }) => {
    if (seen.has(what) || (rule === 'rank-skew' && worldSize < 2)) return false;
    if (/^GPU work$|graph replays|^engine steps/.test(what)) return false;
    seen.add(what);
    return true;
  });
}

function asRow(finding: Finding): FindingRow {
  const { id, gain, evidence, advice, ...rest } = finding;
  return {
    key: `finding:${id}/${finding.phase ?? 'capture'}`,
    rule: id,
    claim: rest.claim,
    phase: rest.phase,
    severity: rest.severity,
    costNs: rest.costNs,
    costShare: rest.costShare,
    gainNs: gain?.nsPerStep ?? null,
    gainThroughput: gain?.throughput ?? null,
    gainHow: gain?.how ?? null,
    confidence: rest.confidence,
    evidence: evidence as unknown as readonly Json[],
    advice: advice as unknown as readonly Json[],
    confirm: rest.confirm,
  };
}
