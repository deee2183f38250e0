/**
 * Traffic between GPUs, and transfers that profilers list among kernels. All-reduce kernels that also normalise stay
 * here: what they wait for is the other ranks. So do dispatch and combine across ranks, with what they do as variant.
 */
import type { KernelRule } from './rule.js';

export const communicationRules: readonly KernelRule[] = [
  {
    id: 'memcpy',
    family: 'copy',
    pattern: /^(?:CUDA )?mem_?cpy|^Copy(?:Host|Device)To|^__amd_rocclr_copy|^memcpy\d+_post/i,
    source: 'CUPTI and Kineto activity names; CUDA driver memcpy32_post; ROCm clr copyBuffer',
  },
  {
    id: 'memset',
    family: 'memset',
    pattern: /^(?:CUDA )?mem_?set|^FillBuffer|^__amd_rocclr_fill|^memset\d+_post/i,
    source: 'CUPTI and Kineto activity names; ROCm clr fillBuffer',
  },
  {
    id: 'deepep-combine',
    family: 'communication',
    variant: 'deepep-combine',
    pattern: /^(?:deep_ep|dpsk::ep|hybrid_ep|uccl(?:_ep)?|mscclpp::ep)::(?:\w+::)*combine(?:_kernel)?$/,
    source: 'deepseek-ai/DeepEP csrc/kernels; mscclpp and uccl ports keep the names',
  },
  {
    id: 'deepep-dispatch',
    family: 'communication',
    variant: 'deepep-dispatch',
    pattern: /^(?:deep_ep|dpsk::ep|hybrid_ep|uccl(?:_ep)?|mscclpp::ep)::(?:\w+::)*dispatch(?:_kernel)?$/,
    source: 'deepseek-ai/DeepEP csrc/kernels; mscclpp and uccl ports keep the names',
  },
  {
    id: 'deepep',
    family: 'communication',
    variant: 'deepep',
    pattern: /^(?:deep_ep|dpsk::ep|hybrid_ep)::/,
    source:
      'deepseek-ai/DeepEP csrc/kernels: notify, barrier, layout, buffer cleaning; dpsk::ep in published DeepSeek traces',
  },
  {
    id: 'all-to-all-combine',
    family: 'communication',
    variant: 'all-to-all-combine',
    pattern: /(?:a2a|all_?to_?all)_?combine|EpCombine(?:Intra|Inter|Low)|moeCombineKernel|^pplx::.*combine/i,
    source: 'TensorRT-LLM moeA2ACombineKernel; ROCm mori EpCombineIntraNodeKernel; pplx-kernels',
  },
  {
    id: 'all-to-all-dispatch',
    family: 'communication',
    variant: 'all-to-all-dispatch',
    pattern: /(?:a2a|all_?to_?all)_?dispatch|EpDispatch(?:Intra|Inter|Low)|^pplx::.*dispatch/i,
    source: 'TensorRT-LLM moeA2ADispatchKernel; ROCm mori EpDispatchIntraNodeKernel; pplx-kernels',
  },
  {
    id: 'all-to-all',
    family: 'communication',
    variant: 'all-to-all',
    pattern: /all_?to_?all|moe_?a2a|(?:^|::)moe_comm::|fusedMoeCommKernels/i,
    source: 'TensorRT-LLM moeAllToAllKernel, moe_comm',
  },
  {
    id: 'rccl',
    family: 'communication',
    variant: 'rccl',
    // RCCL keeps NCCL's names but launches one generic kernel per unroll factor.
    pattern: /^ncclDevKernel_Generic_\d|(?:^|_)rccl|^msccl(?!pp)/,
    source: 'ROCm/rccl src/device/common.cu',
  },
  {
    id: 'nccl',
    family: 'communication',
    variant: 'nccl',
    pattern: /^nccl(?:Sym\w*)?(?:Dev)?(?:Kernel|Func)|^nccl[A-Z]|^nccl:/,
    source: 'NVIDIA/nccl src/device',
  },
  {
    id: 'nvshmem',
    family: 'communication',
    variant: 'nvshmem',
    pattern: /nvshmem/i,
    source: 'NVIDIA NVSHMEM',
  },
  {
    id: 'custom-all-reduce',
    family: 'communication',
    variant: 'custom all-reduce',
    pattern:
      /cross_device_reduce|all_?reduce|quick_?reduce|ar_fusion|multimem_|lamport|userbuffers_fp16_sum|local_device_load_rmsnorm/i,
    source:
      'vLLM and SGLang custom_all_reduce.cuh; TensorRT-LLM and FlashInfer allreduce fusion; PyTorch CUDASymmetricMemoryOps.cu; aiter',
  },
  {
    id: 'custom-collective',
    family: 'communication',
    variant: 'custom',
    pattern:
      /reduce_?scatter|all_?gather|userbuffers|mscclpp::|symm_?mem|cross_device|^(?:vllm|sglang)::\w*barrier|(?:^|::)barrier_kernel$/i,
    source: 'TensorRT-LLM userbuffers; microsoft/mscclpp; PyTorch symmetric memory',
  },
];
