import { MemoryKind } from '../../catalog/cuda-enums.js';
import type { Row } from '../../model/profile.js';
import { memoryRule } from './memory-rule.js';
import type { StatsReport } from './report.js';

export const cudaMemsetSync: StatsReport = {
  id: 'cuda_memset_sync',
  title: 'CUDA Synchronous Memset',
  aliases: ['cuda-sync-memset'],
  options: ['rows'],
  reads: { memsets: ['memory'], apiCalls: [] },
  needs: [['memsets'], ['apiCalls']],
  advice: 'Setting pinned or managed memory blocks the host. Use cudaMemsetAsync.',
  compute(profile, options) {
    const memory = profile.tables.memsets!.memory;
    const hostVisible = (row: Row<'memsets'>) =>
      memory?.[row] === MemoryKind.pinned || memory?.[row] === MemoryKind.managed;
    return memoryRule(
      profile,
      'memsets',
      hostVisible,
      name => /^(cuda|hip)Memset/i.test(name) && !/async/i.test(name),
      options,
    );
  },
};
