import { pooledSummary } from './named-durations.js';
import { kernelNameOptions, type StatsReport } from './report.js';

export const cudaGpuSum: StatsReport = {
  id: 'cuda_gpu_sum',
  title: 'CUDA GPU Summary (Kernels/MemOps)',
  aliases: ['gpusum'],
  options: kernelNameOptions,
  reads: { kernels: [], copies: [], memsets: [] },
  needs: [['kernels', 'copies', 'memsets']],
  compute: (profile, options) => pooledSummary(profile, ['kernels', 'copies', 'memsets'], options),
};
