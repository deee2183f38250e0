/** The page of `stepscope compare --html`: the blocks of the terminal and charts of both sides, in one file. */
import type { StatementBlock } from '../analyze/block.js';
import { phaseLook } from '../analyze/names-and-colors.js';
import type { Comparison, PhaseComparison } from '../compare/compare-configurations.js';
import { describeComparison, summaryTable } from '../compare/describe-comparison.js';
import { termRowsTable } from '../compare/describe-kernels.js';
import { sideParts } from '../compare/side-parts.js';
import type { Cutter } from '../report/html/limits.js';
import { fitPage } from '../report/html/page.js';
import type { Piece, Report, Section } from '../report/html/sections.js';
import { type ChartSide, sideStack, stepLines } from '../report/html/side-charts.js';
import type { SideName } from '../run/side-means.js';
import { pageAssets } from './page-assets.js';

export const comparisonPage = (comparisons: readonly Comparison[]): string =>
  fitPage(cutter => composePage(comparisons, cutter), pageAssets());

function composePage(comparisons: readonly Comparison[], cutter: Cutter): Report {
  const described = comparisons.map(describeComparison);
  const several = comparisons.length > 1;
  const sections = comparisons.flatMap((comparison, index): Section[] => {
    const { sections: own, answer } = described[index];
    const opening: Section[] = several
      ? [
          {
            id: `run-${index}`,
            title: `${comparison.to.name} against ${comparison.from.name}`,
            pieces: [{ kind: 'block', block: cutter.block(answer) }],
          },
        ]
      : [];
    return [
      ...opening,
      ...own.map(({ id, title, blocks }) => ({
        id: several ? `${id}-${index}` : id,
        title: several ? `${title}: ${comparison.to.name}` : title,
        pieces: [
          ...blocks.map((block): Piece => ({ kind: 'block', block: cutter.block(block) })),
          ...charts(comparison, id, index, cutter),
          ...everyTerm(comparison, id, cutter),
        ],
      })),
    ];
  });
  const summary: Section[] = several
    ? [
        {
          id: 'summary',
          title: 'All runs',
          pieces: [{ kind: 'block', block: cutter.block(summaryTable(comparisons)) }],
        },
      ]
    : [];
  return {
    header: described[0].header,
    answer: answerOf(comparisons, described),
    sections: [...summary, ...sections],
  };
}

/** Of several comparisons, the first sentence of each. */
function answerOf(
  comparisons: readonly Comparison[],
  described: readonly { readonly answer: StatementBlock }[],
): StatementBlock {
  if (comparisons.length === 1) return described[0].answer;
  return { ...described[0].answer, lines: described.map(({ answer }) => answer.lines[0]) };
}

/** Beside the waterfall of a phase: both sides as stacks, and their steps. */
function charts(comparison: Comparison, section: string, index: number, cutter: Cutter): Piece[] {
  const phase = comparison.phases.find(one => section === `waterfall-${one.phase ?? 'all'}`);
  if (!phase) return [];
  const sides = [sideOf(comparison.from.name, phase, 'from'), sideOf(comparison.to.name, phase, 'to')];
  const where = phase.phase === null ? '' : ` of ${phaseLook(phase.phase).label}`;
  const specs = [
    sideStack(`stack-${section}-${index}`, where, sides),
    stepLines(`steps-${section}-${index}`, where, sides, cutter),
  ];
  return specs.flatMap((spec): Piece[] => (spec ? [{ kind: 'chart', chart: spec, figures: [] }] : []));
}

/** Below the kernels that changed most: the whole equation, put away until asked for. */
function everyTerm(comparison: Comparison, section: string, cutter: Cutter): Piece[] {
  const phase = comparison.phases.find(one => section === `kernels-${one.phase ?? 'all'}`);
  if (!phase) return [];
  const about = 'kernels, launches per step and time per step on both sides';
  const blocks = [cutter.block(termRowsTable(phase))];
  return [{ kind: 'folded', title: 'Every term and its rows', about, blocks }];
}

const sideOf = (name: string, phase: PhaseComparison, side: SideName): ChartSide => ({
  name,
  wallNs: phase[side].wallNs,
  parts: sideParts(phase[side]),
  stepNs: phase.stepNs[side],
});
