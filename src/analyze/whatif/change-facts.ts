/** What changes need to know about the work of a profile. */
import { NONE } from '../../base/column.js';
import { CopyKind, MemoryKind } from '../../catalog/cuda-enums.js';
import type { Profile, Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { workFamilies } from '../gpu/work-families.js';
import { forwardSpans } from '../inference/forward-spans.js';
import { stepWork } from '../inference/step-work.js';
import type { WorkFacts } from './change.js';
import type { GpuOp } from './replay-model.js';

/** Facts of a piece of work; a piece that a change added has none. */
export const workFacts: Derived<(op: GpuOp) => WorkFacts> = {
  id: 'work-facts',
  reads: { kernels: [], copies: ['sourceMemory', 'targetMemory'] },
  uses: [gpuWork, workFamilies, forwardSpans, stepWork],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { classOf } = use(workFamilies);
    const spans = use(forwardSpans);
    const runOfWork = use(stepWork)?.runOfWork;
    const names = profile.tables.kernels?.name;
    return ({ work: i }) => {
      if (i === NONE) return { inForward: true, dtype: '', isExpert: false };
      const run = runOfWork?.[i] ?? NONE;
      const inForward = run !== NONE && work.start[i] >= spans.start[run] && work.start[i] < spans.end[run];
      if (work.kind[i] === WorkKind.copy)
        return { inForward, dtype: '', isExpert: false, ...copyFacts(profile, work.row[i]) };
      if (work.kind[i] !== WorkKind.kernel) return { inForward, dtype: '', isExpert: false };
      const { dtype = '', family, variant } = classOf(names![work.row[i] as Row<'kernels'>]);
      return { inForward, dtype, isExpert: family === 'gemm' && variant === 'grouped' };
    };
  },
};

function copyFacts({ tables: { copies } }: Profile, row: number): Partial<WorkFacts> {
  const at = row as Row<'copies'>;
  const { kind, bytes, sourceMemory, targetMemory } = copies!;
  const pageable = (memory: ArrayLike<number> | undefined) => memory?.[row] === MemoryKind.pageable;
  return {
    bytes: bytes[at],
    fromPageable: kind[at] === CopyKind.hostToDevice && pageable(sourceMemory as ArrayLike<number>),
    toPageable: kind[at] === CopyKind.deviceToHost && pageable(targetMemory as ArrayLike<number>),
  };
}
