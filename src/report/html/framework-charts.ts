/** Charts of frameworks side by side: where a token's time goes, and time per token beside throughput. */
import type { ScatterBlock } from '../../analyze/block.js';
import { formatDuration, formatRate } from '../../base/units.js';
import type { ChartSpec, Dataset } from './chart.js';
import { type StackedBar, stackedBars } from './stacked-bars.js';

/** Okabe and Ito's, for colour-blind readers. */
const inks = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#a6611a', '#7b5ea7', '#56b4e9', '#7f8a93'];
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
          backgroundColor: inks[i % inks.length],
          borderColor: inks[i % inks.length],
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
