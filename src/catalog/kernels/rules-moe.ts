/**
 * Mixture of experts inside one GPU: choosing experts, bringing rows into expert order, weighing them back. Expert
 * GEMMs are GEMMs. A namespace `moe` decides nothing, and combine is asked before dispatch and router because its
 * names borrow their words (finalizeMoeRouting).
 */
import type { KernelRule } from './rule.js';

export const moeRules: readonly KernelRule[] = [
  {
    id: 'moe-grouped-gemm',
    family: 'gemm',
    variant: 'grouped',
    pattern:
      /fused_moe_kernel|fused_?moe_?gemm|(?:^|[_:])moe_?(?:wna16_)?gemm|MoeGemm|moe_mmk|ck_moe_stage|(?:^|::)fmoe_|moe_wna16|marlin_moe|(?:expert|batched)_triton_kernel|_matmul_ogs_|kernel_moe_gemm|grouped_(?:gemm|mm|matmul)|group_?gemm|GroupedGemm|m_grouped/i,
    source: 'vLLM and SGLang fused_moe; triton_kernels matmul_ogs; aiter fmoe, ck moe; PyTorch GroupMM.cu',
  },
  {
    id: 'moe-combine',
    family: 'moe-combine',
    pattern:
      /finalize_?Moe|moe_?finalize|moe::dev::finalize|moe_?(?:sum|reduce|combine|weighted_sum|fused_mul_sum)|un_?permute|ep_gather|post_reorder|finalize_matmul_scatter|_reduce_grouped|shuffle_mul_sum|weight_and_reduce|combine_?experts?|experts?_combine/i,
    source:
      'TensorRT-LLM moe_kernels.cu, trtllm-gen DevKernel.cu; vLLM moe_sum; SGLang ep_moe; triton_kernels; Megatron permutation',
  },
  {
    id: 'moe-routing-namespace',
    family: 'moe-router',
    pattern: /moe::dev::routing|routing(?:Indices|InitExpert|Main|Custom|Renormalize|DeepSeek|Llama4)/,
    source: 'TensorRT-LLM trtllm-gen routing, as FlashInfer builds it',
  },
  {
    id: 'moe-dispatch',
    family: 'moe-dispatch',
    pattern:
      /moe_?(?:\w+_)?align|moe_?permute|(?:^|[_:])permute_?(?:tokens|moe)|moe::dev::permute|expand_?Input_?Rows|ep_scatter|moe_?(?:\w+_)?sort|pre_reorder|sort_?expert|expert_?(?:tokens?|offsets?|maps?|counts?|prefix|sort)|compute_(?:problem_sizes|arg_sorts|seg_indptr|src2dst|masked_m|m_range)|compute_src2dst|computeStridesTma|shuffle_?(?:input_?)?rows|moe_?dispatch|fill_gateup_input|generate_permute_indices|(?:^|_)fill_indices_kernel|build_?expert|row_id_map/i,
    source:
      'vLLM moe_align_sum_kernels.cu, moe_permute; TensorRT-LLM moe_kernels.cu; SGLang ep_moe; ck_tile MoeSorting; torchao permute indices',
  },
  {
    id: 'moe-router',
    family: 'moe-router',
    pattern:
      /top_?k_?gating|topk_?(?:softmax|sigmoid)(?!_?sampl)|grouped_?top_?k|fused_?topk|moe_?fused_?gate|gate_?topk|topk_?gate|noAuxTc|deepseek_(?:v3_)?topk|topk_with_k2|group_idx_and_topk|moe_?(?:softmax|topk|rout|gate|gating)|MoeRouting|combined_routing|bitmatrix|_expt_data_|^_topk_(?:forward|backward)$|select_experts|router_(?:topk|kernel|softmax|sigmoid)|fused_router/i,
    source:
      'vLLM topk_softmax_kernels.cu; SGLang moe_fused_gate.cu; TensorRT-LLM noAuxTcKernels.cu, customMoeRoutingKernels.cu; triton_kernels routing and topk; aiter',
  },
];
