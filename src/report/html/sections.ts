/**
 * What the report shows, in order: the page of `analyze` taken apart into sections, the charts beside the blocks they
 * belong to, and every further analysis through its own blocks.
 */
import type { Analyzer, AnyAnalysis } from '../../analyze/analysis.js';
import { analyzedSummary } from '../../analyze/analyzed-summary.js';
import type { Block, StatementBlock } from '../../analyze/block.js';
import { findingHeadline } from '../../analyze/findings/headline.js';
import { kernelFamilies } from '../../analyze/gpu/kernel-families.js';
import { memoryInUse } from '../../analyze/gpu/memory-in-use.js';
import { metricSeries } from '../../analyze/gpu/metric-series.js';
import { type TopKernelRow, topKernels } from '../../analyze/gpu/top-kernels.js';
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import { totalsByPhase } from '../../analyze/inference/budget-totals.js';
import { type IdleGapRow, idleGaps } from '../../analyze/inference/idle-gaps.js';
import { iterations } from '../../analyze/inference/iterations.js';
import { layers } from '../../analyze/inference/layers.js';
import { stepBudget } from '../../analyze/inference/step-budget.js';
import { describeCapture, summarizeCapture } from '../../analyze/info.js';
import { causeLook } from '../../analyze/names-and-colors.js';
import { blocksOf } from '../../analyze/outcome-blocks.js';
import { describePage, describePageAnswer } from '../../analyze/page.js';
import type { PageSummary } from '../../analyze/page-summary.js';
import { rowsTable } from '../../analyze/rows-table.js';
import type { ChartSpec } from './chart.js';
import { familyBars } from './family-charts.js';
import { hostFlame } from './flame.js';
import type { Cutter } from './limits.js';
import { budgetStack, stepStrip } from './step-charts.js';
import { memoryChart, metricCharts } from './time-charts.js';

export type Piece =
  | { readonly kind: 'block'; readonly block: Block }
  /** Put away until asked for. */
  | {
      readonly kind: 'folded';
      readonly title: string;
      readonly about: string;
      readonly blocks: readonly Block[];
    }
  | { readonly kind: 'chart'; readonly chart: ChartSpec; readonly figures: readonly Block[] }
  | { readonly kind: 'flame'; readonly flame: FlameDocument; readonly figures: readonly Block[] }
  | { readonly kind: 'kernels'; readonly rows: readonly TopKernelRow[]; readonly distinct: number };

export interface Section {
  readonly id: string;
  readonly title: string;
  /** For those who want to know more: folded until it is asked for. */
  readonly appendix?: boolean;
  readonly pieces: readonly Piece[];
}

export interface Report {
  /** What was captured: a quiet line. */
  readonly header: StatementBlock | undefined;
  readonly answer: StatementBlock | undefined;
  /** Figures, bars and actions, above everything else. */
  readonly summary?: PageSummary | undefined;
  readonly sections: readonly Section[];
}

const LISTED_GAPS = 20;
/** What most readers want; everything else is folded. */
const openSections = new Set(['findings', 'steps', 'budget', 'kernels']);
/** Drawn in sections of their own. */
const placed = new Set<string>([
  'findings',
  'checklist',
  'gpu-metrics',
  'requests',
  ...[iterations, stepBudget, kernelFamilies, topKernels, metricSeries, idleGaps, memoryInUse, layers].map(
    ({ id }) => id,
  ),
]);

const isStatement = (block: Block): block is StatementBlock => block.kind === 'statement';

