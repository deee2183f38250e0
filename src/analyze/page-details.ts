/** The lower half of the page: kernels per step, one line for each other question, and the steps. */

import { formatCount, formatDuration, significant } from '../base/units.js';
import { type FamilyId, familyOf } from '../catalog/kernels/families.js';
import { type Phase, phases } from '../catalog/phases.js';
import type { Profile } from '../model/profile.js';
import { medianOf, summarize } from '../stats/summary.js';
import type { Analysis, AnalysisResult, Analyzer, AnyAnalysis } from './analysis.js';
import type { Block, Fact, FactsBlock, TableBlock } from './block.js';
import type { FamilyRow } from './gpu/family-row.js';
import { kernelFamilies } from './gpu/kernel-families.js';
import type { IterationRow } from './inference/iterations.js';
import { layers } from './inference/layers.js';
import { tableOf } from './table-of.js';

/** What an analysis gave, or undefined where the capture cannot answer. */
export type Ask = <Row extends { readonly key: string }>(
  analysis: Analysis<Row, AnalysisResult<Row>>,
) => AnalysisResult<Row> | undefined;

const MOST_FAMILIES = 10;
const MOST_STEPS = 12;
const MOST_BENCHMARKS = 4;

export function pageFamilies(ask: Ask, phase: Phase | null): Block[] {
  const found = ask(kernelFamilies);
  if (!found) return [];
  const own = found.rows
    .flatMap(row => {
      const part = row.phases.find(candidate => candidate.phase === phase);
      return part ? [{ label: familyLabel(row), ...part }] : [];
    })
    .sort((a, b) => b.nsPerStep - a.nsPerStep);
  const rest = own.slice(MOST_FAMILIES - 1);
  const shown = rest.length > 1 ? own.slice(0, MOST_FAMILIES - 1) : own;
  const sum = (of: (part: (typeof own)[number]) => number, parts = own) =>
    parts.reduce((total, part) => total + of(part), 0);
  const lines = [
    ...shown,
    ...(rest.length > 1
      ? [
          {
            label: `${rest.length} more families`,
            kernelsPerStep: sum(part => part.kernelsPerStep, rest),
            nsPerStep: sum(part => part.nsPerStep, rest),
          },
        ]
      : []),
  ];
  const total = sum(part => part.nsPerStep);
  const table: TableBlock = tableOf(
    lines,
    {
      id: 'kernel-families',
      title: `Kernels ${phase === null ? 'in total' : 'per step'}${structureText(ask, phase)}`,
    },
    [
      ['Family', 'text', line => line.label],
      ['Count', 'mean', line => line.kernelsPerStep],
      ['Time', 'ns-mean', line => line.nsPerStep],
      ['Share of GPU time (%)', 'share', line => line.nsPerStep / total],
    ],
  );
  return [table];
}

/** `GEMM (bf16, cuBLAS)`: what all kernels of the family have in common. */
function familyLabel(row: FamilyRow): string {
  const { label } = familyOf(row.family as FamilyId);
  const shared = (['variant', 'dtype', 'library'] as const)
    .map(word => new Set(row.variants.map(variant => variant[word])))
    .flatMap(words => (words.size === 1 ? [...words] : []))
    .filter(word => word !== '');
  return shared.length > 0 ? `${label} (${shared.join(', ')})` : label;
}

/** `  1,016 = 22 × 46 + 4`: what repeats inside a step. */
function structureText(ask: Ask, phase: Phase | null): string {
  const found = ask(layers);
  const structure = found?.summary?.structure as
    | { phase: string; repeats: number; kernelsPerRepeat: number; otherKernels: number; kernels: number }
    | null
    | undefined;
  if (!structure || structure.phase !== phase) return '';
  const { repeats, kernelsPerRepeat, otherKernels, kernels } = structure;
  // Models that alternate two kinds of layers repeat every second one: only named layers are called layers.
  const isLayer =
    found?.summary?.layers === repeats && !(found.summary.methods as string[]).includes('pattern');
  const rest = otherKernels > 0 ? ` + ${otherKernels}` : '';
  return `  ${formatCount(kernels)} = ${repeats} ${isLayer ? 'layers ' : ''}× ${kernelsPerRepeat}${rest}`;
}

/** Results of benchmarks of the same run: what its clients saw, next to what the profile shows. */
export function benchmarkFacts({ benchmarks = [] }: Profile): FactsBlock[] {
  const facts = benchmarks.slice(0, MOST_BENCHMARKS).map((run): Fact => {
    const { outputTokens } = run.throughput;
    const { tpot } = run.latency;
    const median = tpot?.percentilesNs[50] ?? tpot?.meanNs;
    const text = [
      outputTokens !== undefined && `${formatCount(Math.round(outputTokens))} output tokens/s`,
      median !== undefined && `time per output token ${formatDuration(median)}`,
      run.load.maxConcurrency !== undefined && `concurrency ${formatCount(run.load.maxConcurrency)}`,
    ].filter(part => part !== false);
    return { label: run.tool, text: text.join(', ') || 'neither throughput nor time per token' };
  });
  if (facts.length === 0) return [];
  return [{ kind: 'facts', id: 'benchmarks', title: 'Benchmarks of this run', facts }];
}

/** A line of every analysis that has one to say. */
export function moreFacts(
  analyzer: Analyzer,
  analyses: readonly AnyAnalysis[],
  phase: Phase | null,
): FactsBlock {
  const said: Fact[] = [];
  for (const analysis of analyses) {
    if (!analysis.headline) continue;
    const outcome = analyzer.run(analysis);
    if (outcome.status === 'ok') {
      const text = analysis.headline?.text(outcome.result, phase);
      if (text) said.push({ label: analysis.headline!.label, text });
    } else if (outcome.status === 'failed') {
      said.push({ label: analysis.id, text: `failed: ${outcome.message}`, tone: 'bad' });
    }
  }
  return { kind: 'facts', id: 'details', title: 'Details', facts: said };
}

/** Times of the selected steps, a line per phase. */
export function stepsFacts(rows: readonly IterationRow[]): FactsBlock {
  const selected = rows.filter(row => row.selected);
  const kinds = phases.filter(({ id }) => selected.some(row => row.phase === id));
  const facts = kinds.map(({ id, label }): Fact => {
    const own = selected.filter(row => row.phase === id);
    const typical = medianOf(Float64Array.from(own, row => row.wallNs));
    const unit = typical >= 1e6 ? { ns: 1e6, label: 'ms' } : { ns: 1e3, label: 'µs' };
    return {
      label: kinds.length > 1 ? `${label}, ${unit.label}` : unit.label,
      text: timesText(own, unit.ns),
    };
  });
  return { kind: 'facts', id: 'steps', title: 'Steps', facts };
}

function timesText(rows: readonly IterationRow[], unitNs: number): string {
  const walls = rows.map(row => row.wallNs);
  const sorted = Float64Array.from(walls).sort();
  const { median, max } = summarize(Float64Array.from(walls));
  const p99 = sorted[Math.ceil(0.99 * sorted.length) - 1];
  const slowest = rows.find(row => row.wallNs === max)!;
  const listed = walls.slice(0, MOST_STEPS).map(ns => significant(ns / unitNs, 3));
  const more = walls.length > MOST_STEPS ? ` … ${walls.length - MOST_STEPS} more` : '';
  if (walls.length === 1) return `${listed[0]}   iteration ${slowest.iteration}`;
  return `${listed.join('  ')}${more}   p50 ${formatDuration(median)}  p99 ${formatDuration(p99)}   slowest ${slowest.iteration}`;
}
