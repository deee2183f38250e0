/**
 * What names say about number type, tile, architecture and library, as patterns in the order they are asked. A value
 * may use `$1`. A name that tells nothing gets nothing: no value here is a guess from habit.
 */
export interface AttributePattern {
  /** Text, with `$1` for the first group, or a function of the match; undefined passes on to the next pattern. */
  readonly value: string | ((match: RegExpExecArray) => string | undefined);
  readonly pattern: RegExp;
}

const wordTypes: Readonly<Record<string, string>> = {
  bf16: 'bf16',
  bfloat16: 'bf16',
  bfloat: 'bf16',
  nv_bfloat16: 'bf16',
  hip_bfloat16: 'bf16',
  fp16: 'fp16',
  f16: 'fp16',
  half: 'fp16',
  fp32: 'fp32',
  f32: 'fp32',
  float: 'fp32',
  tf32: 'tf32',
  tfloat32: 'tf32',
  fp64: 'fp64',
  f64: 'fp64',
  double: 'fp64',
  fp8: 'fp8',
  f8: 'fp8',
  e4m3: 'fp8',
  e5m2: 'fp8',
  float8_e4m3fn: 'fp8',
  float8_e4m3fnuz: 'fp8',
  float8_e5m2: 'fp8',
  fp4: 'fp4',
  e2m1: 'nvfp4',
  mxe2m1: 'mxfp4',
  mxe4m3: 'mxfp8',
  mxfp4: 'mxfp4',
  mxfp8: 'mxfp8',
  nvfp4: 'nvfp4',
  int8: 'int8',
  i8: 'int8',
  s8: 'int8',
  int4: 'int4',
  i4: 'int4',
  int: 'int32',
  long: 'int64',
  bool: 'bool',
};
export const typeOf = (word: string): string | undefined =>
  wordTypes[word.toLowerCase().replace(/^_+/, '').replace(/_t$/, '')];

