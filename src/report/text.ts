/** Blocks for a terminal: tables that fit its width, durations and sizes in units people read, colour if wanted. */
import {
  absence,
  type Block,
  type FactsBlock,
  KEEP,
  type TableBlock,
  type TableColumn,
} from '../analyze/block.js';
import { readableCell, shortHeader } from '../analyze/readable-cell.js';
import { printable } from '../base/printable.js';
import { plural } from '../base/units.js';
import type { RenderContext, Renderer } from './renderer.js';
import { painter, shorten, truncate, widthOf, wrap } from './terminal.js';
import { renderBars, renderStatement } from './text-bars.js';
import { renderFindings } from './text-findings.js';
import { renderHeat } from './text-heat.js';
import { renderScatter } from './text-scatter.js';
import { renderWaterfall } from './text-waterfall.js';

const LEAST_NAME_WIDTH = 32;
const GAP = 2;
/** A screenful of screens: beyond this a table is for a file, not a terminal. */
const MOST_ROWS = 2000;

export const text: Renderer = {
  id: 'table',
  mediaType: 'text/plain',
  extension: 'txt',
  render: (blocks, context) => blocks.map(block => renderBlock(block, context)).join('\n'),
};

function renderBlock(block: Block, context: RenderContext): string {
  const paint = painter(context.color);
  const names = wrap(block.title, context.width);
  const id = ` (${block.id})`;
  const title =
    names.map(paint.bold).join('\n') + (widthOf(names.at(-1)! + id) <= context.width ? paint.dim(id) : '');
  if (block.kind === 'facts') return `${paint.bold(block.title)}\n${renderFacts(block, context)}`;
  if (block.kind === 'statement') return renderStatement(block, context);
  if (block.kind === 'bars') return renderBars(block, context);
  if (block.kind === 'findings') return renderFindings(block, context);
  if (block.kind === 'scatter') return renderScatter(block, context);
  if (block.kind === 'waterfall') return renderWaterfall(block, context);
  if (block.kind === 'heat') return renderHeat(block, context);
  if (block.kind === 'not-recorded') {
    const lines = wrap(`${absence(block)}: ${block.what}; ${block.hint}`, context.width - 2);
    return `${title}\n${lines.map(line => `  ${paint.yellow(line)}`).join('\n')}\n`;
  }
  const advice = block.advice
    ? `${wrap(printable(block.advice), context.width - 2)
        .map(line => `  ${paint.dim(line)}`)
        .join('\n')}\n`
    : '';
  if (block.rows === 0) return `${title}\n${advice || `  ${paint.dim('nothing to report')}\n`}`;
  return `${title}\n${advice}${renderTable(block, context)}`;
}

function renderFacts(block: FactsBlock, context: RenderContext): string {
  const paint = painter(context.color);
  const isCounts = block.facts.every(fact => /^[\d,–]+$/.test(fact.label));
  const labelWidth = Math.max(...block.facts.map(fact => widthOf(fact.label)));
  const lines = block.facts.map(fact => {
    const label = isCounts ? fact.label.padStart(labelWidth) : fact.label.padEnd(labelWidth);
    const tone = fact.tone === 'bad' ? paint.yellow : fact.tone === 'quiet' ? paint.dim : (s: string) => s;
    const full = fact.hint ? `${fact.text} → ${fact.hint}` : fact.text;
    const body = fact.isCommand ? [printable(full)] : wrap(printable(full), context.width - labelWidth - 4);
    return body
      .map((line, i) => `  ${i === 0 ? paint.dim(label) : ' '.repeat(labelWidth)}  ${tone(line)}`)
      .join('\n');
  });
  return `${lines.join('\n')}\n`;
}

interface Prepared {
  readonly place: number;
  readonly column: TableColumn;
  readonly header: string;
  readonly cells: string[];
  readonly width: number;
}

