/** Tables for pull requests and issues. Names are escaped: a pipe or a tag in a kernel name must not break out. */
import {
  absence,
  type BarsBlock,
  type Block,
  type FindingsBlock,
  type WaterfallBlock,
} from '../analyze/block.js';
import { scatterTable } from '../analyze/scatter-table.js';
import { ofStep, perStep } from '../analyze/words.js';
import { printable } from '../base/printable.js';
import { capitalized, formatChange, formatDuration, formatShare } from '../base/units.js';
import { cellFormatter } from './csv.js';
import type { Renderer } from './renderer.js';
import { renderHeat } from './text-heat.js';

export const markdown: Renderer = {
  id: 'markdown',
  mediaType: 'text/markdown',
  extension: 'md',
  render: blocks => blocks.map(renderBlock).join('\n'),
};

function renderBlock(block: Block): string {
  const head = `### ${escapeCell(block.title)} (\`${block.id}\`)\n\n`;
  if (block.kind === 'not-recorded')
    return `${head}${capitalized(absence(block))}: ${block.what}; ${block.hint}.\n`;
  if (block.kind === 'facts') {
    return `${head}${block.facts.map(fact => `- **${escapeCell(fact.label)}** ${escapeCell(fact.text)}`).join('\n')}\n`;
  }
  if (block.kind === 'statement') return `${block.lines.map(escapeCell).join('\n\n')}\n`;
  if (block.kind === 'bars') return `${head}${escapeCell(block.caption)}\n\n${barsTable(block)}`;
  if (block.kind === 'findings') return `${head}${findingsList(block)}`;
  if (block.kind === 'scatter') return renderBlock(scatterTable(block));
  if (block.kind === 'waterfall') return `${head}${waterfallTable(block)}`;
  // Shades survive in a code block.
  if (block.kind === 'heat')
    return `${head}\`\`\`\n${renderHeat(block, { width: 100, color: false })}\`\`\`\n`;
  if (block.rows === 0) return `${head}Nothing to report.\n`;
  const line = (cells: string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  const cells = block.columns.map(cellFormatter);
  const rows = Array.from({ length: block.rows }, (_, row) => line(cells.map(cell => cell(row))));
  const rule = block.columns.map(column =>
    column.kind === 'text' && column.align !== 'right' ? '---' : '---:',
  );
  return `${head}${[line(block.columns.map(column => column.header)), `|${rule.join('|')}|`, ...rows].join('\n')}\n`;
}

function findingsList({ findings, unmeasured }: FindingsBlock): string {
  const items = findings.map(
    ({ claim, phase, costShare, gain, confidence, evidence, advice, confirm }, i) => {
      const cost = costShare === null ? '' : ` Costs ${formatShare(costShare)} ${ofStep(phase)}.`;
      const win = gain ? ` Gain: ${formatDuration(gain.nsPerStep)} ${perStep(phase)}.` : '';
      const proof = evidence.map(({ text }) => `   - ${escapeCell(text)}\n`).join('');
      const todo = advice.map(
        ({ engine, text }) =>
          `   - → ${engine === 'any' ? '' : `${escapeCell(engine)}: `}${escapeCell(text)}\n`,
      );
      return `${i + 1}. **${escapeCell(claim)}**${cost}${win} (${confidence})\n${proof}${todo.join('')}   - confirm: ${escapeCell(confirm)}\n`;
    },
  );
  const missing = unmeasured.map(
    ({ what, hint }) => `- not measured: ${escapeCell(what)} → ${escapeCell(hint)}\n`,
  );
  return `${items.length > 0 ? items.join('') : 'No problems found.\n'}\n${missing.join('')}`;
}

function barsTable({ rows, remark }: BarsBlock): string {
  const lines = rows.map(({ label, depth, ns, share }) => {
    const name = `${'&nbsp;'.repeat(depth * 4)}${escapeCell(label)}`;
    return `| ${name} | ${formatDuration(ns)} | ${formatShare(share)} |`;
  });
  return `| | time | share |\n|---|---:|---:|\n${lines.join('\n')}\n${remark ? `\n${escapeCell(remark)}\n` : ''}`;
}

function waterfallTable({ from, to, terms }: WaterfallBlock): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  const rows = terms.map(({ label, fromNs, toNs, changeNs }) =>
    line([label, formatDuration(fromNs), formatDuration(toNs), formatChange(changeNs)]),
  );
  const sum = line(['step', formatDuration(from.ns), formatDuration(to.ns), formatChange(to.ns - from.ns)]);
  return `${line(['', from.label, to.label, 'change'])}\n|---|---:|---:|---:|\n${[...rows, sum].join('\n')}\n`;
}

function escapeCell(text: string): string {
  return printable(text.replace(/\s+/g, ' '))
    .replace(/[\\|`*_[\]]/g, '\\$&')
    .replaceAll('<', '&lt;');
}
