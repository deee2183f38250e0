import { type Summary, summarize } from '../../stats/summary.js';
import { numbers, texts } from './columns.js';
import { type Projection, projectRanges } from './gpu-projection.js';
import { rangeLabels, styleOf } from './range-tree.js';
import { rangeColumns, type StatsReport } from './report.js';

interface Row {
  readonly label: string;
  readonly style: string;
  readonly projected: Summary;
  readonly rangeNs: number;
  readonly members: readonly Projection[];
}

export const nvtxGpuProjSum: StatsReport = {
  id: 'nvtx_gpu_proj_sum',
  title: 'NVTX GPU Projection Summary',
  aliases: [],
  options: [],
  reads: { ranges: rangeColumns, apiCalls: [], kernels: [], copies: [], memsets: [] },
  needs: [['ranges'], ['apiCalls'], ['kernels', 'copies', 'memsets']],
  compute(profile) {
    const ranges = profile.tables.ranges!;
    const { list, rangeEnd } = projectRanges(profile);
    const label = rangeLabels(profile);
    const groups = new Map<string, Projection[]>();
    for (const projection of list) {
      const key = `${ranges.kind[projection.row]}${label(projection.row)}`;
      const members = groups.get(key);
      if (members) members.push(projection);
      else groups.set(key, [projection]);
    }
    const rows: Row[] = [...groups.values()].map(members => ({
      label: label(members[0].row),
      style: styleOf(ranges.kind[members[0].row]),
      projected: summarize(Float64Array.from(members, p => p.end - p.start)),
      rangeNs: members.reduce((sum, p) => sum + rangeEnd[p.row] - ranges.start[p.row], 0),
      members,
    }));
    rows.sort((a, b) => b.projected.total - a.projected.total);
    const total = (row: Row, value: (p: Projection) => number) =>
      row.members.reduce((sum, p) => sum + value(p), 0);
    const mean = (row: Row, value: (p: Projection) => number) => total(row, value) / row.members.length;
    return [
      texts('Range', rows, r => r.label),
      texts('Style', rows, r => r.style),
      numbers('Total Proj Time (ns)', 'ns', rows, r => r.projected.total),
      numbers('Total Range Time (ns)', 'ns', rows, r => r.rangeNs),
      numbers('Range Instances', 'count', rows, r => r.members.length),
      numbers('Proj Avg (ns)', 'ns-mean', rows, r => r.projected.mean),
      numbers('Proj Med (ns)', 'ns-mean', rows, r => r.projected.median),
      numbers('Proj Min (ns)', 'ns', rows, r => r.projected.min),
      numbers('Proj Max (ns)', 'ns', rows, r => r.projected.max),
      numbers('Proj StdDev (ns)', 'ns-mean', rows, r => r.projected.stddev),
      numbers('Total GPU Ops', 'count', rows, r => total(r, p => p.operations)),
      numbers('Avg GPU Ops', 'mean', rows, r => mean(r, p => p.operations)),
      numbers('Avg Range Lvl', 'mean', rows, r => mean(r, p => p.level)),
      numbers('Avg Num Child', 'mean', rows, r => mean(r, p => p.children)),
    ];
  },
};
