/**
 * GEMM kernels that multiply in FP32 on the CUDA cores, told by their names: cuBLAS's `sgemm`, CUTLASS's `simt`,
 * `ffma` of cuBLAS's and cuDNN's newer kernels. What names a tensor-core instruction or TF32 is none of them.
 */
import { NONE } from '../../base/column.js';
import { families } from '../../catalog/kernels/families.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepsOf } from '../inference/steps.js';
import { gpuWork, WorkKind } from './gpu-work.js';
import { workFamilies } from './work-families.js';

const ON_CUDA_CORES = /(?:^|[_:])sgemm|simt_s?gemm|f32f32_f32f32_f32\w*ffma/;
const ON_TENSOR_CORES = /tensorop|tf32|1688|16816|884|hmma|imma|wgmma/;

interface Fp32Gemms {
  readonly phase: Phase | null;
  readonly kernels: number;
  readonly nsPerStep: number;
  /** The kernel with most of the time. */
  readonly example: string;
}

export const fp32Gemms: Derived<readonly Fp32Gemms[]> = {
  id: 'fp32-gemms',
  reads: {},
  uses: [gpuWork, selectedWork, stepsOf, workFamilies],
  needs: [['kernels']],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end, step, runsOfPhase } = use(selectedWork);
    const { family, classOf } = use(workFamilies);
    const steps = use(stepsOf)?.steps ?? [];
    const names = profile.tables.kernels!.name;
    const gemm = families.findIndex(({ id }) => id === 'gemm');
    const isFp32: (boolean | undefined)[] = [];
    const byPhase = new Map<Phase | null, { kernels: number; names: Map<number, number> }>();
    for (let i = first; i < end; i++) {
      if (!selected[i] || work.kind[i] !== WorkKind.kernel || family[i] !== gemm) continue;
      const name = names[work.row[i]];
      isFp32[name] ??= runsInFp32(profile.strings.text(name));
      if (!isFp32[name]) continue;
      const phase = step[i] === NONE ? null : steps[step[i]].facts.phase;
      let tally = byPhase.get(phase);
      if (!tally) byPhase.set(phase, (tally = { kernels: 0, names: new Map() }));
      tally.kernels++;
      tally.names.set(name, (tally.names.get(name) ?? 0) + work.end[i] - work.start[i]);
    }
    return [...byPhase].map(([phase, { kernels, names: times }]) => {
      const ordered = [...times].sort((a, b) => b[1] - a[1]);
      const totalNs = ordered.reduce((sum, [, ns]) => sum + ns, 0);
      return {
        phase,
        kernels,
        nsPerStep: totalNs / (phase === null ? 1 : runsOfPhase(phase)),
        example: classOf(ordered[0][0]).shortName,
      };
    });
  },
};

export const runsInFp32 = (name: string): boolean => ON_CUDA_CORES.test(name) && !ON_TENSOR_CORES.test(name);
