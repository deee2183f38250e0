/** How one chosen step differs from another, for the page: the equation of two runs, over what each side looks at. */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import type { Block, StatementBlock, WaterfallBlock } from '../analyze/block.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { knownPhase } from '../analyze/names-and-colors.js';
import { formatDuration, formatShare, plural } from '../base/units.js';
import { cellSources, collectCells } from '../run/collect-cells.js';
import type { CellFacts, KernelFacts } from '../run/run.js';
import { type SideMeans, sideMeans } from '../run/side-means.js';
import type { Term } from './term-rows.js';
import { termsOf } from './terms.js';
import { shownTerms } from './waterfall-terms.js';

interface ChosenSide {
  readonly name: string;
  /** Looking at the steps to compare. */
  readonly analyzer: Analyzer;
}

interface ChosenSteps {
  readonly cells: readonly CellFacts[];
  readonly kernels: ReadonlyMap<string, KernelFacts>;
}

/** Ranks run a chosen step side by side; the first stands for it, as on the strip of steps. */
const chosenSteps: Derived<ChosenSteps> = {
  id: 'chosen-steps',
  reads: {},
  uses: cellSources,
  compute: input => collectCells(input, true),
};

export function compareSteps(from: ChosenSide, to: ChosenSide): Block[] {
  const ours = from.analyzer.get(chosenSteps);
  const theirs = to.analyzer.get(chosenSteps);
  const [fromPhases, toPhases] = [phasesIn(ours), phasesIn(theirs)];
  if (fromPhases.length === 0 || toPhases.length === 0) return [];
  const shared = fromPhases.filter(phase => toPhases.includes(phase));
  // Single steps are compared as they were chosen; of several, like is compared with like.
  const pairs = shared.length > 0 ? shared.map(phase => [phase, phase]) : [[fromPhases[0], toPhases[0]]];
  const spellingsDiffer =
    from.analyzer.profile.capture.profiler !== to.analyzer.profile.capture.profiler ||
    from.analyzer.profile.capture.profilerVersion !== to.analyzer.profile.capture.profilerVersion;
  return pairs.flatMap(([first, second]) => {
    const before = meansOf(ours, first);
    const after = meansOf(theirs, second);
    const terms = termsOf(before, after, spellingsDiffer);
    const fall: WaterfallBlock = {
      kind: 'waterfall',
      id: `difference-${first ?? 'all'}`,
      title: `What changed${knownPhase(first) && ` in ${knownPhase(first)}`}`,
      from: { label: stepName(from, first, before), ns: before.wallNs },
      to: { label: stepName(to, second, after), ns: after.wallNs },
      terms: shownTerms({ terms, from: before, to: after }),
    };
    return [sentence(from, before, to, after, terms, [first, second]), fall];
  });
}

/** Phases of the chosen steps, the one that takes most time first. */
function phasesIn({ cells }: ChosenSteps): CellFacts['phase'][] {
  const wall = new Map<CellFacts['phase'], number>();
  for (const { phase, wallNs } of cells) wall.set(phase, (wall.get(phase) ?? 0) + wallNs);
  return [...wall].sort((a, b) => b[1] - a[1]).map(([phase]) => phase);
}

function meansOf({ cells, kernels }: ChosenSteps, phase: CellFacts['phase']): SideMeans {
  const own = cells.filter(cell => cell.phase === phase);
  const mixes = [{ mix: '', weight: 1, from: [own], to: [own] }];
  return sideMeans({ phase, mixes, onlyFrom: [], onlyTo: [], mixesDiffer: false }, 'from', [
    { profile: { kernels } },
  ]);
}

function stepName({ name, analyzer }: ChosenSide, phase: CellFacts['phase'], { steps }: SideMeans): string {
  const first = analyzer.settings.steps?.first;
  const single = steps === 1 && first !== undefined ? analyzer.get(stepsOf)?.steps[first] : undefined;
  const which = single
    ? [`step ${single.iteration}`, knownPhase(phase)].filter(Boolean).join(', ')
    : phase === null
      ? 'the whole trace'
      : `mean of ${plural(steps, `${knownPhase(phase)} step`.trim())}`;
  return `${name}, ${which}`;
}

/** Below this part of the step a change is no change. */
const SAME = 0.01;

function sentence(
  from: ChosenSide,
  before: SideMeans,
  to: ChosenSide,
  after: SideMeans,
  terms: readonly Term[],
  [first, second]: readonly CellFacts['phase'][],
): StatementBlock {
  const changeNs = after.wallNs - before.wallNs;
  const part = before.wallNs > 0 ? changeNs / before.wallNs : 0;
  const times = `${formatDuration(before.wallNs)} → ${formatDuration(after.wallNs)}`;
  const [most] = [...terms].sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs));
  const what = changeNs > 0 ? 'slower' : 'faster';
  const answer =
    Math.abs(part) < SAME
      ? `Both take the same time: ${times}.`
      : `${to.name} is ${formatDuration(Math.abs(changeNs))} ${what} (${times}, ${formatShare(Math.abs(part))}).`;
  const why =
    most && Math.abs(most.changeNs) >= SAME * before.wallNs && most.changeNs !== 0
      ? [
          `Most of the change is ${most.label}: ${formatDuration(most.fromNs)} → ${formatDuration(most.toNs)}.`,
        ]
      : [];
  const other =
    first === second
      ? []
      : [`The steps are of different phases: ${first ?? 'none'} and ${second ?? 'none'}.`];
  return {
    kind: 'statement',
    id: 'difference-answer',
    title: 'Answer',
    lines: [answer, ...why, ...other, `From ${from.name} to ${to.name}.`],
  };
}
