/** Charts of frameworks side by side: where a token's time goes, and time per token beside throughput. */

import type { ScatterBlock } from '../../analyze/block.js';
import { seriesColors } from '../../analyze/names-and-colors.js';
import { formatDuration, formatRate } from '../../base/units.js';
import type { ChartSpec, Dataset } from './chart.js';
import { type StackedBar, stackedBars } from './stacked-bars.js';

const marks = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot'];

export function tokenStack(id: string, phase: string, bars: readonly StackedBar[]): ChartSpec | undefined {
  if (bars.length === 0) return undefined;
  const title = `Where the time of a ${phase} token goes`;
  const about = 'Wall time of the steps divided by their tokens; the parts sum to it.';
  return stackedBars({ id, title, about, per: ' per token' }, bars);
}

/** A mark and a colour per framework, so that either tells them apart. */
export function scatterChart({ id, title, x, y, points, remark = '' }: ScatterBlock): ChartSpec {
  return {
    id,
    title,
    about: remark,
    label: `Scatter chart, ${x.label} across and ${y.label} up: ${points.map(point => `${point.label} ${formatDuration(point.x)}, ${formatRate(point.y)}`).join('; ')}.`,
    type: 'scatter',
    data: {
      datasets: points.map(
        (point, i): Dataset => ({
          label: point.label,
          data: [{ x: point.x, y: point.y }],
          backgroundColor: seriesColors[i % seriesColors.length],
          borderColor: seriesColors[i % seriesColors.length],
          pointStyle: marks[i % marks.length],
          pointRadius: 7,
          pointHoverRadius: 9,
        }),
      ),
    },
    options: {
      scales: {
        x: { title: { display: true, text: x.label }, grace: '15%' },
        y: { title: { display: true, text: y.label }, grace: '15%' },
      },
    },
    x: 'duration',
    y: 'rate',
    legend: true,
  };
}
