/**
 * The entry points of CUTLASS, Composable Kernel and DeepGEMM carry work: one function that runs whatever its template
 * argument describes. Their rules read the template text, and are asked before anything reads the bare name.
 */
import type { KernelRule } from './rule.js';

const cutlassCarrier =
  /(?:^|::|_)cutlass\w*::(?:\w+::)*(?:Kernel2?|device_kernel)$|^(?:Kernel2|device_kernel|GemmUniversal)$/;
const ckCarrier = /^ck_tile::kentry/;

export const carrierRules: readonly KernelRule[] = [
  {
    id: 'cutlass-carries-attention-combine',
    family: 'attention',
    variant: 'combine',
    pattern: cutlassCarrier,
    templatePattern: /FwdCombine|Fmha\w*Reduction/,
    source: 'FlashAttention 3 hopper/flash_fwd_combine_kernel.h; CUTLASS example 77',
  },
  {
    id: 'cutlass-carries-mla',
    family: 'attention',
    variant: 'mla',
    pattern: cutlassCarrier,
    templatePattern: /Fmha\w*Mla|Mla\w*Fmha|FlashMla|::mla::/i,
    source: 'CUTLASS example 77, vLLM and SGLang cutlass MLA',
  },
  {
    id: 'cutlass-carries-attention',
    family: 'attention',
    pattern: cutlassCarrier,
    templatePattern: /FlashAttn|fmha|AttentionKernel|flash::/i,
    source: 'FlashAttention 3 hopper/flash_fwd_kernel_sm90.h; PyTorch memory-efficient attention',
  },
  {
    id: 'cutlass-carries-convolution',
    family: 'convolution',
    pattern: cutlassCarrier,
    templatePattern: /fprop|dgrad|wgrad|ImplicitGemm|::conv::|Conv[23]d/,
    source: 'cuDNN, CUTLASS convolution',
  },
  {
    id: 'cutlass-carries-split-k-reduce',
    family: 'gemm',
    variant: 'split-k-reduce',
    pattern: cutlassCarrier,
    templatePattern: /ReduceSplitK/,
    source: 'CUTLASS reduction/kernel/reduce_split_k.h',
  },
  {
    id: 'cutlass-carries-grouped-gemm',
    family: 'gemm',
    variant: 'grouped',
    pattern: cutlassCarrier,
    templatePattern:
      /GroupProblemShape|GemmGrouped|GroupedGemm|MoE(?:Problem|Gemm|FC)|MoeFC|PtrArray|ArrayTma/,
    source: 'CUTLASS grouped GEMM; PyTorch GroupMM.cu; TensorRT-LLM moe_gemm',
  },
  {
    id: 'cutlass-carries-batched-gemm',
    family: 'gemm',
    variant: 'batched',
    pattern: cutlassCarrier,
    templatePattern: /GemmBatched|GemmArray|gemm_?batched/,
    source: 'CUTLASS batched GEMM',
  },
  {
    id: 'cutlass-carries-gemm',
    family: 'gemm',
    variant: 'dense',
    // Where the argument was cut off, a CUTLASS entry point is taken for what it mostly is.
    pattern: cutlassCarrier,
    source: 'NVIDIA/cutlass include/cutlass/device_kernel.h; cuBLAS',
  },
  {
    id: 'ck-carries-attention-combine',
    family: 'attention',
    variant: 'combine',
    pattern: ckCarrier,
    templatePattern: /SplitKVCombine/,
    source: 'ROCm composable_kernel ck_tile fmha',
  },
  {
    id: 'ck-carries-prefill',
    family: 'attention',
    variant: 'prefill',
    pattern: ckCarrier,
    templatePattern: /Fmha\w*Prefill/,
    source: 'ROCm composable_kernel ck_tile fmha',
  },
  {
    id: 'ck-carries-attention',
    family: 'attention',
    pattern: ckCarrier,
    templatePattern: /Fmha/,
    source: 'ROCm composable_kernel ck_tile fmha',
  },
  {
    id: 'ck-carries-norm',
    family: 'norm',
    pattern: ckCarrier,
    templatePattern: /(?:Rms|Layer)norm2d/i,
    source: 'ROCm composable_kernel ck_tile rmsnorm2d, layernorm2d',
  },
  {
    id: 'ck-carries-moe-sorting',
    family: 'moe-dispatch',
    pattern: ckCarrier,
    templatePattern: /MoeSorting/,
    source: 'ROCm composable_kernel ck_tile moe_sorting',
  },
  {
    id: 'ck-carries-router',
    family: 'moe-router',
    pattern: ckCarrier,
    templatePattern: /TopkSoftmax/,
    source: 'ROCm composable_kernel ck_tile topk_softmax',
  },
  {
    id: 'ck-carries-grouped-gemm',
    family: 'gemm',
    variant: 'grouped',
    pattern: ckCarrier,
    templatePattern: /FusedMoe|GroupedGemm|MoeFlatmm/,
    source: 'ROCm composable_kernel ck_tile fused_moe, grouped_gemm',
  },
  {
    id: 'ck-carries-quantise',
    family: 'quantise',
    pattern: ckCarrier,
    templatePattern: /smoothquant/i,
    source: 'ROCm composable_kernel ck_tile smoothquant',
  },
  {
    id: 'ck-carries-gemm',
    family: 'gemm',
    variant: 'dense',
    pattern: ckCarrier,
    templatePattern: /gemm|flatmm/i,
    source: 'ROCm composable_kernel ck_tile gemm',
  },
  {
    id: 'deepgemm-grouped',
    family: 'gemm',
    variant: 'grouped',
    pattern: /^deep_gemm::\w*gemm\w*$/,
    // GemmType 1 and 2 are the contiguous and the masked layout of experts' rows; 0 is an ordinary GEMM.
    templatePattern: /GemmType\)?(?:\)[1-9]|::\w*Grouped)/,
    source: 'deepseek-ai/DeepGEMM, GemmType',
  },
];
