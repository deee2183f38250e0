/**
 * FP8 weights and activations for the linear layers. A 16-bit GEMM of the forward pass keeps a fixed part; the rest
 * shrinks with its bytes (memory-bound) or with the rate of the tensor cores (compute-bound), whichever shrinks less.
 * Activations are quantized in front of each of these GEMMs. What lies outside the forward pass (lm_head) stays.
 */
import { NONE } from '../../../base/column.js';
import { plural } from '../../../base/units.js';
import { gainConstants } from '../../../catalog/gain-constants.js';
import type { Limits } from '../../../catalog/gpus.js';
import { GRAPH_LAUNCH } from '../../../catalog/host-activities.js';
import { WorkKind } from '../../gpu/gpu-work.js';
import { familyIndex } from '../../gpu/work-families.js';
import { applied, type Change, cannotTell, doesNotApply, stepsIn, sumOver } from '../change.js';
import { type GpuOp, type ReplayModel, resize } from '../replay-model.js';

const gemm = familyIndex('gemm');
const quantise = familyIndex('quantise');
const WIDE = new Set(['bf16', 'fp16']);

/** What is left of a GEMM, and what quantizing its input adds. */
export function withFp8(gemmNs: number, { denseFlops }: Limits): { gemmNs: number; quantiseNs: number } {
  const { bf16, fp16, fp8 } = denseFlops?.value ?? {};
  const byRate = fp8 === undefined ? 0 : (bf16 ?? fp16 ?? 0) / fp8;
  const fixed = Math.min(gemmNs, gainConstants.gemmFixedNs.value);
  return {
    gemmNs: fixed + (gemmNs - fixed) * Math.max(8 / 16, byRate),
    quantiseNs: gainConstants.quantiseNs.value,
  };
}

export const fp8: Change = {
  id: 'fp8',
  label: 'FP8 weights',
  apply(models, { limits, factsOf, hasNarrowWeights }) {
    if (limits.peak === undefined) return cannotTell('the GPU is unknown (name it with --gpu)');
    if (limits.denseFlops?.value.fp8 === undefined)
      return doesNotApply(`${limits.peak.name} has no FP8 tensor cores`);
    if (hasNarrowWeights) return doesNotApply('the weights are stored in 4 bits already');
    const isGemm = (op: GpuOp) =>
      op.step !== NONE && op.family === gemm && op.kind === WorkKind.kernel && factsOf(op).inForward;
    const all = models.flatMap(({ ops }) => ops.filter(isGemm));
    const wide = all.filter(op => WIDE.has(factsOf(op).dtype));
    if (models.some(({ ops }) => ops.some(op => op.kind === WorkKind.graphBlock)))
      return cannotTell(
        'graph replays were recorded as blocks, which hide their GEMMs (capture with --graph-trace node)',
      );
    if (all.length === 0) return cannotTell('no GEMM kernel of the forward pass is visible');
    if (all.some(op => /^fp8/.test(factsOf(op).dtype)))
      return doesNotApply('GEMMs of the forward pass already run in FP8');
    const unnamed = all.filter(op => factsOf(op).dtype === '');
    if (sumOver(unnamed, ({ ns }) => ns) > sumOver(wide, ({ ns }) => ns))
      return cannotTell('most GEMM time is in kernels whose names do not show the data type');
    if (wide.length === 0) return doesNotApply('no GEMM of the forward pass runs in 16 bits');
    const chosen = new Set(wide);
    for (const model of models) quantize(model, chosen, limits);
    return applied(
      `${plural(Math.round(wide.length / stepsIn(models)), '16-bit GEMM')} of the forward pass read half the bytes`,
    );
  },
};

function quantize(model: ReplayModel, chosen: ReadonlySet<GpuOp>, limits: Limits): void {
  const { ops, items, typical } = model;
  for (const stream of model.streams)
    stream.ops = stream.ops.flatMap(j => {
      const op = ops[j];
      if (!chosen.has(op)) return [j];
      const { gemmNs, quantiseNs } = withFp8(op.ns, limits);
      op.ns = gemmNs;
      // It takes the place of the GEMM; the GEMM follows it. One more kernel to launch, unless a graph does.
      const added: GpuOp = { ...op, family: quantise, work: NONE, ns: quantiseNs };
      op.gapNs = 0;
      if (op.launch !== NONE && !GRAPH_LAUNCH.test(items[op.launch].name)) {
        const item = items[op.launch];
        resize(item, item.ns + typical.launchNs);
        op.latencyNs = Math.min(op.latencyNs, typical.latencyNs);
      }
      return [ops.push(added) - 1, j];
    });
}
