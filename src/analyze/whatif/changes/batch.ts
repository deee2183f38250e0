/**
 * Another number of requests in a decode step. Two limits share a kernel's time, one that stays and one that grows with
 * the requests; near each other they add as squares. GEMMs read the same weights (stays) until multiplying takes longer
 * (grows; the two are equal at the ridge). Other kernels have a fixed latency, attention reads more KV cache at equal
 * context lengths. Expert GEMMs read the experts that some token uses:
 * more tokens use more of them. The host has a fixed amount to do for each request.
 */
import { NONE } from '../../../base/column.js';
import { formatCount } from '../../../base/units.js';
import { gainConstants } from '../../../catalog/gain-constants.js';
import type { Limits } from '../../../catalog/gpus.js';
import { causeIndex } from '../../../catalog/idle-causes.js';
import { WorkKind } from '../../gpu/gpu-work.js';
import { familyIndex } from '../../gpu/work-families.js';
import { expectedExperts } from '../../inference/step-cost.js';
import { applied, type Change, type ChangeInput, cannotTell, doesNotApply } from '../change.js';
import type { GpuOp, ReplayModel } from '../replay-model.js';

const gemm = familyIndex('gemm');
const attention = familyIndex('attention');
const hostCode = causeIndex('host-code');

export const batchOf = (requests: number): Change => ({
  id: 'batch',
  label: `batch ${formatCount(requests)}`,
  apply(models, input) {
    if (input.phase !== 'decode' && input.phase !== 'unknown')
      return doesNotApply('the model speaks of decode steps');
    const counts = models.flatMap(model => model.steps.map((_, k) => input.requestsOf(model, k)));
    if (counts.some(count => !count))
      return cannotTell(
        'the profile does not record the requests of each step; name them with --batch NOW:N',
      );
    if (models.some(({ ops }) => ops.some(({ kind }) => kind === WorkKind.graphBlock)))
      return cannotTell(
        'graph replays were recorded as blocks, which hide their kernels (capture with --graph-trace node)',
      );
    if (counts.every(count => count === requests))
      return doesNotApply(`every step already has ${formatCount(requests)} requests`);
    if (models.some(({ ops }) => ops.some(op => op.family === gemm && /^fp8/.test(input.factsOf(op).dtype))))
      return cannotTell('how kernels that quantize activations grow is not known (docs/gains.md#batch)');
    if (!input.experts && models.some(({ ops }) => ops.some(op => input.factsOf(op).isExpert)))
      return cannotTell('how many experts a batch uses depends on the model: name it with --model');
    for (const model of models) resizeBatch(model, requests, input);
    return applied(
      `${formatCount(Math.round(mean(counts as number[])))} requests per step become ${formatCount(requests)}`,
    );
  },
});

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Tokens from which a GEMM with weights of this width is compute-bound; infinite where the GPU is unknown. */
function ridge({ denseFlops, memoryBandwidthBytesPerSecond }: Limits, dtype: string): number {
  const isNarrow = /^fp8/.test(dtype);
  const flops = isNarrow ? denseFlops?.value.fp8 : (denseFlops?.value.bf16 ?? denseFlops?.value.fp16);
  const bytes = isNarrow ? 1 : 2;
  if (!flops || !memoryBandwidthBytesPerSecond) return Infinity;
  return (flops * bytes) / (2 * memoryBandwidthBytesPerSecond.value);
}

function resizeBatch(
  model: ReplayModel,
  requests: number,
  { limits, factsOf, requestsOf, experts }: ChangeInput,
): void {
  for (const op of model.ops)
    if (op.step !== NONE && op.kind === WorkKind.kernel) {
      const now = requestsOf(model, op.step)!;
      op.ns = op.family === gemm ? gemmNs(op, now) : grown(op, requests / now);
    }
  model.steps.forEach((_, k) => {
    addHostWork(model, k, (requests - requestsOf(model, k)!) * gainConstants.hostPerRequestNs.value);
  });

  function gemmNs(op: GpuOp, now: number): number {
    if (experts && factsOf(op).isExpert) {
      const used = (tokens: number) => expectedExperts(experts.count, experts.perToken, tokens);
      const fixed = Math.min(op.ns, gainConstants.gemmFixedNs.value);
      return fixed + (op.ns - fixed) * (used(requests) / used(now));
    }
    const bound = ridge(limits, factsOf(op).dtype);
    return op.ns * (Math.hypot(1, requests / bound) / Math.hypot(1, now / bound));
  }
}

/** A fixed latency and a part that grows; what is no longer than the latency does not grow. */
function grown({ ns, family }: GpuOp, factor: number): number {
  const { attentionFixedNs, kernelFixedNs } = gainConstants;
  const fixed = Math.min(ns, (family === attention ? attentionFixedNs : kernelFixedNs).value);
  return Math.hypot(fixed, factor * Math.sqrt(ns ** 2 - fixed ** 2));
}

/** To the longest host code of the step, where schedulers and samplers do what they do; never below nothing. */
function addHostWork({ items, threads }: ReplayModel, step: number, ns: number): void {
  const own = threads[0].items.map(i => items[i]).filter(item => item.step === step && item.kind === 'code');
  own.sort((a, b) => b.ns - a.ns);
  const [longest] = own;
  if (!longest) return;
  const added = Math.max(ns, -longest.ns);
  longest.causes =
    added >= 0
      ? [...longest.causes, { cause: hostCode, ns: added }]
      : longest.causes.map(part => ({ ...part, ns: part.ns * (1 + added / longest.ns) }));
  longest.ns += added;
}
