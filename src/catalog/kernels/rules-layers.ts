/**
 * The small layers between the large ones: norms, activations, conversions to narrow types, token choice, embedding.
 * A norm or activation that also quantises keeps its name: the quantisation is its epilogue.
 */
import type { KernelRule } from './rule.js';

/** Asked before GEMM, because some of these name the GEMM they prepare for. */
export const layerRules: readonly KernelRule[] = [
  {
    id: 'norm',
    family: 'norm',
    pattern:
      /layer_?norm|rms_?norm|group_?norm|batch_?norm|instance_?norm|l2_?norm|(?:qk|add|fused)_?norm|norm2d|(?:^|[_:])ln_(?:fwd|bwd)|bn_(?:fw|bw)_|cuCompute(?:Part)?Grad(?:Input|GammaBeta)|GammaBetaBackward|RowwiseMoments|_rms_|[^e]norm_?kernel|fused_rms/i,
    source:
      'vLLM layernorm_kernels.cu; FlashInfer norm.cuh; TensorRT-LLM rmsnormKernels.cu; apex; TransformerEngine; cuDNN',
  },
  {
    id: 'activation-and-mul',
    family: 'activation',
    pattern:
      /act_and_mul|(?:silu|gelu|swiglu|relu2?)_?(?:tanh_)?(?:and_)?(?:mul|quant)|do_?(?:gated_?)?activation|activation_?(?:DeepSeek|kernel)|(?:^|[_:])swiglu|geglu|moe::dev::activation/i,
    source:
      'vLLM activation_kernels.cu; SGLang and LightLLM silu_and_mul; TensorRT-LLM doActivationKernel; liger',
  },
  {
    id: 'quantise',
    family: 'quantise',
    pattern:
      /^(?!.*(?:gemm|matmul|_mm_|gemv|marlin|mul_mat)[^:]*$).*(?:quant|cvt_fp\w*_to|to_(?:mx|nv)?fp[468]|mx_block(?:ed_layout|_rearrange)|fp8_?cast|scale_\d+x\d+_kernel|cast_transpose|ue8m0|convert_?sf|block_scale_interleave|FP8_?qparam|FP8rowwise|segmented_max_reduction|convert_fp8)/i,
    source:
      'vLLM scaled_fp8_quant; SGLang per_token_group_quant_8bit.cu; TensorRT-LLM quantization.cu; TransformerEngine; DeepGEMM layout; fbgemm; aiter; torchao to_mxfp8 and mx_blocked_layout',
  },
  {
    id: 'quantise-for-gemm',
    family: 'quantise',
    pattern: /(?:per_token|per_tensor|per_group|group)\w*_quant|transpose_and_pack|pack_fp32_into_ue8m0/i,
    source: 'vLLM and DeepGEMM scale layout for deep_gemm',
  },
  {
    id: 'sampling-speculative',
    family: 'sampling',
    variant: 'speculative',
    pattern:
      /verify_?tree|build_tree|tree_?spec|bonus_tokens|rejection_(?:greedy|random)|num_sampled_and_rejected|rejection_?sampl|recovered_tokens|speculative|eagle_|medusa|(?:^|_)draft_(?:tokens?|logits|probs)|accepted?_(?:tokens|index|path)/i,
    source:
      'SGLang eagle_utils; vLLM rejection_sampler.py, v1/worker/gpu; TensorRT-LLM medusa and eagle kernels',
  },
  {
    id: 'sampling-argmax',
    family: 'sampling',
    variant: 'argmax',
    pattern: /arg_?max/i,
    source: 'greedy token choice under its own name in many engines',
  },
  {
    id: 'sampling',
    family: 'sampling',
    pattern:
      /(?:^|[^pn])(?:sampling|_sample_|Sampl(?:e|ing)(?:From|Kernel))|top_?p(?:_|$|[A-Z])|topk_?topp|gumbel|multinomial|min_p_|Renorm_?Prob|MaskLogits|logits_(?:process|mask|bias)|(?:^|_)temperature|penalt(?:y|ies)|bad_?words|stop_?words|beam_?(?:search|stage|hyps)|bitmask|topKStage[12]|curand_?init|online_?softmax(?:Fused|Map|Reduce)|log_?softmax_?topk|topk_log_softmax/i,
    source: 'FlashInfer sampling.cuh; vLLM v1/sample; TensorRT-LLM samplingTopKKernels.cu; xgrammar',
  },
  {
    id: 'embedding',
    family: 'embedding',
    pattern:
      /embedding|(?:^|_)embed_|pooled_embs|(?:^|::)lookup_kernel|bounds_check_indices|linearize_index|vocab_parallel/i,
    source:
      'PyTorch Embedding.cu; fbgemm table-batched embedding; TensorRT-LLM lookupKernels.cu; LightLLM embedding.py',
  },
];

/** Asked after GEMM and convolution, whose names mention the activation they end with. */
export const plainActivationRules: readonly KernelRule[] = [
  {
    id: 'activation',
    family: 'activation',
    pattern: /silu|gelu|swish|(?:^|[_:])(?:leaky_?)?relu|activation/i,
    source: 'engines at large',
  },
];
