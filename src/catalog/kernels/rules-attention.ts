/**
 * Attention and what stands around it: rotary embedding, the KV cache and its tables, and the recurrences that take
 * attention's place. Rotary kernels that also write the cache count as RoPE; attention names that mention the paged
 * cache they read stay attention.
 */
import type { KernelRule } from './rule.js';

export const attentionRules: readonly KernelRule[] = [
  {
    id: 'rope',
    family: 'rope',
    pattern:
      /[Rr]otary|RoPE|[A-Za-z]Rope(?:[A-Z]|$)|(?:^|[_:])[Mm]?[Rr]ope(?:_|$|[A-Z\d])|kn_entry_\w*sbhd|_rope_/,
    source:
      'vLLM pos_encoding_kernels.cu; FlashInfer pos_enc.cuh; TensorRT-LLM applyBiasRopeUpdateKVCache; aiter rope',
  },
  {
    id: 'kv-cache-write',
    family: 'kv-cache',
    pattern:
      /reshape_and_cache|concat_and_cache|quant_and_cache|(?:^|[_:])(?:store|set|write|copy|append|load|swap|move|transfer|insert|update|save|repack|fill|dequant)_?\w*kv_?(?:cache|buffer|index|indices|pool|block|page)?|Append\w*KV|destindex_copy|(?:gather|convert)\w*_cache|(?:swap|copy)_blocks|transfer_kernel_impl|updateKV|move_?kv/i,
    source:
      'vLLM cache_kernels.cu; SGLang memory_pool.py, kvcacheio; LightLLM destindex_copy_kv; FlashInfer page.cuh',
  },
  {
    id: 'kv-cache-tables',
    family: 'kv-cache',
    variant: 'tables',
    pattern:
      /^alloc_(?:decode|extend)|get_last_loc|req_to_token|kv_ind(?:ices|ptr)|cache_locs?|slot_mapping|block_tables?|page_tables?|build_page/i,
    source: 'SGLang allocator.py, eagle_utils.py; vLLM block_table.py; FlashInfer index updater',
  },
  {
    id: 'recurrence',
    family: 'recurrence',
    pattern:
      /selective_(?:scan|state)|chunk_(?:scan|state|cumsum|local_cumsum|gated|delta|kda|gla|scaled_dot|fwd_kernel|bwd_kernel|fwd_o|transform_qk)|state_passing|_bmm_chunk_|causal_conv1d|conv1d_update|gated_delta|delta_rule|(?:^|_)gdn_|linear_attn|linear_attention|lightning_attn|recompute_w_u|solve_tril|merge_16x16|fused_recurrent|(?:^|[_:])(?:r?wkv\d*|ssm|ssd|mamba\d?|kda|gla|retention)_|_fwd_(?:none_)?diag_kernel|_fwd_kv_(?:parallel|reduce)|lstm|LSTM|gru_cell|GRU|RNN/,
    source:
      'state-spaces/mamba; fla-org/flash-linear-attention; vLLM mamba and lightning_attn ops; cuDNN and PyTorch RNN',
  },
  {
    id: 'attention-combine',
    family: 'attention',
    variant: 'combine',
    pattern:
      /splitkv_(?:mla_)?combine|Fwd_?Combine|fwd_combine|SplitKVCombine|mla_combine|MergeStates?|merge_(?:attn_)?states?|^reduce_segments$|mla_?reduc|paged_attention\w*_reduce|fmhaReduction|Fmha\w*Reduction|attention\w*_(?:reduce|combine)|flash_decode\w*stage2|^_fwd_kernel_stage2|attn_reduce|kn_mla_reduce/i,
    source:
      'FlashAttention flash_fwd_splitkv_combine; FlashInfer cascade.cuh; vLLM unified attention; FlashMLA; aiter',
  },
  {
    id: 'attention-mla',
    family: 'attention',
    variant: 'mla',
    pattern:
      /Batch\w*MLA|KernelMLA|(?=[^:]*mla)(?=[^:]*(?:att|fwd|dec|prefill|fmha|splitkv|flash|metadata|a8w8|a16w16))[^:]*$|^fmha\w*HQk576HV512/i,
    source:
      'deepseek-ai/FlashMLA; FlashInfer mla; aiter mla_dec_stage1; trtllm-gen FMHA with head sizes 576 and 512',
  },
  {
    id: 'attention-decode',
    family: 'attention',
    variant: 'decode',
    pattern:
      /^fmhaSm\w*ForGen|(?:Batch|Single)Decode|paged_attention|decode_att|flash_decod|masked_multihead_attention|mmha|^kernel_mha|xqa|^_fwd_(?:grouped_)?kernel_stage1|(?:^|::)pa_(?:bf16|fp16|fp8|decode)|unified_attention_3d|_decode_attention|attn_decode|flash_attn_ext_vec/i,
    source:
      'trtllm-gen FMHA; FlashInfer decode.cuh; vLLM paged attention and unified attention; TensorRT-LLM XQA; SGLang decode_attention.py; aiter pa',
  },
  {
    id: 'attention-prefill',
    family: 'attention',
    variant: 'prefill',
    pattern:
      /^fmhaSm\w*Context|(?:Batch|Single)Prefill|PrefillWith|prefill_att|att\w*_prefill|context_att|extend_att|^fmha_v2_|_fwd_kernel_(?:prefill|context|extend)|sparse_prefill/i,
    source:
      'trtllm-gen FMHA; FlashInfer prefill.cuh; TensorRT-LLM fmha_v2; LightLLM and SGLang context attention; ck_tile',
  },
  {
    id: 'attention',
    family: 'attention',
    pattern:
      /flash_?(?:fwd|bwd|fprop|bprop|attn|attention)|fmha|sdpa|[^:]*(?:attention|attn_|_attn|AttnFwd|AttnBwd)[^:]*$|mqa_logits|prepare_varlen_num_blocks|^_fwd_kernel$|(?:^|::)mha_|(?:^|[_:])(?:mha|mqa|gqa)(?:_|$)/i,
    source:
      'Dao-AILab/flash-attention; PyTorch memory-efficient and flash; cuDNN SDPA; Triton tutorials; DeepGEMM indexer',
  },
];
