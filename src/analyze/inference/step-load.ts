/** What a step has to do, and what each part of the model costs in it. */

type PartFamily = 'attention' | 'gemm' | 'moe-router' | 'embedding';
type PartVariant = 'dense' | 'grouped' | 'prefill' | 'decode' | '';

/** All layers together, one GPU. */
export interface PartCost {
  readonly part: string;
  readonly family: PartFamily;
  readonly variant: PartVariant;
  readonly flops: number;
  readonly weightBytes: number;
  /** Keys and values read from the cache and written to it. */
  readonly kvBytes: number;
}

export interface StepLoad {
  /** Tokens of prompts computed in this step, and of how many requests. */
  readonly contextTokens: number;
  readonly contextRequests: number;
  /** Tokens already in the cache that those prompts attend to, summed over the requests. */
  readonly contextKvTokens?: number;
  readonly generationRequests: number;
  /** More than the requests where drafted tokens are verified. */
  readonly generationTokens: number;
  /** Lengths of the cached contexts that generation reads, summed over the requests. */
  readonly generationKvTokens?: number;
  /** GPUs among which heads and matrices are split. */
  readonly tensorParallel: number;
  /** GPUs among which whole experts are split. */
  readonly expertParallel?: number;
  /** Distinct experts used per layer, where it was observed; otherwise the expected number is taken. */
  readonly expertsTouched?: number;
  /** Overrides the bits of the weights that the model's format quantizes. */
  readonly weightBits?: number;
  readonly kvBits?: number;
}
