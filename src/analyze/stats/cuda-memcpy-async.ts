import { MemoryKind } from '../../catalog/cuda-enums.js';
import type { Row } from '../../model/profile.js';
import { memoryRule } from './memory-rule.js';
import type { StatsReport } from './report.js';

export const cudaMemcpyAsync: StatsReport = {
  id: 'cuda_memcpy_async',
  title: 'CUDA Async Memcpy with Pageable Memory',
  aliases: ['cuda-async-memcpy'],
  options: ['rows'],
  reads: { copies: ['sourceMemory', 'targetMemory'], apiCalls: [] },
  needs: [['copies'], ['apiCalls']],
  advice: 'Pageable host memory makes these asynchronous copies block. Use pinned memory (pin_memory=True).',
  compute(profile, options) {
    const copies = profile.tables.copies!;
    const pageable = (row: Row<'copies'>) =>
      copies.sourceMemory?.[row] === MemoryKind.pageable ||
      copies.targetMemory?.[row] === MemoryKind.pageable;
    return memoryRule(profile, 'copies', pageable, name => /^(cuda|hip)Memcpy.*Async/i.test(name), options);
  },
};