/** `command`: a command of a finding, with the name of the file in it. */
export function composeReport(
  analyzer: Analyzer,
  analyses: readonly AnyAnalysis[],
  cutter: Cutter,
  command: (text: string) => string = text => text,
): Report {
  const { profile } = analyzer;
  const page = describePage(analyzer, analyses).map(block => cutter.block(withFile(block, command)));
  const shown = (block: Block): Piece => ({ kind: 'block', block: cutter.block(block) });
  const chart = (spec: ChartSpec | undefined, figures: readonly Block[] = []): Piece[] =>
    spec ? [{ kind: 'chart', chart: spec, figures: figures.map(block => cutter.block(block)) }] : [];
  /** Rows of an analysis; none where the capture cannot answer. */
  const rowsOf = <Row>(analysis: { readonly id: string }): readonly Row[] => {
    const outcome = analyzer.run(analysis as AnyAnalysis);
    return outcome.status === 'ok' ? outcome.result.rows : [];
  };
  /** Blocks of an analysis by name, if it is registered and could answer. */
  const blocks = (id: string): Block[] => {
    const analysis = analyses.find(known => known.id === id);
    const outcome = analysis && analyzer.run(analysis);
    return outcome?.status === 'ok' ? blocksOf(outcome, profile) : [];
  };
  const whole = (analysis: AnyAnalysis) => [rowsTable(analysis, rowsOf(analysis))];
  const taken = new Set<Block>();
  const take = (wanted: (block: Block) => boolean): Piece[] => {
    const own = page.filter(block => wanted(block) && !taken.has(block));
    for (const block of own) taken.add(block);
    return own.map(block => ({ kind: 'block', block }));
  };

  const statements = page.filter(isStatement);
  const header = statements.find(block => block.quiet);
  const described = statements.find(block => !block.quiet);
  for (const block of [header, described]) if (block) taken.add(block);
  // Cost and gain of the headline stand below it, as figures.
  const { headline } = describePageAnswer(analyzer);
  const summary = analyzedSummary(analyzer);
  const answer =
    described && headline && summary
      ? {
          ...described,
          lines: described.lines.map(line =>
            line === cutter.text(findingHeadline(headline)) ? `${cutter.text(headline.claim)}.` : line,
          ),
        }
      : described;

  const findings = take(block => block.kind === 'findings');
  const steps = [
    ...chart(stepStrip(rowsOf(iterations), cutter), whole(iterations)),
    ...take(({ id }) => id === 'steps'),
  ];
  const budget = [
    ...take(({ kind }) => kind === 'bars'),
    ...chart(budgetStack(rowsOf(stepBudget), cutter), whole(stepBudget)),
  ];
  const phaseOrder = totalsByPhase(rowsOf(stepBudget))
    .sort((a, b) => b.wallNs - a.wallNs)
    .map(total => total.phase);
  const kernelRows = rowsOf<TopKernelRow>(topKernels);
  const kernels: Piece[] = [
    ...take(({ id }) => id === 'kernel-families'),
    ...familyBars(rowsOf(kernelFamilies), phaseOrder).flatMap((spec, i) =>
      chart(spec, i === 0 ? blocks('kernel-families') : []),
    ),
  ];
  if (kernelRows.length > 0) {
    const outcome = analyzer.run(topKernels);
    const distinct = outcome.status === 'ok' ? Number(outcome.result.summary?.distinct) : 0;
    kernels.push({ kind: 'kernels', rows: kernelRows, distinct });
  }
  const rest = take(() => true).flatMap(withoutMissing);
  const metricSpecs = metricCharts(rowsOf(metricSeries), cutter);
  const metrics = [
    ...metricSpecs.flatMap((spec, i) => chart(spec, i === 0 ? whole(metricSeries) : [])),
    ...blocks('gpu-metrics').map(shown),
  ];
  const gaps = rowsOf<IdleGapRow>(idleGaps).slice(0, LISTED_GAPS);
  const memory = memoryChart(rowsOf(memoryInUse), cutter);
  const memoryRows = rowsOf(memoryInUse);
  const layerRows = rowsOf(layers);
  const host = hostFlame(analyzer, cutter);
  const hostPieces: Piece[] = host
    ? [
        { kind: 'block', block: host.answer },
        { kind: 'flame', flame: host.flame, figures: host.figures },
      ]
    : [];
  const [capture, ...captured] = describeCapture(summarizeCapture(profile)).map(shown);

  const sections: Section[] = [
    { id: 'findings', title: 'Findings', pieces: findings },
    { id: 'steps', title: 'Steps', pieces: steps },
    { id: 'budget', title: 'Step budget', pieces: budget },
    { id: 'host', title: 'Host code', pieces: hostPieces },
    { id: 'kernels', title: 'Kernels', pieces: kernels },
    { id: 'details', title: 'Details', pieces: rest },
    { id: 'requests', title: 'Requests', pieces: blocks('requests').map(shown) },
    { id: 'metrics', title: 'GPU metrics', pieces: metrics },
    { id: 'idle-gaps', title: 'Idle gaps', pieces: gaps.length > 0 ? [shown(gapsTable(gaps))] : [] },
    {
      id: 'memory',
      title: 'Memory',
      pieces: memory
        ? chart(memory, whole(memoryInUse))
        : memoryRows.length > 0
          ? whole(memoryInUse).map(shown)
          : [],
    },
    { id: 'layers', title: 'Layers', pieces: layerRows.length > 0 ? blocks('layers').map(shown) : [] },
    { id: 'checklist', title: 'Checklist', pieces: blocks('checklist').map(shown) },
    { id: 'more', title: 'More questions', pieces: furtherPieces(analyzer, analyses, cutter) },
    { id: 'not-measured', title: 'Not measured', pieces: unmeasured(analyzer, analyses).map(shown) },
    {
      id: 'capture',
      title: 'Capture details',
      pieces: [capture, ...captured.filter(piece => piece.kind === 'block' && piece.block.id !== 'notes')],
    },
    {
      id: 'notes',
      title: 'Notes',
      pieces: captured.filter(piece => piece.kind === 'block' && piece.block.id === 'notes'),
    },
  ];
  return {
    header,
    answer,
    summary: summary && cutter.block(summary),
    sections: sections
      .filter(({ pieces }) => pieces.length > 0)
      .map(section => ({ ...section, appendix: !openSections.has(section.id) }))
      // Folded ones form one list at the end.
      .sort((a, b) => Number(a.appendix) - Number(b.appendix)),
  };
}

