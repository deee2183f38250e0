/** How native functions on recorded call stacks are named: operators by their own name, plumbing left out. */
import type { HostName } from './host-names.js';
import { parseFunctionName } from './kernels/function-name.js';

/** Functions that only pass a call on, or that every stack has. */
const PLUMBING =
  /^(_start|_?_?libc_start\w*|start_thread|(__GI_)?_*clone3?|_dl_\w+|__pthread_once_slow|_*Py(?!Thread_acquire_lock)\w*|pymain\w*|(method|cfunction|object|function|builtin|vectorcall|slot|type|wrap|partial|gen|list|tuple|dict)_\w+|cudart::\w*|__cudart\w*|libcudart_static\w*|NSYS_\w+|c10::(impl|detail|Dispatcher|KernelFunction|BoxedKernel)\b.*|c10::(function_ref|FunctionRef)\b.*|at::(redispatch|functorch|cuda::impl)\b.*|at::.*::wrapper\w*|torch::(autograd|ADInplaceOrView|utils|jit::invoke)\b.*|pybind11::.*|std::.*|operator\(\))$/;
/** `at::_ops::mm::call`: the operator, as PyTorch names it elsewhere. */
const OPERATOR =
  /^at::_ops::(\w+?)(?:_[a-z_]*(?:out|Tensor|Scalar|int|dim|default)\w*)?::(?:call|redispatch)$/;
/** `THPVariable_item`: a method of tensors in Python. */
const TENSOR_METHOD = /^(?:torch::autograd::)?THPVariable_(\w+)$/;
/** CUDA calls and what is below them: the call is an event of its own. */
const CUDA = /^(cuda|cu|hip)[A-Z]\w+$/;
const ADDRESS = /^0x[0-9a-f]+$/i;

/** A native function; undefined: its time is its caller's. */
export function nameOfNative(text: string): HostName | undefined {
  const { qualified } = parseFunctionName(text);
  const operator = OPERATOR.exec(qualified)?.[1];
  if (operator !== undefined) return { text: `aten::${operator}`, kind: 'operator' };
  const method = TENSOR_METHOD.exec(qualified)?.[1];
  if (method !== undefined) return { text: `Tensor.${method}`, kind: 'function', isBuiltIn: true };
  if (qualified === '' || PLUMBING.test(qualified) || CUDA.test(qualified)) return undefined;
  return { text: qualified, kind: 'native' };
}

/** Code of the operating system; without symbols there is only the fact. */
export const nameOfKernelCode = (text: string): HostName =>
  ADDRESS.test(text) ? { text: 'operating system', kind: 'native', isVague: true } : { text, kind: 'native' };

/** A function that could not be named: the library says little. */
export const nameOfLibrary = (module: string): HostName => ({
  text: module.slice(module.lastIndexOf('/') + 1),
  kind: 'native',
  isVague: true,
});
