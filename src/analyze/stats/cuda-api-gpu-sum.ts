import { pooledSummary } from './named-durations.js';
import { kernelNameOptions, type StatsReport } from './report.js';

export const cudaApiGpuSum: StatsReport = {
  id: 'cuda_api_gpu_sum',
  title: 'CUDA Summary (API/Kernels/MemOps)',
  aliases: ['apigpusum'],
  options: kernelNameOptions,
  reads: { apiCalls: [], kernels: [], copies: [], memsets: [] },
  needs: [['apiCalls', 'kernels', 'copies', 'memsets']],
  compute: (profile, options) =>
    pooledSummary(profile, ['apiCalls', 'kernels', 'copies', 'memsets'], options),
};
