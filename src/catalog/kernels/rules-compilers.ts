/**
 * Kernels that compilers name after the operators they fused. They come first: such a name holds the words of every
 * other rule (`triton_red_fused_add_mean_mul_pow_rsqrt_silu_0`), and only its prefix says what kind of kernel it is.
 */
import type { KernelRule } from './rule.js';

const inductor = 'PyTorch torch/_inductor/codegen/triton.py';
const xla =
  'openxla/xla xla/service/gpu: fusions are called after their root, `wrapped_` one operation alone';
const nvfuser = 'NVIDIA/Fuser csrc/scheduler';

export const compilerRules: readonly KernelRule[] = [
  {
    id: 'inductor-template-convolution',
    family: 'convolution',
    pattern: /^triton_tem_\w*conv/,
    source: inductor,
  },
  {
    id: 'inductor-template-attention',
    family: 'attention',
    pattern: /^triton_tem_\w*attention/,
    source: `${inductor}, flex attention templates`,
  },
  {
    id: 'inductor-template-grouped',
    family: 'gemm',
    variant: 'grouped',
    pattern: /^triton_tem_\w*grouped_mm/,
    source: inductor,
  },
  {
    id: 'inductor-template-batched',
    family: 'gemm',
    variant: 'batched',
    pattern: /^triton_(?:tem_\w*b(?:add)?bmm|tem_\w*_bmm|bmm)/,
    source: inductor,
  },
  {
    id: 'inductor-template',
    family: 'gemm',
    variant: 'dense',
    pattern: /^triton_(?:tem_|mm_)/,
    source: `${inductor}, matrix templates`,
  },
  {
    id: 'inductor-norm',
    family: 'norm',
    // Operators stand in alphabetical order: RMS and layer norms written out give mean … pow … rsqrt.
    pattern:
      /^triton_(?:red|per|mix)_\w*(?:layer_norm|rms_norm|group_norm|batch_norm|mean_(?:\w+_)?pow_(?:\w+_)?r?sqrt)/,
    source: inductor,
  },
  {
    id: 'inductor-argmax',
    family: 'sampling',
    variant: 'argmax',
    pattern: /^triton_(?:red|per)_\w*argmax/,
    source: inductor,
  },
  {
    id: 'inductor-softmax',
    family: 'reduce',
    variant: 'softmax',
    pattern: /^triton_(?:red|per)_\w*softmax/,
    source: inductor,
  },
  { id: 'inductor-reduction', family: 'reduce', pattern: /^triton_(?:red|per|spl|mix)_/, source: inductor },
  {
    id: 'inductor-copy',
    family: 'elementwise',
    variant: 'copy',
    pattern:
      /^triton_poi_fused_+(?:(?:to_copy|clone|copy|cat|stack|view|unsafe_view|permute|transpose)_+)+\d+$/,
    source: inductor,
  },
  { id: 'inductor-pointwise', family: 'elementwise', pattern: /^triton_(?:poi|for)_/, source: inductor },
  {
    id: 'inductor-unnamed',
    family: 'other',
    variant: 'inductor',
    // `triton__0d1d2de`: Inductor of 2023, arguments only.
    pattern: /^triton_(?:_\d|$)/,
    source: `${inductor}, before kernels were named`,
  },
  {
    id: 'nvfuser-pointwise',
    family: 'elementwise',
    pattern: /nvfuser_(?:pointwise|transpose|resize|no_op)/,
    source: nvfuser,
  },
  { id: 'nvfuser-matmul', family: 'gemm', variant: 'dense', pattern: /nvfuser_matmul/, source: nvfuser },
  {
    id: 'nvfuser-reduction',
    family: 'reduce',
    pattern: /nvfuser_\w*(?:reduction|persistent)/,
    source: nvfuser,
  },
  {
    id: 'xla-index',
    family: 'sort-and-index',
    pattern: /^(?:loop|input|wrapped)_\w*(?:gather|scatter|sort)\w*(?:_fusion)?(?:_\d+)?$/,
    source: xla,
  },
  {
    id: 'xla-reduction',
    family: 'reduce',
    pattern: /^(?:input|loop|wrapped)_\w*reduce\w*(?:_fusion)?(?:_\d+)?$/,
    source: xla,
  },
  {
    id: 'xla-copy',
    family: 'elementwise',
    variant: 'copy',
    pattern:
      /^(?:loop|input|wrapped)_(?:(?:transpose|copy|convert|concatenate|slice|pad|bitcast|broadcast|dynamic_update_slice|dynamic_slice)_?)+(?:fusion)?(?:_\d+)?$/,
    source: xla,
  },
  {
    id: 'xla-loop',
    family: 'elementwise',
    pattern: /^(?:loop|wrapped)_\w+$/,
    source: xla,
  },
];
