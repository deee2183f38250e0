/** Bars and sentences for a terminal. */
import type { BarsBlock, StatementBlock } from '../analyze/block.js';
import { printable } from '../base/printable.js';
import { formatDuration, formatShare } from '../base/units.js';
import type { RenderContext } from './renderer.js';
import { painter, truncate, widthOf, wrap } from './terminal.js';

const LONGEST_BAR = 32;
const FIGURES_WIDTH = 20;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar in eighths of a character; anything above nothing shows. */
function bar(share: number, width: number): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, share) * width * 8));
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7];
}

export function renderBars(block: BarsBlock, context: RenderContext): string {
  const paint = painter(context.color);
  const label = (row: BarsBlock['rows'][number]) => `${'  '.repeat(row.depth)}${row.label}`;
  const labels = Math.max(...block.rows.map(row => widthOf(label(row))));
  const bars = Math.max(8, Math.min(LONGEST_BAR, context.width - labels - FIGURES_WIDTH - 6));
  const lines = block.rows.map(row => {
    const drawn = bar(row.share, bars).padEnd(bars);
    const figures = `${formatDuration(row.ns).padStart(10)}  ${formatShare(row.share).padStart(6)}`;
    const text = `  ${label(row).padEnd(labels)}  ${drawn}  ${figures}`;
    return row.depth > 0 ? paint.dim(text) : text;
  });
  const head = `${paint.bold(block.title)}  ${paint.dim(truncate(block.caption, context.width - widthOf(block.title) - 2))}`;
  const remark = block.remark
    ? wrap(block.remark, context.width - 2).map(line => paint.dim(`  ${line}`))
    : [];
  return `${[head, ...lines, ...remark].join('\n')}\n`;
}

export function renderStatement(block: StatementBlock, context: RenderContext): string {
  const paint = painter(context.color);
  const lines = block.lines.flatMap((line, i) =>
    wrap(printable(line), context.width - 2).map(
      part => `  ${block.quiet ? paint.dim(part) : i === 0 ? paint.bold(part) : part}`,
    ),
  );
  return `${lines.join('\n')}\n`;
}
