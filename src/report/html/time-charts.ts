/** Charts over time: sampled counters and memory in use. */

import type { MemoryInUseRow } from '../../analyze/gpu/memory-in-use.js';
import type { MetricSeriesRow } from '../../analyze/gpu/metric-series.js';
import { seriesColors } from '../../analyze/names-and-colors.js';
import { formatBytes, formatDuration } from '../../base/units.js';
import type { ChartSpec, Dataset, NumberFormat } from './chart.js';
import type { Cutter } from './limits.js';

/** Counters most people look at first; the others can be switched on. */
const shownAtFirst = ['SMs active', 'tensor active', 'DRAM read'];
const MOST_DEVICES = 4;

interface Point {
  readonly atNs: number;
}

const line = <Kept extends Point>(
  label: string,
  index: number,
  series: readonly Kept[],
  from: number,
  value: (point: Kept) => number,
  cutter: Cutter,
  more: Readonly<Record<string, unknown>> = {},
): Dataset => {
  const stride = cutter.stride(series.length);
  return {
    label,
    data: series
      .filter((_, i) => i % stride === 0 || i === series.length - 1)
      .map(point => ({ x: Math.round(point.atNs - from), y: value(point) })),
    backgroundColor: seriesColors[index % seriesColors.length],
    borderColor: seriesColors[index % seriesColors.length],
    borderWidth: 1.5,
    // Counters that move together lie on top of each other: the one behind shows through the dashes.
    ...(index % 2 === 1 ? { borderDash: [5, 3] } : {}),
    pointRadius: 0,
    pointHitRadius: 8,
    ...more,
  };
};

const overTime = (most?: number) => ({
  parsing: false,
  interaction: { mode: 'nearest', axis: 'x', intersect: false },
  scales: {
    x: { type: 'linear', title: { display: true, text: 'time since the first point' } },
    y: { beginAtZero: true, ...(most === undefined ? {} : { max: most }) },
  },
});

/** One chart per device for percentages, and one for clocks, which have another scale. */
export function metricCharts(rows: readonly MetricSeriesRow[], cutter: Cutter): ChartSpec[] {
  const devices = [...new Set(rows.map(row => row.device))];
  return devices.slice(0, MOST_DEVICES).flatMap(device =>
    [...new Set(rows.map(row => row.unit))].flatMap((unit): ChartSpec[] => {
      const own = rows.filter(row => row.device === device && row.unit === unit);
      if (own.length === 0) return [];
      const from = own.reduce((first, row) => Math.min(first, row.startNs), Infinity);
      const isClock = unit === 'Hz';
      const known = own.some(row => shownAtFirst.includes(row.metric));
      const y: NumberFormat = isClock ? 'hertz' : 'percent';
      const which = devices.length > 1 ? `, device ${device}` : '';
      const hidden = !isClock && own.length > shownAtFirst.length;
      const span = own.reduce((last, row) => Math.max(last, row.endNs), 0) - from;
      return [
        {
          id: `metrics-${device}-${isClock ? 'clocks' : 'shares'}`,
          title: isClock ? `Clocks over time${which}` : `GPU metrics over time${which}`,
          about: `${isClock ? 'As sampled.' : 'Percent of peak, as sampled.'} From the first selected step to the last, ${formatDuration(span)}.${hidden && known ? ' Click a name to show or hide its counter.' : ''}`,
          label: `Line chart over ${formatDuration(span)} of ${own.map(row => `${row.metric}, mean ${isClock ? `${Math.round(row.mean / 1e6)} MHz` : `${row.mean.toFixed(1)}%`}`).join('; ')}.`,
          type: 'line',
          data: {
            datasets: own.map((row, i) =>
              line(row.metric, i, row.series, from, point => point.value, cutter, {
                hidden: hidden && known && !shownAtFirst.includes(row.metric),
              }),
            ),
          },
          options: overTime(isClock ? undefined : 100),
          x: 'duration',
          y,
        },
      ];
    }),
  );
}

export function memoryChart(rows: readonly MemoryInUseRow[], cutter: Cutter): ChartSpec | undefined {
  const shown = rows.filter(row => row.series.length > 1);
  // What was allocated before the capture is recorded as one moment: no course of time to draw.
  const isMoment = shown.every(({ series }) => series[series.length - 1].atNs === series[0].atNs);
  if (isMoment) return undefined;
  const from = shown.reduce((first, row) => Math.min(first, row.series[0].atNs), Infinity);
  return {
    id: 'memory',
    title: 'GPU memory in use over time',
    about: 'From recorded allocations; each point is the maximum of its interval.',
    label: `Line chart of GPU memory in use: ${shown.map(row => `device ${row.device} peaks at ${formatBytes(row.peakBytes)}`).join(', ')}.`,
    type: 'line',
    data: {
      datasets: shown.map((row, i) =>
        line(`device ${row.device}`, i, row.series, from, point => point.bytes, cutter, {
          stepped: 'before',
        }),
      ),
    },
    options: overTime(),
    x: 'duration',
    y: 'bytes',
  };
}
