/** A trend with its plots: lines of characters in the terminal, a spark for each metric in Markdown. */
import { describeTrend, seriesName } from '../gate/describe-trend.js';
import { formatValue } from '../gate/quantity.js';
import type { Trend } from '../gate/trend.js';
import { markdown } from './markdown.js';
import type { RenderContext } from './renderer.js';
import { text } from './text.js';
import { linePlot, sparkline } from './text-plot.js';

const PLOT_ROWS = 8;

export function trendText(found: Trend, context: RenderContext): string {
  const [answer, ...tables] = describeTrend(found);
  const plots = found.series
    .filter(({ measured }) => measured > 0)
    .map((series, i) => {
      const plot = linePlot(
        series.points.map(({ value }) => value),
        {
          width: context.width,
          height: PLOT_ROWS,
          format: value => formatValue(value, series.metric.unit),
          breaks: series.changes.map(({ after }) => after),
        },
      );
      return `${text.render([tables[i]], context)}\n${plot}`;
    });
  return [text.render([answer], context), ...plots].join('\n');
}

export function trendMarkdown(found: Trend): string {
  const sparks = found.series.map(
    series => `- ${seriesName(series)} \`${sparkline(series.points.map(({ value }) => value))}\`\n`,
  );
  const [answer, ...tables] = describeTrend(found);
  const render = (blocks: typeof tables) => markdown.render(blocks, { width: Infinity, color: false });
  return `${render([answer])}\n${sparks.join('')}\n${render(tables)}`;
}