function withFile(block: Block, command: (text: string) => string): Block {
  if (block.kind !== 'findings') return block;
  const named = block.findings.map(finding => ({ ...finding, confirm: command(finding.confirm) }));
  return { ...block, findings: named, all: command('stepscope analyze FILE --only findings') };
}

/** What was not measured has a section of its own, with everything it would have answered. */
function withoutMissing(piece: Piece): Piece[] {
  if (piece.kind !== 'block' || piece.block.kind !== 'facts') return [piece];
  const facts = piece.block.facts.filter(fact => fact.label !== 'not measured');
  return facts.length > 0 ? [{ ...piece, block: { ...piece.block, facts } }] : [];
}

function gapsTable(rows: readonly IdleGapRow[]): Block {
  const { causes, ...fields } = idleGaps.fields;
  // The terminal has no room for the causes; a page has.
  const { quiet: _, ...shown } = causes;
  const analysis = { ...idleGaps, fields: { ...fields, causes: shown } } as AnyAnalysis;
  return rowsTable(
    analysis,
    rows.map(row => ({
      ...row,
      cause: causeLook(row.cause).label,
      causes: Object.fromEntries(
        Object.entries(row.causes).map(([cause, ns]) => [causeLook(cause).label, ns]),
      ),
    })),
    { title: `The ${rows.length} longest idle gaps` },
  );
}

function furtherPieces(analyzer: Analyzer, analyses: readonly AnyAnalysis[], cutter: Cutter): Piece[] {
  return analyses
    .filter(({ id }) => !placed.has(id))
    .flatMap((analysis): Piece[] => {
      const outcome = analyzer.run(analysis);
      if (outcome.status === 'not-recorded') return [];
      if (outcome.status === 'ok' && outcome.result.rows.length === 0) return [];
      const { title, question } = analysis;
      const blocks = blocksOf(outcome, analyzer.profile).map(block => cutter.block(block));
      return [{ kind: 'folded', title, about: question, blocks }];
    });
}

/** One line for each thing that was not recorded, however many questions it leaves open. */
function unmeasured(analyzer: Analyzer, analyses: readonly AnyAnalysis[]): Block[] {
  const missing = new Map<string, { what: string; hint: string; titles: string[] }>();
  for (const analysis of analyses) {
    const outcome = analyzer.run(analysis);
    if (outcome.status !== 'not-recorded') continue;
    const { what, hint } = outcome;
    const known = missing.get(`${what}/${hint}`);
    if (known) known.titles.push(analysis.title);
    else missing.set(`${what}/${hint}`, { what, hint, titles: [analysis.title] });
  }
  if (missing.size === 0) return [];
  const facts = [...missing.values()].map(({ what, hint, titles }) => ({
    label: what,
    text: `needed for: ${titles.join(', ')}`,
    hint,
  }));
  return [{ kind: 'facts', id: 'not-measured', title: 'Not measured', facts }];
}

/** The same content without pictures, for Markdown. */
export function reportBlocks({ header, answer, sections }: Report): Block[] {
  const pieces = sections.flatMap(section => section.pieces);
  const inPieces = pieces.flatMap((piece): readonly Block[] => {
    if (piece.kind === 'block') return [piece.block];
    if (piece.kind === 'folded') return piece.blocks;
    if (piece.kind === 'chart' || piece.kind === 'flame') return piece.figures;
    return [rowsTable(topKernels, piece.rows as readonly (TopKernelRow & Record<string, unknown>)[])];
  });
  return [...[header, answer].filter(block => block !== undefined), ...inPieces];
}
