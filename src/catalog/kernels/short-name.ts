/**
 * A kernel's name for a table column: at most sixty characters, the same for the same name. Namespaces and template
 * arguments go, except where the function is a carrier and its argument is the real name.
 */
import type { KernelAttributes } from './attributes.js';
import type { FunctionName } from './function-name.js';

export const shortNameLimit = 60;

export function shortNameOf(parsed: FunctionName, attributes: KernelAttributes): string {
  const name =
    pytorchName(parsed, attributes) ?? generatedName(parsed.qualified) ?? carriedName(parsed, attributes);
  return cutMiddle(name ?? plainName(parsed));
}

function cutMiddle(text: string, limit = shortNameLimit): string {
  if (text.length <= limit) return text;
  // Ends tell more than middles: a counter, a layout, an architecture.
  const tail = Math.floor((limit - 1) * 0.4);
  return `${text.slice(0, limit - 1 - tail)}…${text.slice(-tail)}`;
}

const carriers: readonly (readonly [RegExp, string])[] = [
  [/vectorized_elementwise_kernel/, 'vectorized'],
  [/unrolled_elementwise_kernel/, 'unrolled'],
  [/index_elementwise_kernel/, 'index'],
  [/_scatter_gather_elementwise_kernel/, 'scatter-gather'],
  [/distribution_elementwise_grid_stride_kernel/, 'random'],
  [/elementwise_kernel_with_index/, 'with index'],
  [/elementwise_kernel/, 'strided'],
  [/multi_tensor_apply_kernel/, 'multi-tensor'],
  [/^at::native::reduce_kernel$/, 'reduce'],
];
/** Wrappers around the operation that is meant. */
const wrappers =
  /^(?:Binary|[AB]Unary|Unary|Opaque\w*)Functor$|^gpu_(?:kernel|index)|^gpu_kernel_impl|^(?:Unary|Binary|Ternary|Pointwise)Op\w*Functor$|^distribution_|^elementwise|^OpaqueType|^_cuda_scatter_gather/;
const operation =
  /\b(CUDAFunctor(?:On\w+?)?_(\w+?)|(\w+?)Functor|(\w+?)_(?:functor|kernel_cuda|kernel_impl|cuda_kernel|cuda_out|kernel)|(\w+?)CUDAKernelImpl|(\w+?)Ops|((?:launch_)\w+)|(\w+)_device_to_device|(\w+)_and_transform|(batch_norm\w+))(?=[<(,>: ]|$)/g;

function pytorchName({ qualified, templateText }: FunctionName, { dtype }: KernelAttributes) {
  const carrier = carriers.find(([pattern]) => pattern.test(qualified))?.[1];
  if (!carrier || templateText === '') return undefined;
  for (const match of templateText.matchAll(operation)) {
    if (wrappers.test(match[1])) continue;
    const words = (match.slice(2).find(group => group !== undefined) ?? match[1])
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replace(/^(?:direct|launch)_/, '')
      .replace(/_/g, ' ');
    return dtype ? `${words} (${carrier}, ${dtype.value})` : `${words} (${carrier})`;
  }
  return undefined;
}

/** Names that encode a configuration in underscores: keep what distinguishes them. */
function generatedName(qualified: string): string | undefined {
  let match = /^Cijk_(A\w+?_B\w+?)_([A-Z0-9]+?)_.*?_MT(\d+x\d+x\d+)/.exec(qualified);
  if (match) return `Cijk_${match[1]}_${match[2]} MT${match[3]}`;
  match = /^(bmm|gemm)_([A-Za-z0-9]+_[A-Za-z0-9]+)_Fp32\w*?_t(\d+x\d+x\d+)/.exec(qualified);
  if (match) return `${match[1]}_${match[2]} t${match[3]}${/swiGlu/i.test(qualified) ? ' swiGlu' : ''}`;
  match =
    /^(fmhaSm\d+[a-z]?)Kernel_(Q\w+?)O(?:[A-Z]\w*?)(H(?:Qk)?\d+\w*?)(Paged|Packed|Contiguous|Separate)/.exec(
      qualified,
    );
  if (match) {
    const phase = /ForGen/.test(qualified) ? ' decode' : /Context/.test(qualified) ? ' prefill' : '';
    const window = /SlidingOrChunked/.test(qualified) ? ' sliding' : '';
    return `${match[1]} ${match[2]} ${match[3]}${window}${phase}`;
  }
  match = /^(sm\d+_xmma_[a-z]+(?:_implicit_gemm)?)_\w*?([a-z0-9]+f?\d+)_\w*?tilesize(\d+x\d+x\d+)/.exec(
    qualified,
  );
  if (match) return `${match[1]} ${match[2]} ${match[3]}`;
  // CuTe DSL: `kernel_cutlass_kernel_…RMSNormKernel_object_at__…`.
  match = /^kernel_cutlass_.*?([A-Z][A-Za-z0-9]*)_object_at/.exec(qualified);
  return match?.[1];
}

const carrierBases =
  /^(?:Kernel2?|device_kernel|kentry|trampoline_kernel|_kernel_agent|static_kernel|kernel|globalKernel)$/;
/** Parts of a carrier's argument that say nothing: wrappers and namespaces. */
const scaffolding =
  /^(?:void|enable_\w+|GemmUniversal|wrapped_\w+|default_config\w*|target_arch|cutlass\w*|ck_tile|at|cuda|cute|detail|kernel|gemm|flash|std|rocprim|ROCPRIM_\w+|\d+|int|bool|unsigned|float|double|threadblock|conv|collective|reduction|cudnn|\w+_cudnn|\w+_cudnn_\w+|cutlass_\w+)$/;

function carriedName({ qualified, base, templateText }: FunctionName, attributes: KernelAttributes) {
  if (!carrierBases.test(base) || templateText === '') return undefined;
  const { dtype, tile, arch } = attributes;
  const named = /cutlass\w*_\w*(?:tensorop|simt)_\w+/.exec(templateText.slice(0, 300))?.[0];
  if (named) return named;
  const suffix = [dtype?.value, tile?.value, arch?.value].filter(Boolean).join(' ');
  if (/GroupProblemShape|GemmGrouped|PtrArray/.test(templateText))
    return `CUTLASS grouped GEMM ${suffix}`.trim();
  let word = base === 'trampoline_kernel' ? /(\w+_impl)\b/.exec(templateText)?.[1] : undefined;
  for (const [part] of templateText.slice(0, 2_000).matchAll(/\w+/g)) {
    if (word) break;
    if (!scaffolding.test(part)) word = part;
  }
  if (!word) return undefined;
  const owner = qualified.split('::').slice(-2, -1)[0];
  const prefix = /^(?:Kernel2?|device_kernel|kentry|trampoline_kernel)$/.test(base)
    ? ''
    : `${owner ?? base}::`;
  return `${prefix}${base === 'kernel' || base === 'globalKernel' ? base : word} ${suffix}`.trim();
}

/** Short or common words keep the namespace that tells them apart. */
function plainName({ qualified, base }: FunctionName): string {
  if (base === '') return qualified || '(unnamed)';
  const parts = qualified.split('::');
  if (parts.length < 2) return base;
  const common =
    base.length <= 9 || /^(?:globalKernel|finalizeKernel\w*|permuteKernel|activationKernel)$/.test(base);
  return common ? parts.slice(-2).join('::') : base;
}
