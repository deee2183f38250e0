/** Bars and sentences for a terminal. */
import type { BarsBlock, StatementBlock } from '../analyze/block.js';
import { isIdleColor } from '../analyze/names-and-colors.js';
import { printable } from '../base/printable.js';
import { formatDuration, formatShare } from '../base/units.js';
import type { RenderContext } from './renderer.js';
import { painter, shorten, widthOf, wrap } from './terminal.js';

const LONGEST_BAR = 32;
const LEAST_BAR = 8;
const LEAST_LABEL = 12;
const FIGURES_WIDTH = 20;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar in eighths of a character; anything above nothing shows. */
function bar(share: number, width: number): string {
  const eighths = Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, share) * width * 8));
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7];
}

/** Idle time looks different without colour too; there are no eighths of it. */
function idleBar(share: number, width: number): string {
  const exact = Math.min(1, share) * width;
  return exact > 0 && exact < 0.5 ? '░' : '▒'.repeat(Math.round(exact));
}

export function renderBars(block: BarsBlock, context: RenderContext): string {
  const paint = painter(context.color, context.colorDepth);
  const label = (row: BarsBlock['rows'][number]) => `${'  '.repeat(row.depth)}${row.label}`;
  const labels = Math.max(...block.rows.map(row => widthOf(label(row))));
  // On a narrow terminal bars give way before labels do.
  const room = Math.min(LONGEST_BAR, context.width - labels - FIGURES_WIDTH - 6);
  const bars = room < LEAST_BAR ? 0 : room;
  const names = Math.min(labels, Math.max(LEAST_LABEL, context.width - FIGURES_WIDTH - 4));
  const lines = block.rows.map(row => {
    const drawn = isIdleColor(row.color) ? idleBar(row.share, bars) : bar(row.share, bars);
    const space = ' '.repeat(bars === 0 ? 0 : 2 + Math.max(0, bars - widthOf(drawn)));
    const figures = `${formatDuration(row.ns).padStart(10)}  ${formatShare(row.share).padStart(6)}`;
    const tone = (text: string) => (row.depth > 0 ? paint.dim(text) : text);
    const name = shorten(label(row), names).padEnd(names);
    return `  ${tone(name)}  ${bars === 0 ? '' : paint.ink(row.color, drawn)}${space}${tone(figures)}`;
  });
  const beside = context.width - widthOf(block.title) - 2;
  const caption =
    widthOf(block.caption) <= beside
      ? `  ${paint.dim(block.caption)}`
      : wrap(block.caption, context.width - 2)
          .map(line => `\n  ${paint.dim(line)}`)
          .join('');
  const head = `${paint.bold(block.title)}${caption}`;
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
