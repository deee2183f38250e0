/**
 * Constants of the models in src/analyze/whatif that no single profile shows, each with where it comes from. The pairs
 * that judge the models (prediction-pairs.ts) are others than those that gave these figures.
 */
interface Constant {
  readonly value: number;
  readonly about: string;
}

const H200 = 'vLLM 0.25, Llama-8B, H200';

export const gainConstants = {
  gemmFixedNs: {
    value: 3_600,
    about: `part of a decode GEMM that does not shrink with its bytes (${H200}, batch 8, bf16 to FP8)`,
  },
  quantiseNs: {
    value: 2_200,
    about: `kernel time that quantizing the input of a GEMM adds (the same pair: norm, reduce and elementwise kernels)`,
  },
  attentionFixedNs: {
    value: 10_800,
    about: `part of a decode attention kernel that does not grow with the batch (${H200}, batch 8 to 64: 11.4 and 32 µs)`,
  },
  kernelFixedNs: {
    value: 4_000,
    about:
      'the same for other kernels (the same pair: norm, activation and KV cache kernels of 2 µs stay, sampling grows)',
  },
  hostPerRequestNs: {
    value: 16_000,
    about: `host time per request between forward passes (the same pair: 0.89 ms for 56 requests, profiler attached)`,
  },
  pinnedCopyCallNs: {
    value: 10_000,
    about: 'call that launches a pinned copy, where the file has none (captures vllm-graphs, nsys attached)',
  },
} as const satisfies Record<string, Constant>;
