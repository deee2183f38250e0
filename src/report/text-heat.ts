/** A heat map for a terminal: a block of ink per cell, more ink for more. */
import type { HeatBlock } from '../analyze/block.js';
import { heatBounds, shadeOf, shrinkHeat } from '../analyze/heat-cells.js';
import type { RenderContext } from './renderer.js';
import { painter, truncate, widthOf } from './terminal.js';

const INK = [' ', '·', '░', '▒', '▓', '█', '█'];
const MOST_ROWS = 30;
const WIDEST = 128;

export function renderHeat(block: HeatBlock, context: RenderContext): string {
  const paint = painter(context.color);
  const shown = shrinkHeat(block, MOST_ROWS, WIDEST);
  const labels = Math.max(...shown.rows.map(widthOf));
  const room = Math.max(16, Math.min(WIDEST, context.width - labels - 4));
  const fitted = shrinkHeat(shown, MOST_ROWS, room);
  const lines = fitted.rows.map((label, row) => {
    let ink = '';
    for (let column = 0; column < fitted.columns; column++) {
      const shade = shadeOf(fitted.values[row * fitted.columns + column]);
      const cell = shade < 0 ? ' ' : INK[shade];
      ink +=
        shade === heatBounds.length
          ? paint.red(cell)
          : shade === heatBounds.length - 1
            ? paint.yellow(cell)
            : cell;
    }
    return `  ${paint.dim(label.padEnd(labels))}  ${ink}`;
  });
  const gap = Math.max(1, fitted.columns - widthOf(block.from) - widthOf(block.to));
  const axis = `  ${' '.repeat(labels)}  ${block.from}${' '.repeat(gap)}${block.to}`;
  const [half, less, even, twice, four] = heatBounds;
  const legend = `  ${' '.repeat(labels)}  ' ' under ${half}×   · up to ${less}×   ░ up to ${even}×   ▒ up to ${twice}×   ▓ up to ${four}×   █ above`;
  const head = `${paint.bold(block.title)}  ${paint.dim(truncate(block.caption, context.width - widthOf(block.title) - 2))}`;
  return `${[head, ...lines, paint.dim(axis), paint.dim(legend)].join('\n')}\n`;
}
