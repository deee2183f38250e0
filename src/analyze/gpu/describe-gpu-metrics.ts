/** GPU metrics as one table per device: a line per scope, a column per counter. */
import { gpuMetrics } from '../../catalog/gpu-metrics.js';
import type { AnalysisResult } from '../analysis.js';
import type { Block, TableColumn } from '../block.js';
import type { MetricRow } from './metric-row.js';

interface Line {
  readonly label: string;
  readonly of: readonly MetricRow[];
  readonly pick: (row: MetricRow) => number | null;
}

export function describeGpuMetrics({ rows }: AnalysisResult<MetricRow>): Block[] {
  const devices = [...new Set(rows.map(row => row.device))];
  return devices.map((device): Block => {
    const own = rows.filter(row => row.device === device);
    const lines = linesOf(own);
    const shown = gpuMetrics.filter(metric => own.some(row => row.metric === metric.label));
    const columns: TableColumn[] = [
      { header: 'Over', kind: 'text', values: lines.map(line => line.label) },
      ...shown.map((metric): TableColumn => {
        const isClock = metric.unit === 'Hz';
        const values = lines.map(({ of, pick }) => {
          const row = of.find(candidate => candidate.metric === metric.label);
          const value = row ? (pick(row) ?? Number.NaN) : Number.NaN;
          return isClock ? Math.round(value / 1e6) : value;
        });
        return {
          header: isClock ? `${metric.label} (MHz)` : metric.label,
          kind: isClock ? 'count' : 'mean',
          values,
        };
      }),
      {
        header: '±',
        kind: 'mean',
        values: lines.map(({ of, label }) =>
          label.startsWith('window')
            ? Number.NaN
            : (of.find(row => row.uncertainty !== null)?.uncertainty ?? Number.NaN),
        ),
      },
    ];
    return {
      kind: 'table',
      id: 'gpu-metrics',
      title: devices.length > 1 ? `GPU metrics, device ${device}` : 'GPU metrics',
      rows: lines.length,
      columns,
      advice:
        'Percent of peak, averaged over busy time unless stated otherwise. ± is the error from samples rounded to whole percents. A family is averaged over samples that contain almost nothing else; kernels shorter than a sample have none.',
    };
  });
}

function linesOf(rows: readonly MetricRow[]): Line[] {
  const all = rows.filter(row => row.phase === null && row.family === null);
  const busy = (row: MetricRow) => row.overBusy;
  const phases = [...new Set(rows.flatMap(row => row.phase ?? []))];
  const families = [...new Set(rows.flatMap(row => row.family ?? []))];
  return [
    { label: 'window (all time)', of: all, pick: row => row.overWindow },
    { label: 'busy time', of: all, pick: busy },
    ...(phases.length > 1
      ? phases.map(phase => ({ label: phase, of: rows.filter(row => row.phase === phase), pick: busy }))
      : []),
    ...families.map(family => {
      const of = rows.filter(row => row.family === family);
      const isResolved = of.some(row => row.overBusy !== null);
      return { label: isResolved ? family : `${family}: samples too coarse`, of, pick: busy };
    }),
  ];
}

const HEADLINE = ['sm-active', 'sm-issue', 'tensor-active', 'dram-read', 'dram-write'];
/** From here on the rounding of samples is worth a warning. */
const DOUBTFUL_POINTS = 2;

export function gpuMetricsHeadline({ rows }: AnalysisResult<MetricRow>): string | undefined {
  const all = rows.filter(row => row.phase === null && row.family === null);
  const parts = HEADLINE.flatMap(id => {
    const label = gpuMetrics.find(metric => metric.id === id)?.label;
    const row = all.find(candidate => candidate.metric === label);
    return row && row.overBusy !== null ? [`${label} ${row.overBusy.toFixed(0)}%`] : [];
  });
  if (parts.length === 0) return undefined;
  const uncertainty = all.find(row => row.uncertainty !== null)?.uncertainty ?? 0;
  const doubt =
    uncertainty >= DOUBTFUL_POINTS ? ` (± ${uncertainty.toFixed(0)} points: samples are mostly idle)` : '';
  return `while busy: ${parts.join(', ')}${doubt}`;
}
