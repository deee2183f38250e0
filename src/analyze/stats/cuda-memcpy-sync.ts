import { NONE } from '../../base/column.js';
import { CopyKind } from '../../catalog/cuda-enums.js';
import type { Row } from '../../model/profile.js';
import { memoryRule } from './memory-rule.js';
import type { StatsReport } from './report.js';

/** The driver stages host-to-device copies up to this size and returns at once. */
const STAGED_BYTES = 64_000;

export const cudaMemcpySync: StatsReport = {
  id: 'cuda_memcpy_sync',
  title: 'CUDA Synchronous Memcpy',
  aliases: ['cuda-sync-memcpy'],
  options: ['rows'],
  reads: { copies: ['sourceMemory', 'targetMemory', 'sourceDevice', 'targetDevice'], apiCalls: [] },
  needs: [['copies'], ['apiCalls']],
  advice: 'These copies block the host. Use cudaMemcpyAsync (non_blocking=True) on a stream.',
  compute(profile, options) {
    const copies = profile.tables.copies!;
    const blocking = (row: Row<'copies'>) => {
      const source = copies.sourceDevice?.[row] ?? NONE;
      const sameDevice = source !== NONE && source === copies.targetDevice?.[row];
      return (
        !(copies.bytes[row] <= STAGED_BYTES && copies.kind[row] === CopyKind.hostToDevice) && !sameDevice
      );
    };
    return memoryRule(
      profile,
      'copies',
      blocking,
      name => /^(cuda|hip)Memcpy/i.test(name) && !/Async/i.test(name),
      options,
    );
  },
};
