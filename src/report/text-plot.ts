/** A series of numbers drawn with characters: a plot of several lines, and a sparkline for where one line is all there is. */
import { widthOf } from './terminal.js';

const EIGHTHS = '▁▂▃▄▅▆▇█';

/** One character per value, from the lowest to the highest; a gap where there is none. */
export function sparkline(values: readonly (number | undefined)[]): string {
  const [low, high] = bounds(values);
  return values
    .map(value => {
      if (value === undefined) return ' ';
      return EIGHTHS[high > low ? Math.min(7, Math.floor(((value - low) / (high - low)) * 8)) : 3];
    })
    .join('');
}

interface PlotOptions {
  readonly width: number;
  readonly height: number;
  readonly format: (value: number) => string;
  /** Positions after which a new level begins. */
  readonly breaks: readonly number[];
}

/**
 *   4.21 ms ┤        ┊ ● ● ●
 *           ┤        ┊●   ●
 *   3.79 ms ┤● ● ●● ●┊
 *           └────────┴──────
 */
export function linePlot(values: readonly (number | undefined)[], options: PlotOptions): string {
  const [low, high] = bounds(values);
  if (low > high) return '';
  const { height, format, breaks } = options;
  const labels = [format(high), format(low)];
  const margin = Math.max(...labels.map(widthOf)) + 4;
  const columns = columnsOf(values.length, Math.max(8, Math.min(120, options.width - margin)));
  const width = columns(values.length - 1) + 1;
  const rows = Array.from({ length: height }, () => Array.from({ length: width }, () => ' '));
  // Drawn in the room before the run; where runs stand shoulder to shoulder, a point goes over it.
  const breakColumns = breaks.map(
    after => columns(after) + (columns(after + 1) - columns(after) > 1 ? 1 : 0),
  );
  for (const column of breakColumns) for (const row of rows) row[column] = '┊';
  values.forEach((value, i) => {
    if (value === undefined) return;
    const share = high > low ? (value - low) / (high - low) : 0.5;
    rows[Math.round((1 - share) * (height - 1))][columns(i)] = '●';
  });
  const label = (row: number) => (row === 0 ? labels[0] : row === height - 1 ? labels[1] : '');
  const lines = rows.map(
    (row, i) => `  ${' '.repeat(margin - 4 - widthOf(label(i)))}${label(i)} ┤${row.join('').trimEnd()}`,
  );
  const axis = Array.from({ length: width }, (_, i) => (breakColumns.includes(i) ? '┴' : '─')).join('');
  return `${[...lines, `${' '.repeat(margin - 1)}└${axis}`].join('\n')}\n`;
}

/** Runs with room between them where there is room; squeezed together where there are more than columns. */
function columnsOf(count: number, room: number): (index: number) => number {
  const spread = Math.max(1, Math.min(4, Math.floor(room / Math.max(1, count))));
  if (count * spread <= room) return index => index * spread;
  return index => Math.floor((index / count) * room);
}

function bounds(values: readonly (number | undefined)[]): [low: number, high: number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === undefined) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}
