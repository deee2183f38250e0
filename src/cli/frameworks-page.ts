/** The comparison as one HTML file: the blocks of the terminal in sections, charts beside the tables they draw. */
import type { Block } from '../analyze/block.js';
import { busyParts } from '../analyze/names-and-colors.js';
import type { FrameworkComparison } from '../compare/frameworks/compare-frameworks.js';
import { answerBlock, describeFrameworks, headerBlock } from '../compare/frameworks/describe-frameworks.js';
import { budgetOf } from '../compare/frameworks/framework.js';
import { partWords } from '../compare/frameworks/verdict.js';
import { scatterChart, tokenStack } from '../report/html/framework-charts.js';
import { Cutter, levels } from '../report/html/limits.js';
import { pageOf } from '../report/html/page.js';
import type { Piece, Section } from '../report/html/sections.js';
import { type TokenPart, tokenParts } from '../run/token-budget.js';
import { pageAssets } from './page-assets.js';

const colors: Readonly<Record<TokenPart, string>> = {
  kernels: busyParts.compute.color,
  communication: busyParts.communication.color,
  copies: busyParts.copies.color,
  host: '#e69f00',
  otherIdle: '#a5adb6',
};

const sectionTitles: readonly (readonly [id: string, title: string, holds: RegExp])[] = [
  ['measured', 'Measured', /^frameworks-measured$/],
  ['token', 'Per token', /^frameworks-token-/],
  ['kernels', 'Kernels', /^frameworks-(kernels|families)$/],
  ['memory', 'Memory', /^frameworks-memory$/],
  ['throughput', 'Time per token and throughput', /^frameworks-(throughput|scatter)$/],
  ['fairness', 'Is it fair?', /^frameworks-fairness$/],
  ['not-recorded', 'Not recorded', /^frameworks-missing$/],
];

export function frameworksPage(comparison: FrameworkComparison): string {
  const cutter = new Cutter(levels[0]);
  const blocks = describeFrameworks(comparison);
  const sections = sectionTitles.flatMap(([id, title, holds]): Section[] => {
    const own = blocks.filter(block => holds.test(block.id));
    if (own.length === 0) return [];
    const drawn = id === 'token' ? stack(comparison) : [];
    return [{ id, title, pieces: [...drawn, ...own.map(block => pieceOf(block, cutter))] }];
  });
  const report = { header: headerBlock(comparison), answer: answerBlock(comparison), sections };
  return pageOf(report, cutter, pageAssets());
}

function pieceOf(block: Block, cutter: Cutter): Piece {
  return block.kind === 'scatter'
    ? { kind: 'chart', chart: scatterChart(block), figures: [block] }
    : { kind: 'block', block: cutter.block(block) };
}

function stack({ frameworks, phase }: FrameworkComparison): Piece[] {
  const bars = frameworks.flatMap(framework => {
    const budget = budgetOf(framework, phase);
    if (!budget) return [];
    const parts = tokenParts.map(part => ({
      label: partWords[part],
      color: colors[part],
      ns: budget.partsNs[part] / budget.tokens,
    }));
    return [{ name: framework.name, wallNs: budget.wallNs / budget.tokens, parts }];
  });
  const chart = tokenStack('token-stack', phase ?? '', bars);
  return chart ? [{ kind: 'chart', chart, figures: [] }] : [];
}