function renderTable(block: TableBlock, context: RenderContext): string {
  const paint = painter(context.color);
  const rows = Math.min(block.rows, context.rowLimit ?? MOST_ROWS);
  let columns = block.columns.map((column, place) => prepare(column, place, rows));
  const hidden: Prepared[] = [];
  for (const candidate of leastNeededFirst(columns)) {
    if (fits(columns, context.width)) break;
    hidden.push(candidate);
    columns = columns.filter(column => column !== candidate);
  }
  const widths = share(columns, context.width);
  const cuts = columns.map((column, i) => cutOf(column, widths[i]));
  const line = (cells: readonly string[]) =>
    `  ${columns
      .map((column, i) => {
        const cell = cuts[i](cells[i], widths[i]);
        const space = ' '.repeat(Math.max(0, widths[i] - widthOf(cell)));
        return isText(column) && column.column.align !== 'right' ? cell + space : space + cell;
      })
      .join(' '.repeat(GAP))
      .trimEnd()}`;
  const lines = [paint.dim(line(columns.map(column => column.header)))];
  for (let row = 0; row < rows; row++) lines.push(line(columns.map(column => column.cells[row])));
  const remark = (text: string) =>
    lines.push(...wrap(printable(text), context.width - 2).map(part => paint.dim(`  ${part}`)));
  const all = context.allColumns ?? '--csv';
  if (block.rows > rows)
    remark(`… ${plural(block.rows - rows, 'more row')} (--rows N shows more, ${all} all)`);
  if (hidden.length > 0) {
    const headers = hidden.sort((a, b) => a.place - b.place).map(({ header }) => header);
    remark(`hidden to fit the width: ${headers.join(', ')} (${all} has all)`);
  }
  return `${lines.join('\n')}\n`;
}

/** Names lose their middle, unless that is where they differ. */
function cutOf(column: Prepared, width: number): typeof shorten {
  if (!isText(column)) return truncate;
  const told = (cut: typeof shorten) => new Set(column.cells.map(cell => cut(cell, width))).size;
  return told(shorten) >= told(truncate) ? shorten : truncate;
}

function prepare(column: TableColumn, place: number, rows: number): Prepared {
  const header = printable(shortHeader(column.header));
  const format = readableCell(column);
  const cells = Array.from({ length: rows }, (_, row) => format(row));
  const width = cells.reduce((most, cell) => Math.max(most, widthOf(cell)), widthOf(header));
  return { place, column, header, cells, width };
}

/** The columns a narrow table may lose, in the order it loses them. */
function leastNeededFirst(columns: readonly Prepared[]): Prepared[] {
  const priorityOf = ({ place, column: { kind, priority } }: Prepared) =>
    priority ?? (place === 0 || kind === 'ns-change' ? KEEP : 0);
  return columns
    .filter(column => priorityOf(column) < KEEP)
    .sort((a, b) => priorityOf(a) - priorityOf(b) || b.place - a.place);
}

const isText = (column: Prepared) => column.column.kind === 'text';

function fits(columns: readonly Prepared[], width: number): boolean {
  const needed = columns.reduce(
    (sum, c) => sum + (isText(c) ? Math.min(c.width, LEAST_NAME_WIDTH) : c.width) + GAP,
    0,
  );
  return needed <= width;
}

/** Numbers keep their width; text columns share what is left, short ones first. */
function share(columns: readonly Prepared[], width: number): number[] {
  const fixed = columns.reduce((sum, column) => sum + GAP + (isText(column) ? 0 : column.width), 0);
  let room = width - fixed;
  const widths = columns.map(column => column.width);
  const texts = columns.map((_, i) => i).filter(i => isText(columns[i]));
  texts.sort((a, b) => columns[a].width - columns[b].width);
  texts.forEach((i, done) => {
    widths[i] = Math.min(columns[i].width, Math.max(4, Math.floor(room / (texts.length - done))));
    room -= widths[i];
  });
  return widths;
}
