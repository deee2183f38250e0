import { NONE } from '../../base/column.js';
import type { Row } from '../../model/profile.js';
import { numbers, texts } from './columns.js';
import { projectRanges } from './gpu-projection.js';
import { rangeLabels, styleOf } from './range-tree.js';
import { rangeColumns, type StatsReport } from './report.js';

export const nvtxGpuProjTrace: StatsReport = {
  id: 'nvtx_gpu_proj_trace',
  title: 'NVTX GPU Projection Trace',
  aliases: ['nvtxgpuproj'],
  options: [],
  reads: { ranges: rangeColumns, apiCalls: [], kernels: [], copies: [], memsets: [] },
  needs: [['ranges'], ['apiCalls'], ['kernels', 'copies', 'memsets']],
  compute(profile) {
    const ranges = profile.tables.ranges!;
    const { list, rangeEnd, tree } = projectRanges(profile);
    const label = rangeLabels(profile);
    const rows = [...list].sort((a, b) => a.start - b.start || b.end - b.start - (a.end - a.start));
    const thread = (row: Row<'ranges'>) => profile.threads[ranges.thread[row]];
    return [
      texts('Name', rows, p => label(p.row)),
      numbers('Projected Start (ns)', 'timestamp', rows, p => p.start),
      numbers('Projected Duration (ns)', 'ns', rows, p => p.end - p.start),
      numbers('Orig Start (ns)', 'timestamp', rows, p => ranges.start[p.row]),
      numbers('Orig Duration (ns)', 'ns', rows, p => rangeEnd[p.row] - ranges.start[p.row]),
      texts('Style', rows, p => styleOf(ranges.kind[p.row])),
      numbers('PID', 'id', rows, p => profile.processes[thread(p.row).process].pid),
      numbers('TID', 'id', rows, p => thread(p.row).tid),
      numbers('NumGPUOps', 'id', rows, p => p.operations),
      numbers('Lvl', 'id', rows, p => p.level),
      numbers('NumChild', 'id', rows, p => p.children),
      numbers('RangeId', 'id', rows, p => tree.id(p.row)),
      numbers('ParentId', 'id', rows, p => (p.parent === NONE ? Number.NaN : tree.id(p.parent))),
      texts('RangeStack', rows, p => tree.stack(p.row)),
    ];
  },
};
