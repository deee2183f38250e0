/**
 * What frameworks run for everything that has no kernel of its own. PyTorch's elementwise and reduce kernels, CUB and
 * rocPRIM are carriers: the functor in the template text says what they do. Asked last.
 */
import type { KernelRule } from './rule.js';

const pytorchElementwise = /(?:^|::|_)elementwise_kernel(?:_\w+)?$/;
const pytorch = 'PyTorch aten/src/ATen/native/cuda';
const deviceLibrary = /(?:^|::)(?:cub|thrust|rocprim|hipcub)::/;
const libraries = 'NVIDIA CUB and Thrust; ROCm rocPRIM';

export const genericRules: readonly KernelRule[] = [
  {
    id: 'pytorch-index',
    family: 'sort-and-index',
    pattern:
      /index_elementwise_kernel|scatter_gather|index_?(?:Select|Func|put|copy|add|fill)|vectorized_gather|(?:^|[_:])(?:gather|scatter)(?:_|$|[A-Z])/,
    source: `${pytorch}: Indexing.cu, IndexKernel.cu, ScatterGatherKernel.cu`,
  },
  {
    id: 'pytorch-activation',
    family: 'activation',
    pattern: pytorchElementwise,
    templatePattern:
      /(?:silu|Gelu\w*|gelu|elu|leaky_relu|hardswish|mish|softplus|log_sigmoid|glu|threshold)(?:_backward)?_?(?:kernel|CUDAKernel)/,
    source: `${pytorch}: Activation*.cu`,
  },
  {
    id: 'pytorch-fill',
    family: 'elementwise',
    variant: 'fill',
    pattern: pytorchElementwise,
    templatePattern: /FillFunctor|(?<!masked_)fill_kernel|arange|(?:linspace|range)_cuda/,
    source: `${pytorch}: FillKernel.cu, RangeFactories.cu`,
  },
  {
    id: 'pytorch-copy',
    family: 'elementwise',
    variant: 'copy',
    pattern: pytorchElementwise,
    templatePattern: /copy_kernel|copy_device_to_device/,
    source: `${pytorch}: Copy.cu`,
  },
  {
    id: 'pytorch-elementwise',
    family: 'elementwise',
    pattern: pytorchElementwise,
    source: `${pytorch}: CUDALoops.cuh`,
  },
  {
    id: 'pytorch-argmax',
    family: 'sampling',
    variant: 'argmax',
    pattern: /(?:^|::)reduce_kernel$|::Device\w*Reduce\w*Kernel$/,
    templatePattern: /ArgMax/,
    source: `${pytorch}: ReduceArgMaxKernel.cu; CUB ArgMax`,
  },
  {
    id: 'pytorch-exponential',
    family: 'sampling',
    pattern: /distribution_elementwise_grid_stride_kernel$/,
    templatePattern: /exponential/,
    source: `${pytorch}: DistributionExponentialKernel.cu, the noise of multinomial sampling`,
  },
  {
    id: 'multi-tensor-copy',
    family: 'elementwise',
    variant: 'copy',
    pattern: /multi_tensor_apply/,
    templatePattern: /Copy/,
    source: `${pytorch}: ForeachUnaryOp.cu`,
  },
  {
    id: 'cat-and-transpose',
    family: 'elementwise',
    variant: 'copy',
    pattern:
      /CatArrayBatchedCopy|(?:^|[_:])transpose_?(?:kernel|\d|$)|split_with_sizes|chunk_cat|recat_copy|cpy_f(?:16|32)|concat_|[Cc]oncatM(?:LA|la)/,
    source: `${pytorch}: Shape.cu; fbgemm; SGLang and vLLM concat_mla; llama.cpp`,
  },
  {
    id: 'library-reduce',
    family: 'reduce',
    pattern: /(?:cub|hipcub)::.*(?:SegmentedReduce|DeviceReduce(?!ByKey))\w*$/,
    source: libraries,
  },
  {
    id: 'library-elementwise',
    family: 'elementwise',
    pattern: deviceLibrary,
    templatePattern: /__parallel_for|__transform|for_each|transform_impl|transform_kernel|__uninitialized/,
    source: libraries,
  },
  {
    id: 'library-transform',
    family: 'elementwise',
    pattern: /(?:^|::)cub::.*(?:transform|for_each|::for_)/,
    source: libraries,
  },
  {
    id: 'rocprim-reduce',
    family: 'reduce',
    pattern: /(?:^|::)rocprim::/,
    templatePattern: /detail::(?:segmented_)?reduce_impl|wrapped_reduce_config/,
    source: libraries,
  },
  {
    id: 'library-sort-and-scan',
    family: 'sort-and-index',
    pattern: /(?:^|::)(?:rocprim|hipcub|cub|thrust)::/,
    source: `${libraries}: radix sort, scan, select, run lengths, histograms`,
  },
  {
    id: 'softmax',
    family: 'reduce',
    variant: 'softmax',
    pattern: /soft_?max/i,
    source: `${pytorch}: SoftMax.cu, PersistentSoftmax.cuh`,
  },
  {
    id: 'sort-and-index',
    family: 'sort-and-index',
    pattern:
      /(?:^|[_:])top_?k|gatherTopK|sort(?:KV|_|$|ed|[A-Z])|bitonic|radix|searchsorted|histogram|nonzero|(?:^|[_:])(?:cumsum|cumprod|prefix_?sum|scan)|inclusive_scan|tensor_kernel_scan|unique|write_indices|indices_kernel|repeat_interleave|(?:^|::)compute_cuda_kernel|get_rows|take_|position_kernel|resolve_future|token_ids|offsets_range|permute_(?:1D|2D|indices)|to_dense_representation|(?:^|[_:])indices_|seq_?(?:lens?|offsets?)|prepare_\w*inputs?|_post_update_kernel|_apply_write_kernel/i,
    source: `${pytorch}: Sorting.cu, TensorTopK.cu, ScanKernels.cu; SGLang and vLLM step inputs; fbgemm sparse ops`,
  },
  {
    id: 'reduce',
    family: 'reduce',
    pattern:
      /(?:^|[_:])reduce_?(?:kernel|1Block|sum|max|mean)|nll_?loss|ClassNLL|cross_entropy|(?:max|avg|average)_?pool|(?:^|[_:])dot_kernel|(?:^|_)(?:sum|mean|max|min)_(?:kernel|rows)|_loss_|l1_norm|bincount|k_sum/i,
    source: `${pytorch}: Reduce.cuh, Loss.cu, pooling; cuBLAS dot`,
  },
  {
    id: 'elementwise-fill',
    family: 'elementwise',
    variant: 'fill',
    pattern: /(?:^|[_:])(?:fill|zero|memset|init)_?(?:kernel|buffer|tensor)|(?:^|[_:])arange/i,
    source: 'engines at large',
  },
  {
    id: 'elementwise-copy',
    family: 'elementwise',
    variant: 'copy',
    pattern: /(?:^|[_:])(?:copy|cast|clone|convert|pad|unpad|cpy)_?(?:\w+_)?kernel|direct_copy/i,
    source: 'engines at large',
  },
  {
    id: 'elementwise',
    family: 'elementwise',
    pattern:
      /element_?wise|point_?wise|multi_tensor_apply|dropout|upsample|distribution_|add_?bias|bias_?(?:add|rescale)|(?:^|[_:])(?:add|sub|mul|div|scale|scal|clamp|where|residual|axpy|exp|sigmoid|tanh|masked?_fill)\w*_?kernel|k_bin_bcast|SubTensorOp|OpTensor|scalePackedTensor|epilogue::impl::globalKernel|triu_tril|elementwise_add/i,
    source: `${pytorch}; cuDNN, cuBLASLt and MIOpen helpers; TensorRT-LLM; llama.cpp`,
  },
];
