/**
 * A scatter on a terminal: one letter per point, its name beside the picture.
 *
 *   output tok/s
 *   1,821 ┤              B        A  eager
 *         ┤                       B  graph
 *     337 ┤A
 *         └──────────────────
 *          303 µs      311 µs  kernels per token
 */
import type { ScatterAxis, ScatterBlock } from '../analyze/block.js';
import { readableCell } from '../analyze/readable-cell.js';
import { printable } from '../base/printable.js';
import type { RenderContext } from './renderer.js';
import { painter, truncate, widthOf, wrap } from './terminal.js';

const ROWS = 8;
const WIDEST = 44;
const NARROWEST = 10;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

export function renderScatter(block: ScatterBlock, context: RenderContext): string {
  const paint = painter(context.color);
  const { points, x, y, remark } = block;
  const remarks = remark ? wrap(remark, context.width - 2).map(line => paint.dim(`  ${line}`)) : [];
  const title = paint.bold(truncate(block.title, context.width));
  if (points.length === 0) return `${[title, ...remarks].join('\n')}\n`;
  const [left, right] = range(points.map(point => point.x));
  const [bottom, top] = range(points.map(point => point.y));
  const yLabels = [format(y, top), format(y, bottom)];
  const margin = Math.max(...yLabels.map(widthOf)) + 2;
  const names = points.map((point, i) => `${mark(i)}  ${printable(point.label)}`);
  const widestName = Math.max(...names.map(widthOf));
  const room = context.width - margin - 6;
  // Names stand beside the picture where both fit, else below it.
  const beside = room - widestName - 2 >= NARROWEST;
  const width = Math.max(NARROWEST, Math.min(WIDEST, beside ? room - widestName - 2 : room));
  const grid = Array.from({ length: ROWS }, () => Array.from({ length: width }, () => ' '));
  points.forEach((point, i) => {
    const row = ROWS - 1 - place(point.y, bottom, top, ROWS);
    const column = place(point.x, left, right, width);
    // Two on one spot: the second would hide the first.
    grid[row][column] = grid[row][column] === ' ' ? mark(i) : '*';
  });
  const lines = grid.map((cells, row) => {
    const label = row === 0 ? yLabels[0] : row === ROWS - 1 ? yLabels[1] : '';
    const picture = `  ${label.padStart(margin - 2)} ┤${cells.join('')}`;
    return beside && row < names.length ? `${picture}  ${names[row]}` : picture.trimEnd();
  });
  const below = beside ? names.slice(ROWS) : names;
  const [first, last] = [format(x, left), format(x, right)];
  const space = width - widthOf(first) - widthOf(last);
  const ends = space > 0 ? `${first}${' '.repeat(space)}${last}` : `${first} – ${last}`;
  const under = ' '.repeat(margin + 2);
  return `${[
    title,
    paint.dim(truncate(`  ${y.label}`, context.width)),
    ...lines.map(line => truncate(line, context.width)),
    `${' '.repeat(margin + 1)}└${'─'.repeat(width)}`,
    truncate(`${under}${ends}`, context.width),
    paint.dim(truncate(`${under}${x.label}`, context.width)),
    ...below.map(name => truncate(`${under}${name}`, context.width)),
    ...remarks,
  ].join('\n')}\n`;
}

const mark = (index: number) => LETTERS[index] ?? '+';

const format = ({ kind }: ScatterAxis, value: number) =>
  readableCell({ header: '', kind, values: [value] })(0);

const range = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];

function place(value: number, from: number, to: number, cells: number): number {
  return to > from ? Math.round(((value - from) / (to - from)) * (cells - 1)) : Math.floor(cells / 2);
}
