/** Every kind of block as HTML. */

import {
  absence,
  type BarsBlock,
  type Block,
  type FactsBlock,
  type StatementBlock,
  type WaterfallBlock,
} from '../../analyze/block.js';
import { NEUTRAL } from '../../analyze/names-and-colors.js';
import { scatterTable } from '../../analyze/scatter-table.js';
import { capitalized, formatChange, formatDuration, formatShare } from '../../base/units.js';
import { escapeHtml } from './escape.js';
import { findingsToHtml } from './findings.js';
import { fillOf } from './hatch.js';
import { heatToHtml } from './heat.js';
import { tableToHtml } from './table.js';

/** `under`: the heading the block stands under; a block of the same title does not repeat it. */
export function blockToHtml(block: Block, under = ''): string {
  switch (block.kind) {
    case 'table':
      return tableToHtml(block, under);
    case 'not-recorded':
      return `${heading(block, under)}<p class="muted">${capitalized(absence(block))}: ${escapeHtml(block.what)}; ${escapeHtml(block.hint)}.</p>`;
    case 'facts':
      return `${heading(block, under)}${factsToHtml(block)}`;
    case 'statement':
      return statementToHtml(block);
    case 'bars':
      return barsToHtml(block);
    case 'findings':
      return `${heading(block, under)}${findingsToHtml(block)}`;
    case 'scatter':
      return tableToHtml(scatterTable(block), under);
    case 'waterfall':
      return waterfallToHtml(block);
    case 'heat':
      return heatToHtml(block);
  }
}

const heading = ({ title }: Block, under: string) => (title === under ? '' : `<h3>${escapeHtml(title)}</h3>`);

function factsToHtml({ facts }: FactsBlock): string {
  const items = facts.map(({ label, text, tone, hint }) => {
    const more = hint ? ` <span class="hint">→ ${escapeHtml(hint)}</span>` : '';
    const look = tone ? ` class="${tone}"` : '';
    return `<div${look}><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(text)}${more}</dd></div>`;
  });
  return `<dl class="facts">${items.join('')}</dl>`;
}

function statementToHtml({ lines, quiet }: StatementBlock): string {
  return lines
    .map((line, i) => {
      const look = quiet ? 'muted' : i === 0 ? 'lead' : '';
      return `<p${look ? ` class="${look}"` : ''}>${escapeHtml(line)}</p>`;
    })
    .join('');
}

/** Bars are drawn with attributes: the page's policy allows no style in markup. */
function barsToHtml({ title, caption, rows, remark }: BarsBlock): string {
  const lines = rows.map(({ label, depth, ns, share, color }) => {
    const width = Math.max(share > 0 ? 1 : 0, Math.min(1, share) * 100).toFixed(2);
    const fill = color ? ` fill="${fillOf(color)}"` : ' class="idle"';
    return `<tr${depth > 0 ? ' class="deeper"' : ''}><th scope="row">${escapeHtml(label)}</th><td class="bar"><svg aria-hidden="true"><rect width="${width}%" height="100%"${fill}/></svg></td><td class="n">${formatDuration(ns)}</td><td class="n">${formatShare(share)}</td></tr>`;
  });
  const name = `${escapeHtml(title)}: ${escapeHtml(caption)}`;
  return `<div class="scroll" role="group" tabindex="0" aria-label="${name}"><table class="bars"><caption>${name}</caption><thead class="unseen"><tr><th scope="col">Part</th><th scope="col">Bar</th><th scope="col">Time</th><th scope="col">Share</th></tr></thead><tbody>${lines.join('')}</tbody></table></div>${remark ? `<p class="muted">${escapeHtml(remark)}</p>` : ''}`;
}

/** Each term begins where the one before ended; the first and last bars are the two steps. */
function waterfallToHtml({ title, from, to, terms }: WaterfallBlock): string {
  const most = Math.max(from.ns, to.ns, 1);
  const bar = (start: number, end: number, color: string) => {
    const left = (Math.min(start, end) / most) * 100;
    const width = Math.max((Math.abs(end - start) / most) * 100, 0.3);
    return `<td class="bar"><svg aria-hidden="true"><rect x="${left.toFixed(2)}%" width="${width.toFixed(2)}%" height="100%" fill="${fillOf(color)}"/></svg></td>`;
  };
  const row = (label: string, cells: string, figures: readonly string[]) =>
    `<tr><th scope="row">${escapeHtml(label)}</th>${cells}${figures.map(figure => `<td class="n">${figure}</td>`).join('')}</tr>`;
  let at = from.ns;
  const lines = terms.map(({ label, color, fromNs, toNs, changeNs }) => {
    const begin = at;
    at += changeNs;
    return row(label, bar(begin, at, color), [
      formatDuration(fromNs),
      formatDuration(toNs),
      formatChange(changeNs),
    ]);
  });
  const name = escapeHtml(title);
  const ends = [
    row(from.label, bar(0, from.ns, NEUTRAL), [formatDuration(from.ns), '', '']),
    row(to.label, bar(0, to.ns, NEUTRAL), ['', formatDuration(to.ns), formatChange(to.ns - from.ns)]),
  ];
  return `<div class="scroll" role="group" tabindex="0" aria-label="${name}"><table class="bars"><caption>${name}</caption><thead class="unseen"><tr><th scope="col">Part</th><th scope="col">Bar</th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Change</th></tr></thead><tbody>${[ends[0], ...lines, ends[1]].join('')}</tbody></table></div>`;
}
