/** The kernels that take most time, each with how its durations are spread. */
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, quiet, type RowOf } from '../field.js';
import { selectedWork } from '../inference/selected-work.js';
import { gpuWork, WorkKind } from './gpu-work.js';
import { hiddenByGraphs } from './kernel-families.js';
import { workFamilies } from './work-families.js';

export interface HistogramBin {
  readonly fromNs: number;
  readonly toNs: number;
  readonly count: number;
}

/** Beyond these a kernel is not what anybody would look into first. */
const LISTED = 100;
const BINS = 12;

const fields = {
  key: keyField,
  kernel: field.text('Kernel', 'short name'),
  family: field.text('Family', 'see docs/kernel-families.md'),
  count: field.count('Count', 'launches'),
  totalNs: field.ns('Total', 'sum of durations'),
  share: field.share('Share (%)', 'of the sum over all kernels'),
  meanNs: field.nsMean('Mean', 'of the durations'),
  medianNs: field.nsMean('Median', 'of the durations', { priority: -1 }),
  p95Ns: field.ns('p95', '95th percentile of the durations (nearest rank)'),
  minNs: field.ns('Min', 'shortest', { priority: -3 }),
  maxNs: field.ns('Max', 'longest', { priority: -2 }),
  histogram: field.list<HistogramBin>(
    'Distribution',
    `histogram of the durations: at most ${BINS} bins of logarithmic width, from shortest to longest`,
    { drawn: 'count' },
  ),
  name: quiet(field.text('Name', 'as recorded')),
};

export type TopKernelRow = RowOf<typeof fields>;

export const topKernels: Analysis<TopKernelRow, AnalysisResult<TopKernelRow>> = {
  id: 'top-kernels',
  title: 'Top kernels',
  question: 'Which kernels take the most time, and how are their durations distributed?',
  reads: {},
  uses: [gpuWork, workFamilies, selectedWork],
  needs: [['kernels', 'graphLaunches']],
  fields,
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end } = use(selectedWork);
    const { classOf } = use(workFamilies);
    const names = profile.tables.kernels?.name;
    // By name id, in plain arrays: a map would cost more than all the rest.
    const counts: number[] = [];
    for (let i = first; i < end; i++) {
      if (!selected[i]) continue;
      if (work.kind[i] === WorkKind.graphBlock) throw hiddenByGraphs();
      if (work.kind[i] !== WorkKind.kernel) continue;
      const name = names![work.row[i]];
      counts[name] = (counts[name] ?? 0) + 1;
    }
    const durations: Float64Array[] = [];
    counts.forEach((count, name) => {
      durations[name] = new Float64Array(count);
    });
    const filled: number[] = counts.map(() => 0);
    let sum = 0;
    for (let i = first; i < end; i++) {
      if (!selected[i] || work.kind[i] !== WorkKind.kernel) continue;
      const name = names![work.row[i]];
      const ns = work.end[i] - work.start[i];
      durations[name][filled[name]++] = ns;
      sum += ns;
    }
    const found: { name: number; values: Float64Array; totalNs: number }[] = [];
    durations.forEach((values, name) => {
      let totalNs = 0;
      for (const ns of values) totalNs += ns;
      found.push({ name, values, totalNs });
    });
    const largest = found.sort((a, b) => b.totalNs - a.totalNs).slice(0, LISTED);
    const rows = largest.map(({ name, values, totalNs }): TopKernelRow => {
      const { shortName, family } = classOf(name);
      const sorted = values.sort();
      const middle = sorted.length >> 1;
      return {
        key: `kernel:${profile.strings.text(name)}`,
        kernel: shortName,
        family,
        count: sorted.length,
        totalNs,
        share: sum > 0 ? totalNs / sum : 0,
        meanNs: totalNs / sorted.length,
        medianNs: sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
        p95Ns: sorted[Math.ceil(0.95 * sorted.length) - 1],
        minNs: sorted[0],
        maxNs: sorted[sorted.length - 1],
        histogram: histogramOf(sorted),
        name: profile.strings.text(name),
      };
    });
    const listedNs = rows.reduce((total, row) => total + row.totalNs, 0);
    return {
      rows,
      summary: { distinct: found.length, listed: rows.length, totalNs: sum, listedNs },
    };
  },
};

/** Durations of one kernel differ by factors rather than by amounts, so the bins grow by a factor. */
function histogramOf(sorted: Float64Array): HistogramBin[] {
  const least = Math.max(1, sorted[0]);
  const most = sorted[sorted.length - 1];
  if (most <= least) return [{ fromNs: sorted[0], toNs: most, count: sorted.length }];
  const bins = Math.max(1, Math.min(BINS, sorted.length));
  const edge = (bin: number) => (bin === bins ? most : Math.round(least * (most / least) ** (bin / bins)));
  let at = 0;
  return Array.from({ length: bins }, (_, bin) => {
    const begin = at;
    const toNs = edge(bin + 1);
    while (at < sorted.length && (bin === bins - 1 || sorted[at] < toNs)) at++;
    return { fromNs: bin === 0 ? sorted[0] : edge(bin), toNs, count: at - begin };
  });
}
