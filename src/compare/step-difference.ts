/** How one step differs from another: what each part added or took away, summing to the change of the step's time. */
import type { Analyzer } from '../analyze/analysis.js';
import type { Block, WaterfallBlock, WaterfallTerm } from '../analyze/block.js';
import { phaseLook } from '../analyze/names-and-colors.js';
import { formatDuration, formatShare, plural } from '../base/units.js';
import type { Phase } from '../catalog/phases.js';
import { type Part, phasesIn, type StepParts, stepParts } from './step-parts.js';

export interface Side {
  readonly name: string;
  /** Looking at the steps to compare. */
  readonly analyzer: Analyzer;
}

const groupOrder: readonly Part['group'][] = ['compute', 'communication', 'copies', 'idle'];

export function compareSteps(from: Side, to: Side): Block[] {
  const fromPhases = phasesIn(from.analyzer);
  const toPhases = phasesIn(to.analyzer);
  const shared = fromPhases.filter(phase => toPhases.includes(phase));
  // Single steps are compared as they were chosen; of several, like is compared with like.
  const pairs: [Phase | null, Phase | null][] =
    shared.length > 0 ? shared.map(phase => [phase, phase]) : [[fromPhases[0], toPhases[0]]];
  return pairs.flatMap(([ours, theirs]) => {
    const before = stepParts(from.analyzer, ours);
    const after = stepParts(to.analyzer, theirs);
    if (before.steps === 0 || after.steps === 0) return [];
    return [sentence(from, before, to, after), waterfall(from, before, to, after)];
  });
}

function termsOf(before: StepParts, after: StepParts): WaterfallTerm[] {
  const keys = [...new Set([...before.parts.keys(), ...after.parts.keys()])];
  const place = (key: string) => groupOrder.indexOf(key.split(':')[0] as Part['group']);
  return keys
    .map((key): WaterfallTerm & { readonly key: string } => {
      const ours = before.parts.get(key);
      const theirs = after.parts.get(key);
      const { group, label, color } = (ours ?? theirs)!;
      return {
        key,
        label: group === 'idle' ? `idle: ${label}` : label,
        color,
        fromNs: ours?.ns ?? 0,
        toNs: theirs?.ns ?? 0,
        changeNs: (theirs?.ns ?? 0) - (ours?.ns ?? 0),
        fromCount: ours?.kernels ?? (theirs?.kernels === undefined ? null : 0),
        toCount: theirs?.kernels ?? (ours?.kernels === undefined ? null : 0),
      };
    })
    .sort((a, b) => place(a.key) - place(b.key) || Math.abs(b.changeNs) - Math.abs(a.changeNs));
}

const stepName = ({ name }: Side, { phase, iteration, steps }: StepParts): string => {
  const which =
    iteration === null
      ? phase === null
        ? 'the whole trace'
        : `mean of ${plural(steps, `${phaseLook(phase).label} step`)}`
      : `step ${iteration}, ${phaseLook(phase).label}`;
  return `${name}, ${which}`;
};

function waterfall(from: Side, before: StepParts, to: Side, after: StepParts): WaterfallBlock {
  return {
    kind: 'waterfall',
    id: `difference-${before.phase ?? 'all'}`,
    title: `What changed${before.phase === null ? '' : ` in ${phaseLook(before.phase).label}`}`,
    from: { label: stepName(from, before), ns: before.wallNs },
    to: { label: stepName(to, after), ns: after.wallNs },
    terms: termsOf(before, after),
  };
}

/** Below this part of the step a change is no change. */
const SAME = 0.01;

function sentence(from: Side, before: StepParts, to: Side, after: StepParts): Block {
  const changeNs = after.wallNs - before.wallNs;
  const part = before.wallNs > 0 ? changeNs / before.wallNs : 0;
  const times = `${formatDuration(before.wallNs)} → ${formatDuration(after.wallNs)}`;
  const [most] = [...termsOf(before, after)].sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs));
  const what = changeNs > 0 ? 'slower' : 'faster';
  const first =
    Math.abs(part) < SAME
      ? `Both take the same time: ${times}.`
      : `${to.name} is ${formatDuration(Math.abs(changeNs))} ${what} (${times}, ${formatShare(Math.abs(part))}).`;
  const why =
    most && Math.abs(most.changeNs) >= SAME * before.wallNs
      ? [`Most of it is ${most.label}: ${formatDuration(most.fromNs)} → ${formatDuration(most.toNs)}.`]
      : [];
  const other =
    before.phase === after.phase
      ? []
      : [`The steps are not of one phase: ${before.phase ?? 'none'} beside ${after.phase ?? 'none'}.`];
  return {
    kind: 'statement',
    id: 'difference-answer',
    title: 'Answer',
    lines: [first, ...why, ...other, `From ${from.name} to ${to.name}.`],
  };
}
