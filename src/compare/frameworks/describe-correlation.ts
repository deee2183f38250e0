/** Time per token beside measured throughput: both as a table with ranks, as a picture, and how far that proves anything. */
import type { Block, ScatterBlock, TableBlock } from '../../analyze/block.js';
import { ranks } from '../../stats/correlation.js';
import type { FrameworkComparison, ThroughputCorrelation } from './compare-frameworks.js';
import type { Correlation } from './correlation.js';

export function describeCorrelation({ throughput, phase }: FrameworkComparison): Block[] {
  const { points, label, byKernels, byWall } = throughput;
  if (points.length === 0 || label === null) return [];
  const remark = [
    `Kernel time per token vs throughput: ${coefficients(byKernels)}.`,
    `Wall time per token vs throughput: ${coefficients(byWall)}.`,
    byKernels.warning,
    hint(throughput),
  ];
  const advice = remark.filter(Boolean).join(' ');
  return [
    table(throughput, phase ?? '', points.length > 1 ? '' : advice),
    ...(points.length > 1 ? [frameworkScatter(throughput, phase ?? '', advice)] : []),
  ];
}

const coefficients = ({ pearson, spearman, points }: Correlation) =>
  pearson === null || spearman === null
    ? `no coefficient (n = ${points})`
    : `Pearson ${signed(pearson)}, Spearman ${signed(spearman)} (n = ${points})`;

const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;

/** Throughput should fall as time per token rises. */
function hint({ byKernels, byWall }: ThroughputCorrelation): string {
  const [kernels, wall] = [byKernels.spearman, byWall.spearman];
  if (kernels === null || wall === null) return '';
  if (kernels > wall + 0.5)
    return 'Kernel time explains less than wall time: the difference is in communication, copies or idle time.';
  if (wall > 0) return 'Throughput rises with time per token: profile and benchmark used different loads.';
  return '';
}

function table({ points, label }: ThroughputCorrelation, phase: string, advice: string): TableBlock {
  const kernels = points.map(point => point.kernelNsPerToken);
  const walls = points.map(point => point.wallNsPerToken);
  const speeds = points.map(point => point.throughput);
  // The fastest is first in each: least time, most throughput.
  const fastest = ranks(speeds.map(value => -value));
  return {
    kind: 'table',
    id: 'frameworks-throughput',
    title: `Time per ${phase} token and measured throughput`,
    rows: points.length,
    columns: [
      { header: 'Name', kind: 'text', values: points.map(({ name }) => name) },
      { header: 'Kernels/token', kind: 'ns-mean', values: kernels },
      { header: 'Rank', kind: 'mean', values: ranks(kernels) },
      { header: 'Wall/token', kind: 'ns-mean', values: walls },
      { header: 'Rank', kind: 'mean', values: ranks(walls) },
      { header: upper(label!), kind: 'rate', values: speeds },
      { header: 'Rank', kind: 'mean', values: fastest },
    ],
    ...(advice ? { advice } : {}),
  };
}

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function frameworkScatter(
  { points, label }: ThroughputCorrelation,
  phase: string,
  remark: string,
): ScatterBlock {
  return {
    kind: 'scatter',
    id: 'frameworks-scatter',
    title: 'Kernel time per token and throughput',
    x: { label: `kernel time per ${phase} token`, kind: 'ns-mean' },
    y: { label: label ?? '', kind: 'rate' },
    points: points.map(({ name, kernelNsPerToken, throughput }) => ({
      label: name,
      x: kernelNsPerToken,
      y: throughput,
    })),
    remark,
  };
}
