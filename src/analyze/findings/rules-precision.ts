/** GEMMs and caches in a wider type than the GPU needs. */
import { formatCount, formatDuration, formatShare } from '../../base/units.js';
import { findGpu, peakFromProfile } from '../../catalog/gpus.js';
import { fp32Gemms } from '../gpu/fp32-gemms.js';
import { kernelFamilies } from '../gpu/kernel-families.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { withFp8 } from '../whatif/changes/fp8.js';
import { perStep, sumOf } from '../words.js';
import type { Finding } from './finding.js';
import { anyOf, costing, finding, perWindow, phaseName, type Rule, type RuleInput } from './rule.js';

/**
 * Time of a family in a phase, per step: where kernels run beside each other (streams, processes), its part of the time
 * in which the GPU is busy at all.
 */
export function familyNs(
  { useIfRecorded, phases }: RuleInput,
  phase: PhaseBudget['phase'],
  family: string,
): number {
  const rows = useIfRecorded(kernelFamilies)?.rows ?? [];
  const timeOf = (row: (typeof rows)[number]) =>
    row.phases.find(part => part.phase === phase)?.nsPerStep ?? 0;
  const own = rows.filter(row => row.family === family);
  const total = phases.find(candidate => candidate.phase === phase);
  const allNs = sumOf(rows, timeOf);
  const busyNs = total ? perWindow(total, total.wallNs - total.idleNs) : allNs;
  return sumOf(own, timeOf) * (allNs > busyNs ? busyNs / allNs : 1);
}

interface WideGemms {
  /** 16-bit GEMM time per step, where the GPU could multiply in 8 bits; 0: none. */
  readonly ns: number;
  /** What FP8 would save of it, by the model of `stepscope whatif --fp8`. */
  readonly savedNs: number;
}

/**
 * A model whose weights are stored in 4 bits has none: 8 bits would double what is read, and its 16-bit rest was left so
 * on purpose.
 */
export function wideGemms(input: RuleInput, total: PhaseBudget): WideGemms {
  const gpu = input.profile.gpus.find(candidate => findGpu(candidate.name)?.denseFlops.fp8 !== undefined);
  const gemm = input.useIfRecorded(kernelFamilies)?.rows.find(row => row.family === 'gemm');
  if (!gpu || !gemm || input.program.hasNarrowWeights) return { ns: 0, savedNs: 0 };
  const wide = gemm.variants.filter(({ dtype }) => dtype === 'bf16' || dtype === 'fp16');
  const [wideNs, kernels] = [sumOf(wide, row => row.totalNs), sumOf(wide, row => row.kernels)];
  if (wideNs === 0) return { ns: 0, savedNs: 0 };
  const ns = familyNs(input, total.phase, 'gemm') * (wideNs / gemm.totalNs);
  const meanNs = wideNs / kernels;
  const { gemmNs, quantiseNs } = withFp8(meanNs, peakFromProfile(gpu));
  return { ns, savedNs: Math.max(0, 1 - (gemmNs + quantiseNs) / meanNs) * ns };
}

const fp8Available: Rule = {
  id: 'fp8-available',
  about: '16-bit GEMMs on a GPU that supports FP8',
  // While the GPU waits for launches longer than faster GEMMs would save, these only make it wait longer.
  yieldsTo: (others, { gain }) =>
    anyOf('memory-bandwidth', 'compute-bound')(others) ||
    others.some(
      other =>
        /^(launch-overhead|prefill-launches)$/.test(other.id) &&
        (other.costNs ?? 0) >= (gain?.nsPerStep ?? 0),
    ),
  uses: [kernelFamilies],
  look(input) {
    return input.phases.slice(0, 1).flatMap((total): Finding[] => {
      const { ns: wideNs, savedNs } = wideGemms(input, total);
      const wallNs = perWindow(total, total.wallNs);
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      if (wideNs < input.policy.familyShare * busyNs || savedNs < input.policy.hostShareOfWall * wallNs)
        return [];
      return [
        finding('fp8-available', input, {
          claim: 'GEMMs run in 16-bit precision although this GPU supports FP8',
          ...costing(
            total,
            wideNs,
            'with half the bytes and twice the rate for these GEMMs, and quantized activations; check accuracy',
            savedNs,
          ),
          confidence: 'possible',
          evidence: [
            {
              text: `${formatDuration(wideNs)} of ${formatDuration(busyNs)} GPU work ${perStep(total.phase)} is 16-bit GEMMs`,
              numerator: wideNs,
              denominator: busyNs,
              unit: 'ns',
              analysis: 'kernel-families',
              rows: ['family:gemm'],
            },
          ],
          confirm: 'stepscope analyze FILE --only kernel-families',
        }),
      ];
    });
  },
};

