/** A waterfall for a terminal: from one time to the other, each term with a bar to the side it moves. */
import type { WaterfallBlock } from '../analyze/block.js';
import { isIdleColor } from '../analyze/names-and-colors.js';
import { printable } from '../base/printable.js';
import { formatChange, formatDuration } from '../base/units.js';
import type { RenderContext } from './renderer.js';
import { painter, shorten, widthOf } from './terminal.js';

const LONGEST_HALF = 12;
const LEAST_LABEL = 16;
const FIGURES = 36;

export function renderWaterfall({ title, from, to, terms }: WaterfallBlock, context: RenderContext): string {
  const paint = painter(context.color, context.colorDepth);
  const labels = [from.label, to.label, ...terms.map(term => term.label)].map(printable);
  // On a narrow terminal bars give way before names do.
  const longest = Math.max(LEAST_LABEL, ...labels.map(widthOf));
  const forBars = Math.floor((context.width - FIGURES - longest - 6) / 2);
  const half = Math.max(2, Math.min(LONGEST_HALF, forBars));
  const room = Math.max(LEAST_LABEL - 8, context.width - FIGURES - 2 * half - 6);
  const width = Math.min(room, Math.max(...labels.map(widthOf)));
  const most = Math.max(...terms.map(({ changeNs }) => Math.abs(changeNs)), 1);
  const line = (label: string, bar: string, figures: readonly string[]) => {
    const name = shorten(printable(label), width);
    const cells = figures.map(figure => figure.padStart(11)).join(' ');
    return `  ${name}${' '.repeat(width - widthOf(name))}  ${bar}  ${cells}`.trimEnd();
  };
  const empty = ' '.repeat(2 * half);
  const shown = terms.filter(({ fromNs, toNs }) => fromNs > 0 || toNs > 0);
  const lines = shown.map(({ label, color, fromNs, toNs, changeNs }) => {
    const length = Math.round((Math.abs(changeNs) / most) * half);
    const drawn = paint.ink(color, (isIdleColor(color) ? '▒' : '█').repeat(length));
    const rest = ' '.repeat(half - length);
    const bar = changeNs < 0 ? rest + drawn + ' '.repeat(half) : ' '.repeat(half) + drawn + rest;
    return line(label, bar, [formatDuration(fromNs), formatDuration(toNs), formatChange(changeNs)]);
  });
  const head = line('', empty, ['before', 'after', 'change']);
  return `${[
    paint.bold(title),
    paint.dim(head),
    line(from.label, empty, [formatDuration(from.ns)]),
    ...lines,
    line(to.label, empty, ['', formatDuration(to.ns), formatChange(to.ns - from.ns)]),
  ].join('\n')}\n`;
}
