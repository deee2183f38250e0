/** The page of `stepscope frameworks`: the blocks of the terminal in sections, where a token's time goes as a chart. */

import { busyParts, causeLook, OTHER_IDLE } from '../../analyze/names-and-colors.js';
import type { FrameworkComparison } from '../../compare/frameworks/compare-frameworks.js';
import {
  answerBlock,
  describeFrameworks,
  headerBlock,
} from '../../compare/frameworks/describe-frameworks.js';
import { budgetOf } from '../../compare/frameworks/framework.js';
import { partWords } from '../../compare/frameworks/verdict.js';
import { type TokenPart, tokenParts } from '../../run/token-budget.js';
import { composeSections } from './compose.js';
import { tokenStack } from './framework-charts.js';
import type { Cutter } from './limits.js';
import type { Piece, Report } from './sections.js';
import type { StackedBar } from './stacked-bars.js';

const colors: Readonly<Record<TokenPart, string>> = {
  kernels: busyParts.compute.color,
  communication: busyParts.communication.color,
  copies: busyParts.copies.color,
  host: causeLook('host-code').color,
  otherIdle: OTHER_IDLE,
};

const sectionTitles: readonly (readonly [id: string, title: string, holds: RegExp])[] = [
  ['measured', 'Measured', /^frameworks-measured$/],
  ['token', 'Per token', /^frameworks-token-/],
  ['kernels', 'Kernels', /^frameworks-(kernels|families)$/],
  ['memory', 'Memory', /^frameworks-memory$/],
  ['throughput', 'Time per token and throughput', /^frameworks-(throughput|scatter)$/],
  ['fairness', 'Is the comparison fair?', /^frameworks-fairness$/],
  ['not-recorded', 'Not recorded', /^frameworks-missing$/],
];

export function frameworksPage(comparison: FrameworkComparison, cutter: Cutter): Report {
  const blocks = describeFrameworks(comparison);
  const sections = sectionTitles.map(([id, title, holds]) => ({
    id,
    title,
    blocks: blocks.filter(block => holds.test(block.id)),
    appendix: id === 'memory' || id === 'not-recorded',
    before: id === 'token' && blocks.some(block => holds.test(block.id)) ? stack(comparison) : [],
  }));
  const bars = tokenBars(comparison);
  const wholeNs = Math.max(...bars.map(({ wallNs }) => wallNs));
  const summary = { figures: [], bars: bars.map(bar => ({ ...bar, wholeNs })), title: '', actions: [] };
  return composeSections(headerBlock(comparison), answerBlock(comparison), sections, cutter, summary);
}

function tokenBars({ frameworks, phase }: FrameworkComparison): StackedBar[] {
  return frameworks.flatMap(framework => {
    const budget = budgetOf(framework, phase);
    if (!budget) return [];
    const parts = tokenParts.map(part => ({
      label: partWords[part],
      color: colors[part],
      ns: budget.partsNs[part] / budget.tokens,
    }));
    return [{ name: framework.name, wallNs: budget.wallNs / budget.tokens, parts }];
  });
}

function stack(comparison: FrameworkComparison): Piece[] {
  const chart = tokenStack('token-stack', comparison.phase ?? '', tokenBars(comparison));
  return chart ? [{ kind: 'chart', chart, figures: [] }] : [];
}
