/** Matrix products and convolutions under their own names. */
import type { KernelRule } from './rule.js';

/**
 * GEMMs whose generated names list their configuration, activations and scale formats included: known by how they
 * begin, and asked before rules that look for such words.
 */
export const generatedGemmRules: readonly KernelRule[] = [
  {
    id: 'trtllm-gen-grouped-gemm',
    family: 'gemm',
    variant: 'grouped',
    // dynB, dynBatch: the rows of every expert are counted on the device.
    pattern: /^bmm_[A-Z]\w*_dynB(?:atch)?(?:_|$)/,
    source: 'TensorRT-LLM trtllm-gen batched GEMM, as FlashInfer loads it',
  },
  {
    id: 'trtllm-gen-batched-gemm',
    family: 'gemm',
    variant: 'batched',
    pattern: /^bmm_(?:Mx|E\dm\d|Bfloat16|Fp\d)/,
    source: 'TensorRT-LLM trtllm-gen batched GEMM without dynamic batches',
  },
  {
    id: 'generated-gemm',
    family: 'gemm',
    variant: 'dense',
    pattern:
      /^nvjet_|^Cijk_|LLBf16(?:Dotprod|SplitK)|ll_bf16_(?:dotprod|splitk)|^sm\d+_xmma_gemm_|^gemm_(?:Mx|E\dm\d|Bfloat16|Fp\d)/,
    source:
      'cuBLAS nvjet and xmma; ROCm Tensile; trtllm-gen GEMM; vLLM model_executor/kernels/linear/cute_dsl',
  },
];

export const gemmRules: readonly KernelRule[] = [
  {
    id: 'split-k-reduce',
    family: 'gemm',
    variant: 'split-k-reduce',
    pattern: /split_?k_?reduce|reduce_?split_?k/i,
    source: 'cuBLAS splitKreduce_kernel; CUTLASS',
  },
  {
    id: 'convolution',
    family: 'convolution',
    pattern:
      /scudnn|hcudnn|implicit_?gemm|convolve|(?:^|[_:])conv(?:[123]d|olution|_|$)|Conv(?:[123]d|Fwd|Bwd)|grouped_conv|winograd|fprop|dgrad|wgrad|im2col|col2im|vol2col|nchwToNhwc|nhwcToNchw|nhwcToFolded|foldedNhwc|^igemm_(?:fwd|bwd|wrw)|fft2d_[rc]2[rc]|flip_filter|^cask_cudnn|^xmma\w*_cudnn|cudnn::cnn|convertTensor_kernel|^batched_transpose_\d/i,
    source: 'cuDNN; CUTLASS; MIOpen (its layout changes included); Triton templates',
  },
  {
    id: 'gemv',
    family: 'gemm',
    variant: 'gemv',
    pattern: /gemv|wvSplitK|LLGemm1|mul_mat_vec|mat_?vec/i,
    source: 'cuBLAS gemvx, gemv2T; vLLM rocm/skinny_gemms.cu; llama.cpp',
  },
  {
    id: 'gemm-batched',
    family: 'gemm',
    variant: 'batched',
    pattern: /batched_?gemm|gemm_?batched|(?:^|_)bmm(?:_|$)|gcgemm/i,
    source: 'Composable Kernel; aiter; cuBLAS',
  },
  {
    id: 'gemm',
    family: 'gemm',
    variant: 'dense',
    pattern:
      /gemm[^:]*$|matmul[^:]*$|mul_mat|(?:^|_)(?:scaled_)?mm_kernel|marlin|machete|(?:^|_)w\d+a\d+|a\d+w\d+|(?:^|::)weight_only::kernel|exllama|gemm_forward_4bit|cublas(?!Lt::epilogue)/i,
    source:
      'cuBLAS; CUTLASS; DeepGEMM; Triton matmuls; Marlin, Machete, AWQ and GPTQ kernels of vLLM; TensorRT-LLM weight-only',
  },
];
