/**
 * What one step of inference must at least compute and read on one GPU, part by part. Only what no
 * implementation can avoid is counted: activations, norms, communication and rereading are not. Where an input
 * is missing its share is left out and named in `unknown`, so that what remains is still a lower bound.
 */
import { attentionParts, kvElementBits } from './attention-cost.js';
import { matrixSizes } from './model-parameters.js';
import type { ModelShape } from './model-shape.js';
import type { PartCost, StepLoad } from './step-load.js';
import type { WeightGroup } from './weight-format.js';

export interface StepCost {
  readonly parts: readonly PartCost[];
  readonly total: { readonly flops: number; readonly weightBytes: number; readonly kvBytes: number };
  /** What was not known and is therefore not counted. */
  readonly unknown: readonly string[];
  /** What was taken as given without being recorded; where it fails the result may be above the true least. */
  readonly assumptions: readonly string[];
}

/** Distinct experts that some of `tokens` go to, when every choice is equally likely. Skewed routing uses fewer. */
export function expectedExperts(experts: number, perToken: number, tokens: number): number {
  return experts * (1 - (1 - perToken / experts) ** tokens);
}

export function stepCost(shape: ModelShape, step: StepLoad): StepCost {
  checkStep(step);
  const unknown: string[] = [];
  const assumptions: string[] = [];
  const { moe, layers } = shape;
  const matrices = matrixSizes(shape);
  const ways = step.tensorParallel;
  const tokens = step.contextTokens + step.generationTokens;
  const ownBits = residentBits(shape, assumptions);
  const bitsOf = (group: WeightGroup): number | undefined => {
    if (!shape.weights.quantized.has(group)) return ownBits;
    const stated = shape.weights.name === 'none' ? ownBits : shape.weights.quantizedBits;
    return step.weightBits ?? stated;
  };
  const parts: PartCost[] = [];
  let bytesAreMissing = false;
  /** A matrix product: each weight meets `rows` tokens in 2 operations each, and is read once. */
  const product = (
    part: string,
    family: PartCost['family'],
    variant: PartCost['variant'],
    work: { readonly rows: number; readonly weights: number; readonly read?: number },
    bits: number | undefined,
  ) => {
    if (bits === undefined) bytesAreMissing = true;
    const read = work.rows > 0 ? (work.read ?? work.weights) : 0;
    const flops = 2 * work.rows * work.weights;
    parts.push({ part, family, variant, flops, weightBytes: (read * (bits ?? 0)) / 8, kvBytes: 0 });
  };

  // Rows of the table are copied, not multiplied; each GPU holds its share of them.
  parts.push({
    part: 'embedding',
    family: 'embedding',
    variant: '',
    flops: 0,
    weightBytes: (tokens * shape.hiddenSize * (ownBits ?? 0)) / 8 / ways,
    kvBytes: 0,
  });
  const kvWays = shape.attention.kind === 'grouped' ? Math.min(ways, shape.attention.kvHeads) : 1;
  const intoHeads = matrices.query / ways + matrices.keyValue / kvWays + matrices.latent;
  const attentionBits = bitsOf('attention');
  product('qkv projection', 'gemm', 'dense', { rows: tokens, weights: layers * intoHeads }, attentionBits);
  const kvBits = kvElementBits(shape, step.kvBits, ownBits, assumptions);
  parts.push(...attentionParts(shape, step, kvBits, kvWays, unknown, assumptions));
  const outOfHeads = { rows: tokens, weights: (layers * matrices.output) / ways };
  product('output projection', 'gemm', 'dense', outOfHeads, attentionBits);
  if (shape.denseMlp.layers > 0) {
    const weights = (shape.denseMlp.layers * matrices.denseMlp) / ways;
    product('dense MLP', 'gemm', 'dense', { rows: tokens, weights }, bitsOf('mlp'));
  }
  if (moe) {
    // Every GPU routes every token: the router is too small to be worth splitting.
    const router = { rows: tokens, weights: moe.layers * matrices.router };
    product('MoE router', 'moe-router', '', router, ownBits);
    // Split by expert or within each, a GPU holds the same share of weights and, on average, of work.
    const expertWays = Math.max(ways, step.expertParallel ?? 1);
    const touched = step.expertsTouched ?? expectedExperts(moe.experts, moe.expertsPerToken, tokens);
    const perExpert = (moe.layers * matrices.expert) / expertWays;
    const work = { rows: tokens, weights: moe.expertsPerToken * perExpert, read: touched * perExpert };
    product('MoE experts', 'gemm', 'grouped', work, bitsOf('experts'));
    if (step.expertsTouched === undefined && tokens > 0)
      assumptions.push(
        `Routing is assumed uniform: ${tokens} tokens use ${touched.toFixed(1)} of ${moe.experts} experts per layer; skewed routing reads fewer.`,
      );
    if (expertWays > ways)
      unknown.push('Tokens that other GPU groups send to these experts are not counted.');
    if (moe.sharedWidth > 0) {
      const weights = (moe.layers * matrices.sharedExpert) / ways;
      product('shared experts', 'gemm', 'dense', { rows: tokens, weights }, bitsOf('sharedExperts'));
    }
  }
  // Only the last token of a prompt is continued.
  const sampled = { rows: step.contextRequests + step.generationTokens, weights: matrices.lmHead / ways };
  product('lm_head', 'gemm', 'dense', sampled, bitsOf('lmHead'));
  if (bytesAreMissing)
    unknown.push(
      `Bits per weight are unknown for ${shape.weights.name}, so weights in that format are not counted.`,
    );
  return { parts, total: totalOf(parts), unknown, assumptions };
}

/** Engines load float32 checkpoints in half precision unless told otherwise. */
function residentBits(shape: ModelShape, assumptions: string[]): number | undefined {
  const { ownBits } = shape.weights;
  if (ownBits === undefined || ownBits <= 16) return ownBits;
  assumptions.push(
    'The checkpoint is float32; its weights count as 16 bits, because engines load them that way.',
  );
  return 16;
}

function totalOf(parts: readonly PartCost[]): StepCost['total'] {
  const sum = (field: 'flops' | 'weightBytes' | 'kvBytes') =>
    parts.reduce((total, part) => total + part[field], 0);
  return { flops: sum('flops'), weightBytes: sum('weightBytes'), kvBytes: sum('kvBytes') };
}

/** Callers read these numbers out of files; a contradiction must not pass as a time. */
function checkStep(step: StepLoad): void {
  for (const [name, value] of Object.entries(step))
    if (value !== undefined && !(Number.isFinite(value) && value >= 0))
      throw new RangeError(`${name} is ${value}`);
  for (const name of ['tensorParallel', 'expertParallel'] as const)
    if (step[name] !== undefined && step[name] < 1) throw new RangeError(`${name} is ${step[name]}`);
  for (const phase of ['context', 'generation'] as const) {
    const tokens = step[`${phase}Tokens`];
    const requests = step[`${phase}Requests`];
    if (tokens < requests || (tokens > 0 && requests === 0))
      throw new RangeError(`${tokens} ${phase} tokens of ${requests} requests`);
  }
}
