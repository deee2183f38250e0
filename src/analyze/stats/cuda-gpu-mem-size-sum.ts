import { numbers, texts } from './columns.js';
import { byTotal } from './grouping.js';
import { groupPools } from './named-durations.js';
import type { StatsReport } from './report.js';

export const cudaGpuMemSizeSum: StatsReport = {
  id: 'cuda_gpu_mem_size_sum',
  title: 'CUDA GPU MemOps Summary (by Size)',
  aliases: ['gpumemsizesum'],
  options: [],
  reads: { copies: [], memsets: [] },
  needs: [['copies', 'memsets']],
  compute(profile, options) {
    const groups = groupPools(profile, ['copies', 'memsets'], options, 'bytes').sort(byTotal);
    return [
      numbers('Total (MB)', 'bytes', groups, g => g.summary.total),
      numbers('Count', 'count', groups, g => g.summary.count),
      numbers('Avg (MB)', 'bytes', groups, g => g.summary.mean),
      numbers('Med (MB)', 'bytes', groups, g => g.summary.median),
      numbers('Min (MB)', 'bytes', groups, g => g.summary.min),
      numbers('Max (MB)', 'bytes', groups, g => g.summary.max),
      numbers('StdDev (MB)', 'bytes', groups, g => g.summary.stddev),
      texts('Operation', groups, g => g.name),
    ];
  },
};