const widths: Readonly<Record<string, number>> = {
  fp4: 4,
  nvfp4: 4,
  mxfp4: 4,
  int4: 4,
  fp8: 8,
  mxfp8: 8,
  int8: 8,
};
/** Of the two operands the narrower: it decides which units run and how many bytes of weights move. */
const narrower = (a: string | undefined, b: string | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : (widths[b] ?? 16) < (widths[a] ?? 16) ? b : a;

const firstType = (match: RegExpExecArray) => typeOf(match[1]);

/** Tried on the function name. */
export const nameTypes: readonly AttributePattern[] = [
  // Names whose type words are no types: collectives that move bytes, and words for any 16-bit float.
  { pattern: /^nccl\w*(?:SendRecv|Broadcast|AllGather)/, value: () => undefined },
  { pattern: /^cudnn_generated_\w*sdpa\w*_f16_|^batched_transpose_\d\w*_half$/, value: () => undefined },
  { pattern: /^nccl\w*_(float|half|double)$/, value: firstType },
  // cuBLAS nvjet: operand types, compute type, result type. Scale vectors tell the 4- and 8-bit formats apart.
  { pattern: /^nvjet_\w*?_?oo[a-z]{3}_\w*vec16UE4M3/, value: 'nvfp4' },
  { pattern: /^nvjet_\w*?_?oo[a-z]{3}_\w*vec32UE8M0/, value: 'mxfp4' },
  { pattern: /^nvjet_\w*?_?qq[a-z]{3}_\w*vec32UE8M0/, value: 'mxfp8' },
  { pattern: /^nvjet_(?:sm\d+_)?oo[a-z]{3}_/, value: 'fp4' },
  { pattern: /^nvjet_(?:sm\d+_)?qq[a-z]{3}_/, value: 'fp8' },
  { pattern: /^nvjet_(?:sm\d+_)?ts[st]_/, value: 'bf16' },
  { pattern: /^nvjet_(?:sm\d+_)?hs[sh]_/, value: 'fp16' },
  { pattern: /^nvjet_/, value: () => undefined },
  // trtllm-gen: result_operandOperand_accumulator.
  {
    pattern:
      /^(?:bmm|gemm)_[A-Za-z0-9]+_((?:Mx)?(?:E\dm\d|Bfloat16|Fp16))((?:Mx)?(?:E\dm\d|Bfloat16|Fp16))?_Fp32/,
    value: match => narrower(typeOf(match[1]), typeOf(match[2] ?? '')),
  },
  {
    pattern: /^fmha\w*?_Q(?:kv)?(E4m3|Bfloat16|Fp16|E2m1)(?:Kv(E4m3|Bfloat16|Fp16|E2m1))?/,
    value: match => narrower(typeOf(match[1]), typeOf(match[2] ?? '')),
  },
  // cuBLAS and cuDNN xmma: `tf32f32_tf32f32_f32`, `e4m3bf16_e4m3f32_f32`.
  { pattern: /xmma_\w*?_(bf16|tf32|f16|f32|f64|e4m3|e5m2|i8)(?:bf16|f16|f32|f64|i32|i8)_/, value: firstType },
  // Tensile problem type: operands, result, compute.
  { pattern: /^Cijk_A\w+?_B\w+?_(?:F8|B8)\w*?_/, value: 'fp8' },
  { pattern: /^Cijk_A\w+?_B\w+?_I8\w*?_/, value: 'int8' },
  { pattern: /^Cijk_A\w+?_B\w+?_B[BS]?S?_/, value: 'bf16' },
  { pattern: /^Cijk_A\w+?_B\w+?_H[HSB]*_/, value: 'fp16' },
  { pattern: /^Cijk_A\w+?_B\w+?_SB?_/, value: 'fp32' },
  { pattern: /^Cijk_A\w+?_B\w+?_DB?_/, value: 'fp64' },
  { pattern: /^Cijk_/, value: () => undefined },
  // triton_kernels: `bf16xbf16xmxfp4` is result, activations, weights.
  {
    pattern: /matmul_ogs_[A-Z]+_(\w+?)x((?:bf|fp|mxfp)\d+\w*?)x((?:bf|fp|mxfp)\d+\w*?)_\d/,
    value: match => narrower(typeOf(match[2]), typeOf(match[3])),
  },
  // A type written as a word of the name; narrow ones first, because a name that says fp8 means it.
  {
    pattern: /(?:^|[_:])(nvfp4|mxfp4|mxfp8|e2m1|fp4|fp8|f8|e4m3|e5m2|int8|int4)(?=$|[_:\dA-Z])/i,
    value: firstType,
  },
  { pattern: /(?:^|[_:])w4a16/i, value: 'int4' },
  { pattern: /(?:^|[_:])(bf16|fp16|f16|half|tf32|fp64|f64|fp32|f32)(?=$|[_:])/i, value: firstType },
  // cuBLAS letters: sgemm, hgemm, dgemm, and the shape of the instruction where operands are not named.
  { pattern: /(?:^|_)h\d*gemm|_h(?:884|1688|16816)|hcudnn/, value: 'fp16' },
  { pattern: /(?:^|_)dgemm/, value: 'fp64' },
  { pattern: /(?:^|_)i(?:8816|16832|mma)gemm|_i8816/, value: 'int8' },
  { pattern: /cutlass_80_tensorop_s1688(?:gemm|fprop|dgrad|wgrad)/, value: 'tf32' },
  { pattern: /(?:^|_)sgemm|scudnn/, value: 'fp32' },
];

const spelled =
  '(?:__)?(?:nv_|hip_)?bfloat16(?:_t)?|__bfloat|bf16|__half|half(?:_t)?|tfloat32_t|float_?(?:e4m3|e5m2|e2m1)\\w*|float8_e\\w+|__nv_fp8_e\\w+|fp8_e\\w+|int8_t|double|float';

/** Tried on the template text, then on the parameters: the first type spelled out. */
export const spelledTypes: readonly AttributePattern[] = [
  {
    pattern: new RegExp(`(?:^|[^\\w])(${spelled})(?![\\w])`, 'i'),
    value: match => (/e4m3|e5m2/.test(match[1]) ? 'fp8' : /e2m1/.test(match[1]) ? 'fp4' : typeOf(match[1])),
  },
  { pattern: /Functor\w*<(?:c10::)?(int|long|bool)>/, value: firstType },
];

const tile = (match: RegExpExecArray) => `${match[1]}x${match[2]}`;

/** Tried on the function name, or for carriers on what they carry. Rows by columns of one block of the result. */
export const tiles: readonly AttributePattern[] = [
  { pattern: /^nvjet_\w*?_(\d+)x(\d+)_/, value: tile },
  { pattern: /tilesize(\d+)x(\d+)/, value: tile },
  { pattern: /_MT(\d+)x(\d+)/, value: tile },
  { pattern: /^(?:bmm|gemm)_\w*?_t(\d+)x(\d+)x\d+/, value: tile },
  { pattern: /^igemm_\w*?_bt(\d+)x(\d+)/, value: tile },
  { pattern: /_knob_\d+_(\d+)x(\d+)x/, value: tile },
  { pattern: /^fmhaSm\w*Q(\d+)Kv(\d+)/, value: tile },
  { pattern: /_matmul_ogs_\w*?_(\d+)x(\d+)x\d+/, value: tile },
  { pattern: /Flash_fwd_kernel_traits<\d+, (\d+), (\d+)/, value: tile },
  { pattern: /(?:gemm|cudnn|fprop|dgrad|wgrad|fmha)\w*?_(\d{2,3})x(\d{1,3})(?=_|$|<|\()/, value: tile },
  { pattern: /GemmShape(?:<| )(\d+)(?:, | )(\d+)/, value: tile },
  {
    // CUTLASS 3 writes cluster and tile alike; clusters are small.
    pattern:
      /tuple<cute::C<(?:\(int\))?(\d{2,3})>, cute::C<(?:\(int\))?(\d{1,3})>, cute::C<(?:\(int\))?\d{2,3}>\s*>/,
    value: tile,
  },
];

const smNumber = '([5-9]\\d|1[0-2]\\d)';

export const architectures: readonly AttributePattern[] = [
  { pattern: new RegExp(`(?:^|[^A-Za-z])sm_?${smNumber}(?!\\d)`), value: 'sm$1' },
  { pattern: new RegExp(`(?:Sm|SM)${smNumber}(?!\\d)`), value: 'sm$1' },
  { pattern: /cutlass_([5-9]\d)_/, value: 'sm$1' },
  { pattern: /(?:^|_)maxwell_/, value: 'sm50' },
  { pattern: /(?:^|_)volta_/, value: 'sm70' },
  { pattern: /(?:^|_)turing_/, value: 'sm75' },
  { pattern: /(?:^|_)ampere_/, value: 'sm80' },
  { pattern: /(?:^|_)hopper_|::hopper::/, value: 'sm90' },
  { pattern: /(gfx\d[0-9a-f]{2,3})/, value: '$1' },
  { pattern: /_ISA(9[04][0-9a]|95\d|1[0-2]\d\d)/, value: 'gfx$1' },
  { pattern: /target_arch\)(\d{3,4})/, value: 'gfx$1' },
];

/** Tried on the function name, and for carriers on what they carry: who built the kernel, most specific first. */
export const libraries: readonly AttributePattern[] = [
  { pattern: /^triton_(?:poi|red|per|tem|for|spl|mix)_|^triton__\d/, value: 'Inductor' },
  { pattern: /^nvfuser_/, value: 'nvFuser' },
  { pattern: /^ncclDevKernel_Generic_\d|rccl/, value: 'RCCL' },
  { pattern: /^nccl/, value: 'NCCL' },
  { pattern: /nvshmem/i, value: 'NVSHMEM' },
  { pattern: /^deep_ep::/, value: 'DeepEP' },
  { pattern: /^deep_gemm::/, value: 'DeepGEMM' },
  { pattern: /^flashinfer::|^kernel_cutlass_kernel_flashinfer/, value: 'FlashInfer' },
  { pattern: /tensorrt_llm::|^fmhaSm\d|^bmm_[A-Z]|moe::dev::|^fmha_v2_/, value: 'TensorRT-LLM' },
  { pattern: /(?:^|_)flash::|FlashAttnFwd|^flash_fwd_/, value: 'FlashAttention' },
  { pattern: /^vllm::/, value: 'vLLM' },
  { pattern: /^sgl_kernel|^sglang|^sgl_hip/, value: 'SGLang' },
  { pattern: /^aiter::/, value: 'aiter' },
  { pattern: /^ck_tile::|^ck::/, value: 'CK' },
  { pattern: /^Cijk_/, value: 'Tensile' },
  { pattern: /^igemm_(?:fwd|bwd|wrw)_gtc|MIOpen|^batched_transpose_\d|^SubTensorOp/, value: 'MIOpen' },
  { pattern: /rocprim::/, value: 'rocPRIM' },
  { pattern: /cudnn/i, value: 'cuDNN' },
  {
    pattern:
      /^nvjet_|cublas|^(?:maxwell|volta|turing|ampere|hopper)_\w*gemm|^(?:splitKreduce_kernel|gemv\w+_kernel|gemmSN_|gemmk1_|dot_kernel|reduce_1Block_kernel|scal_kernel)|^internal::gemvx|^cutlass_[5-9]\d_(?:wmma_)?(?:tensorop|simt)|^epilogue::impl/,
    value: 'cuBLAS',
  },
  { pattern: /^transformer_engine::/, value: 'TransformerEngine' },
  { pattern: /^fbgemm/, value: 'FBGEMM' },
  { pattern: /^(?:at_cuda_detail::)?cub::/, value: 'CUB' },
  { pattern: /^thrust::/, value: 'Thrust' },
  { pattern: /^at::/, value: 'PyTorch' },
  { pattern: /cutlass/i, value: 'CUTLASS' },
  { pattern: /^_(?:p_)?matmul_ogs_|^triton_|^_fwd_kernel|^_attn_fwd/, value: 'Triton' },
];
