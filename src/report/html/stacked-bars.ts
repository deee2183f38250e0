/** Bars side by side, each split into parts that sum to it: steps of several runs, tokens of several frameworks. */
import { isIdleColor } from '../../analyze/names-and-colors.js';
import { formatDuration, formatShare } from '../../base/units.js';
import type { ChartSpec, Dataset } from './chart.js';

export interface StackedBar {
  readonly name: string;
  readonly wallNs: number;
  readonly parts: readonly { readonly label: string; readonly color: string; readonly ns: number }[];
}

/** `per`: what a bar is per, for its tip. */
export function stackedBars(
  words: { readonly id: string; readonly title: string; readonly about: string; readonly per?: string },
  bars: readonly StackedBar[],
): ChartSpec {
  const { per = '', ...said } = words;
  const labels = [...new Set(bars.flatMap(bar => bar.parts.map(part => part.label)))];
  const partOf = (bar: StackedBar, label: string) => bar.parts.find(part => part.label === label);
  const datasets = labels.map((label): Dataset => {
    const { color } = bars.map(bar => partOf(bar, label)).find(part => part !== undefined)!;
    return {
      label,
      data: bars.map(bar => partOf(bar, label)?.ns ?? 0),
      backgroundColor: color,
      hatched: isIdleColor(color),
      maxBarThickness: 46,
    };
  });
  return {
    ...said,
    label: `Stacked bars: ${bars.map(bar => `${bar.name} ${formatDuration(bar.wallNs)}`).join(', ')}.`,
    type: 'bar',
    data: { labels: bars.map(bar => bar.name), datasets },
    options: {
      indexAxis: 'y',
      scales: {
        x: { stacked: true, beginAtZero: true },
        y: { stacked: true, grid: { display: false }, ticks: { autoSkip: false } },
      },
    },
    x: 'duration',
    y: 'plain',
    tips: bars.map(bar => [
      `${bar.name}: ${formatDuration(bar.wallNs)}${per}`,
      ...bar.parts
        .filter(part => part.ns > 0)
        .map(
          part =>
            `${part.label} ${formatDuration(part.ns)} (${formatShare(bar.wallNs > 0 ? part.ns / bar.wallNs : 0)})`,
        ),
    ]),
  };
}
