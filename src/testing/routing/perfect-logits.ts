/**
 * Logits that make a router choose planned experts: ours, and the schemes TensorRT-LLM published (1.0 to 1.2: values
 * 7.5 and 0.5 put through softmax; 2026: +10 and −10, turned by rank; DeepSeekV3 with a search over groups).
 */
import { balancedExperts, type PlanShape } from './balanced-experts.js';
import { checkShape, wrong } from './routing-methods.js';

export const CHOSEN = 10;
export const OTHERS = -10;

/** Our own: planned by `balancedExperts`. Any method chooses exactly the planned experts from them; bias must be zero. */
export function perfectLogits(shape: PlanShape): Float64Array {
  return logitsFor(balancedExperts(shape), shape, () => CHOSEN, OTHERS);
}

function logitsFor(
  plan: Int32Array,
  { experts, topK, tokens }: PlanShape,
  value: (slot: number) => number,
  background: number,
): Float64Array {
  const logits = new Float64Array(tokens * experts).fill(background);
  plan.forEach((expert, i) => {
    logits[Math.floor(i / topK) * experts + expert] = value(i % topK);
  });
  return logits;
}

/** Slot i goes to GPU i mod P, there to the experts in turn; `turned` shifts the GPUs by rank (2026). */
export function publishedExperts(
  { tokens, topK, experts, gpus = 1, rank = 0 }: PlanShape,
  turned: boolean,
): Int32Array {
  if (experts % gpus !== 0)
    throw wrong(
      `${experts} experts cannot be spread evenly over ${gpus} GPUs.`,
      'The number of GPUs must divide the number of experts.',
    );
  const perGpu = experts / gpus;
  return Int32Array.from({ length: tokens * topK }, (_, slot) => {
    const at = turned ? slot + rank : slot;
    return (at % gpus) * perGpu + (Math.floor(at / gpus) % perGpu);
  });
}

export function publishedLogits2025(shape: PlanShape): Float64Array {
  checkShape(shape);
  const { experts, topK } = shape;
  // Softmax over a row of k times 7.5 and the rest 0.5 is the same in every row.
  const sum = topK * Math.exp(7.5) + (experts - topK) * Math.exp(0.5);
  const plan = publishedExperts(shape, false);
  return logitsFor(plan, shape, () => Math.exp(7.5) / sum, Math.exp(0.5) / sum);
}

export function publishedLogits2026(shape: PlanShape): Float64Array {
  checkShape(shape);
  return logitsFor(publishedExperts(shape, true), shape, () => CHOSEN, OTHERS);
}
