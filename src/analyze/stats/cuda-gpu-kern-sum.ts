import { texts, timeSummaryColumns } from './columns.js';
import { kernelNames } from './gpu-operations.js';
import { byTotalThenName, groupSpans } from './grouping.js';
import { kernelNameOptions, type StatsReport } from './report.js';

export const cudaGpuKernSum: StatsReport = {
  id: 'cuda_gpu_kern_sum',
  title: 'CUDA GPU Kernel Summary',
  aliases: ['cuda_kern_sum', 'gpukernsum'],
  options: kernelNameOptions,
  reads: { kernels: [] },
  needs: [['kernels']],
  compute(profile, options) {
    const kernels = profile.tables.kernels!;
    const names = kernelNames(profile, options);
    const groups = groupSpans(names.keys, kernels.start, kernels.end)
      .map(group => ({ ...group, name: names.text(group.key) }))
      .sort(byTotalThenName);
    return [
      ...timeSummaryColumns(
        groups.map(group => group.summary),
        'Instances',
      ),
      texts('Name', groups, group => group.name),
    ];
  },
};
