/** The page of `stepscope compare`: the blocks of the terminal, and charts of both sides beside them. */
import { knownPhase } from '../../analyze/names-and-colors.js';
import type { Comparison, PhaseComparison } from '../../compare/compare-configurations.js';
import { comparisonSummary } from '../../compare/comparison-summary.js';
import { describeComparison, summaryTable } from '../../compare/describe-comparison.js';
import { termRowsTable } from '../../compare/describe-kernels.js';
import { sideParts } from '../../compare/side-parts.js';
import type { SideName } from '../../run/side-means.js';
import { composeSections, type PageSection } from './compose.js';
import type { Cutter } from './limits.js';
import type { Piece, Report } from './sections.js';
import { type ChartSide, sideStack, stepLines } from './side-charts.js';

export function comparisonPage(comparisons: readonly Comparison[], cutter: Cutter): Report {
  const described = comparisons.map(describeComparison);
  const several = comparisons.length > 1;
  const sections = comparisons.flatMap((comparison, index): PageSection[] => {
    const { sections: own, answer } = described[index];
    const title = `${comparison.to.name} vs ${comparison.from.name}`;
    const opening = several ? [{ id: `run-${index}`, title, blocks: [answer] }] : [];
    return [
      ...opening,
      ...own.map(({ id, title: about, blocks }) => ({
        id: several ? `${id}-${index}` : id,
        title: several ? `${about}: ${comparison.to.name}` : about,
        blocks,
        appendix: /^(families|figures|layers|notes)/.test(id),
        after: [...charts(comparison, id, index, cutter), ...everyTerm(comparison, id, cutter)],
      })),
    ];
  });
  const summary = several ? [{ id: 'summary', title: 'All runs', blocks: [summaryTable(comparisons)] }] : [];
  const [{ header, answer }] = described;
  // Of several comparisons, the first sentence of each.
  const lines = several ? described.map(one => one.answer.lines[0]) : answer.lines;
  return composeSections(
    header,
    { ...answer, lines },
    [...summary, ...sections],
    cutter,
    comparisonSummary(comparisons),
  );
}

/** Beside the waterfall of a phase: both sides as stacks, and their steps. */
function charts(comparison: Comparison, section: string, index: number, cutter: Cutter): Piece[] {
  const phase = comparison.phases.find(one => section === `waterfall-${one.phase ?? 'all'}`);
  if (!phase) return [];
  const sides = [sideOf(comparison.from.name, phase, 'from'), sideOf(comparison.to.name, phase, 'to')];
  const where = knownPhase(phase.phase) && ` of ${knownPhase(phase.phase)}`;
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
