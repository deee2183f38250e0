/** Charts of several runs side by side: what a mean step is made of, and how long each step took. */

import { seriesColors } from '../../analyze/names-and-colors.js';
import { plural } from '../../base/units.js';
import type { ChartSpec, Dataset } from './chart.js';
import type { Cutter } from './limits.js';
import { type StackedBar, stackedBars } from './stacked-bars.js';

/** One run; its parts sum to its step. */
export interface ChartSide extends StackedBar {
  readonly stepNs: readonly number[];
}

export function sideStack(id: string, where: string, sides: readonly ChartSide[]): ChartSpec {
  const about = 'Time of the mean step on each side; the parts sum to the step.';
  return stackedBars({ id, title: `A mean step${where}, side by side`, about }, sides);
}

/** Steps in the order they ran; each side counts its own from 1. */
export function stepLines(
  id: string,
  where: string,
  sides: readonly ChartSide[],
  cutter: Cutter,
): ChartSpec | undefined {
  const longest = Math.max(...sides.map(side => side.stepNs.length));
  if (longest < 2) return undefined;
  const datasets = sides.map(({ name, stepNs }, index): Dataset => {
    const stride = cutter.stride(stepNs.length);
    const ink = seriesColors[index % seriesColors.length];
    return {
      label: name,
      data: stepNs.map((ns, i) => ({ x: i + 1, y: Math.round(ns) })).filter((_, i) => i % stride === 0),
      backgroundColor: ink,
      borderColor: ink,
      borderWidth: 1.5,
      pointRadius: stepNs.length > 60 ? 0 : 2.5,
      pointHitRadius: 8,
      ...(index % 2 === 1 ? { borderDash: [5, 3] } : {}),
    };
  });
  return {
    id,
    title: `Time of every step${where}`,
    about: 'The steps that were compared, in the order they ran.',
    label: `Lines of step times: ${sides.map(({ name, stepNs }) => `${name}, ${plural(stepNs.length, 'step')}`).join('; ')}.`,
    type: 'line',
    data: { datasets },
    options: {
      parsing: false,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: { type: 'linear', title: { display: true, text: 'step' }, ticks: { precision: 0 } },
        y: { beginAtZero: true },
      },
    },
    x: 'plain',
    y: 'duration',
    legend: true,
  };
}
