import { texts, timeSummaryColumns } from './columns.js';
import { byTotal } from './grouping.js';
import { groupPools } from './named-durations.js';
import type { StatsReport } from './report.js';

export const cudaGpuMemTimeSum: StatsReport = {
  id: 'cuda_gpu_mem_time_sum',
  title: 'CUDA GPU MemOps Summary (by Time)',
  aliases: ['gpumemtimesum'],
  options: [],
  reads: { copies: [], memsets: [] },
  needs: [['copies', 'memsets']],
  compute(profile, options) {
    const groups = groupPools(profile, ['copies', 'memsets'], options).sort(byTotal);
    return [
      ...timeSummaryColumns(
        groups.map(group => group.summary),
        'Count',
      ),
      texts('Operation', groups, group => group.name),
    ];
  },
};