const fp32Gemm: Rule = {
  id: 'fp32-gemm',
  about: 'GEMMs in FP32 on the CUDA cores of a GPU with tensor cores',
  uses: [fp32Gemms],
  look(input) {
    const found = input.use(fp32Gemms);
    const peak = input.profile.gpus.map(({ name }) => findGpu(name)).find(Boolean);
    // Tensor cores came with V100; a GPU that has them has a rate for fp16 or bf16.
    if (peak && peak.denseFlops.fp16 === undefined && peak.denseFlops.bf16 === undefined) return [];
    return input.phases.flatMap((total): Finding[] => {
      const own = found.find(({ phase }) => phase === total.phase);
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      if (!own || own.nsPerStep < input.policy.fp32Share * busyNs) return [];
      return [
        finding('fp32-gemm', input, {
          claim: `GEMMs run in FP32 on the CUDA cores, not on the tensor cores: ${formatShare(own.nsPerStep / busyNs)} of GPU time in ${phaseName(total.phase)}`,
          ...costing(
            total,
            own.nsPerStep,
            'with tensor cores twice as fast; their TF32 or 16-bit peak is 8 to 16 times higher, but small GEMMs are memory-bound',
            own.nsPerStep / 2,
          ),
          confidence: 'likely',
          evidence: [
            {
              text: `${formatDuration(own.nsPerStep)} of ${formatDuration(busyNs)} GPU work ${perStep(total.phase)} in ${formatCount(own.kernels)} kernels, most in ${own.example}`,
              numerator: own.nsPerStep,
              denominator: busyNs,
              unit: 'ns',
              analysis: 'kernel-families',
              rows: ['family:gemm'],
            },
          ],
          confirm: 'stepscope analyze FILE --only top-kernels',
        }),
      ];
    });
  },
};

/** Attention of decode reads the keys and values of every token before: its time is the bytes of the cache. */
const attentionHeavy: Rule = {
  id: 'attention-heavy',
  about: 'decode whose attention takes most of the GPU time',
  yieldsTo: anyOf('memory-bandwidth', 'compute-bound'),
  uses: [kernelFamilies],
  look(input) {
    return input.phases.flatMap((total): Finding[] => {
      if (total.phase !== 'decode' && total.phase !== 'speculative') return [];
      const ns = familyNs(input, total.phase, 'attention');
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      if (ns < input.policy.attentionShare * busyNs) return [];
      const attention = input.useIfRecorded(kernelFamilies)?.rows.find(row => row.family === 'attention');
      const isNarrow = attention?.variants.some(({ dtype }) => /fp8|int8|fp4/.test(dtype)) ?? false;
      return [
        finding('attention-heavy', input, {
          claim: `Attention takes ${formatDuration(ns)} ${perStep(total.phase)}: ${formatShare(ns / busyNs)} of GPU time`,
          ...costing(total, ns, 'with a KV cache of half the bytes; check accuracy', ns / 2),
          ...(isNarrow ? { gain: null } : {}),
          confidence: 'possible',
          evidence: [
            {
              text: `${formatDuration(ns)} of ${formatDuration(busyNs)} GPU work ${perStep(total.phase)} is attention`,
              numerator: ns,
              denominator: busyNs,
              unit: 'ns',
              analysis: 'kernel-families',
              rows: ['family:attention'],
            },
          ],
          confirm: 'stepscope analyze FILE --only kernel-families',
        }),
      ];
    });
  },
};

export const precisionRules: readonly Rule[] = [fp8Available, fp32Gemm, attentionHeavy];
