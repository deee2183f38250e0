/** A comparison as blocks: the answer, the waterfall, the kernels that changed most, then everything beside it. */

import {
  type Block,
  KEEP,
  type StatementBlock,
  type TableBlock,
  type WaterfallBlock,
} from '../analyze/block.js';
import { knownPhase, phaseLook } from '../analyze/names-and-colors.js';
import { tableOf } from '../analyze/table-of.js';
import { formatShare, plural } from '../base/units.js';
import type { SideName } from '../run/side-means.js';
import type { Comparison, PhaseComparison } from './compare-configurations.js';
import { comparisonAnswer } from './describe-answer.js';
import {
  checksFacts,
  familyChangesTable,
  figuresTable,
  layersTable,
  mixFacts,
  notesFacts,
} from './describe-details.js';
import { changedKernels } from './describe-kernels.js';
import { shownTerms } from './waterfall-terms.js';

interface ComparisonSection {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

interface DescribedComparison {
  readonly header: StatementBlock;
  readonly answer: StatementBlock;
  readonly sections: readonly ComparisonSection[];
}

export function describeComparison(comparison: Comparison): DescribedComparison {
  const several = comparison.phases.length > 1;
  const per = comparison.phases.flatMap((phase): ComparisonSection[] => {
    const id = phase.phase ?? 'all';
    const under = several ? ` in ${phaseLook(phase.phase).label}` : '';
    return [
      { id: `waterfall-${id}`, title: `What changed${under}`, blocks: [waterfallOf(comparison, phase)] },
      { id: `kernels-${id}`, title: `Kernels that changed most${under}`, blocks: changedKernels(phase) },
      { id: `families-${id}`, title: `Kernels by family${under}`, blocks: familyChangesTable(phase) },
      { id: `figures-${id}`, title: `Side by side${under}`, blocks: figuresTable(phase) },
      { id: `layers-${id}`, title: `Layers${under}`, blocks: layersTable(phase) },
    ];
  });
  const sections = [
    ...per,
    {
      id: 'comparability',
      title: 'Comparability',
      blocks: [checksFacts(comparison), ...mixFacts(comparison)],
    },
    { id: 'notes', title: 'Notes', blocks: notesFacts(comparison) },
  ];
  return {
    header: headerOf(comparison),
    answer: comparisonAnswer(comparison),
    sections: sections.filter(({ blocks }) => blocks.length > 0),
  };
}

/** For a terminal: one list. */
export function comparisonBlocks(comparison: Comparison): Block[] {
  const { header, answer, sections } = describeComparison(comparison);
  return [header, answer, ...sections.flatMap(({ blocks }) => blocks)];
}

function headerOf({ from, to, phases: [main] }: Comparison): StatementBlock {
  const mixes = main.mixes.map(({ mix }) => mix).filter(mix => mix !== '');
  const phase = main.phase === null ? 'whole trace' : knownPhase(main.phase);
  const line = [
    `${from.name} → ${to.name}`,
    from.runs[0].facts.gpu ?? '',
    [phase, ...(mixes.length > 1 ? [`${mixes.length} batch mixes`] : mixes)].filter(Boolean).join(', '),
    main.phase === null ? '' : `${plural(main.from.steps, 'step')} vs ${plural(main.to.steps, 'step')}`,
  ];
  return {
    kind: 'statement',
    id: 'header',
    title: 'Runs',
    lines: [line.filter(text => text !== '').join(' · ')],
    quiet: true,
  };
}

function sideLabel(name: string, phase: PhaseComparison, side: SideName): string {
  if (phase.phase === null) return `${name}, the whole trace`;
  return `${name}, mean of ${plural(phase[side].steps, `${knownPhase(phase.phase)} step`.trim())}`;
}

function waterfallOf({ from, to }: Comparison, phase: PhaseComparison): WaterfallBlock {
  return {
    kind: 'waterfall',
    id: `difference-${phase.phase ?? 'all'}`,
    title: `What changed${knownPhase(phase.phase) && ` in ${knownPhase(phase.phase)}`}`,
    from: { label: sideLabel(from.name, phase, 'from'), ns: phase.from.wallNs },
    to: { label: sideLabel(to.name, phase, 'to'), ns: phase.to.wallNs },
    terms: shownTerms(phase),
  };
}

/** More than two runs: one line each, before the details. */
export function summaryTable(comparisons: readonly Comparison[]): TableBlock {
  const rows = comparisons.flatMap(comparison => comparison.phases.map(phase => ({ comparison, phase })));
  return tableOf(rows, { id: 'summary', title: `Compared with ${comparisons[0].from.name}` }, [
    ['Name', 'text', ({ comparison }) => comparison.to.name],
    ['Phase', 'text', ({ phase }) => phaseLook(phase.phase).label],
    ['Before', 'ns', ({ phase }) => phase.from.wallNs],
    ['After', 'ns', ({ phase }) => phase.to.wallNs],
    ['Change', 'ns-change', ({ phase }) => phase.changeNs],
    ['Part', 'text', ({ phase }) => formatShare(phase.changeShare)],
    ['Verdict', 'text', ({ phase }) => phase.verdict.replace('-', ' '), { priority: KEEP }],
  ]);
}
