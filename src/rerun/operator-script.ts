/** A small Python program that runs one operator with the recorded shapes, alone, and times it on the GPU. */
import { formatDuration, plural } from '../base/units.js';
import type { OperatorInput } from './operator-inputs.js';

interface RecordedOperator {
  /** With its namespace: aten::mm. */
  readonly operator: string;
  readonly inputs: readonly OperatorInput[];
  readonly count: number;
  /** Of the GPU work per call. */
  readonly gpuNs: number;
  readonly kernels: readonly string[];
  readonly file: string;
}

/** As torch registers them; nothing else is called by a script. */
export const CALLABLE = /^\w+::\w+(?:\.\w+)?$/;

/** A text as a literal of Python; JSON's is one, once no character is beyond ASCII. */
const literal = (text: string) =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** One line of a comment, whatever the name holds. */
const commented = (text: string) => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);

export function operatorScript({ operator, inputs, count, gpuNs, kernels, file }: RecordedOperator): string {
  return `#!/usr/bin/env python3
# ${commented(operator)} with the shapes of ${commented(file)}, written by stepscope repro.
# Recorded: ${plural(count, 'call')}, ${formatDuration(gpuNs)} of GPU work each.
${kernels.map(name => `#   ${commented(name)}`).join('\n')}
# Shapes, strides and scalars are as recorded. Values of tensors are not recorded: they are random, and indexes are small.
# Arguments that were not recorded are torch's defaults; the script says which have none.
import ast
import json
import statistics
import sys
import warnings

import torch

warnings.filterwarnings("ignore")

OPERATOR = ${literal(operator)}
INPUTS = json.loads(${literal(JSON.stringify(inputs))})
RECORDED_US = ${(gpuNs / 1000).toFixed(3)}
CALLS = 50
# c10::ScalarType
TYPES = dict(enumerate((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)))
TYPES |= {11: torch.bool, 15: torch.bfloat16, 23: torch.float8_e5m2, 24: torch.float8_e4m3fn}


def tensor(given):
    dtype, shape, strides = getattr(torch, given["type"]), given["shape"], given["strides"]
    made = contiguous(shape, dtype)
    if strides is None or tuple(strides) == made.stride():
        return made
    # As in the program: a view into something larger, transposed or expanded.
    size = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides)) if all(shape) else 1
    return contiguous([size], dtype).as_strided(shape, strides)


def contiguous(shape, dtype):
    if dtype.is_floating_point:
        made = torch.randn(shape, device="cuda", dtype=torch.float32 if dtype.itemsize == 1 else dtype)
        return made.to(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, device="cuda").bool()
    # Indexes and sizes: small, so that they point into whatever they point into.
    return torch.randint(0, 2, shape, device="cuda").to(dtype)


def overload():
    namespace, _, name = OPERATOR.partition("::")
    name, _, own = name.partition(".")
    packet = getattr(getattr(torch.ops, namespace), name)
    if own:
        return getattr(packet, own)
    fitting = [getattr(packet, each) for each in packet.overloads()]
    fitting = [each for each in fitting if len(each._schema.arguments) == len(INPUTS)] or fitting
    tensors = [i for i, given in enumerate(INPUTS) if given["kind"] in ("tensor", "tensors")]
    takes = lambda each: all("Tensor" in str(each._schema.arguments[i].type) for i in tensors)
    out = lambda each: any(argument.is_out for argument in each._schema.arguments)
    return sorted(fitting, key=lambda each: (not takes(each), out(each)))[0]


def typed(value, kind):
    # Types and devices are recorded as numbers, and torch takes no number for them.
    if kind in ("Optional[ScalarType]", "ScalarType"):
        return TYPES.get(value)
    if any(word in kind for word in ("Device", "Layout", "MemoryFormat", "Generator")):
        return None
    return value


def argument(given, declared):
    if given["kind"] == "tensor":
        return tensor(given)
    if given["kind"] == "tensors":
        return [tensor(each) for each in given["tensors"]]
    if given["kind"] == "value":
        return typed(ast.literal_eval(given["text"]), str(declared.type))
    if declared.has_default_value():
        return declared.default_value
    kind = str(declared.type)
    fallback = {"int": 1, "number": 1, "float": 1.0, "bool": False, "List[int]": [1]}.get(kind)
    print(f"not recorded: {declared.name} ({kind}), taken as {fallback!r}", file=sys.stderr)
    return fallback


def gpu_us(call, before=lambda: None):
    """Median over the calls of the sum of their kernels, without gaps: as Stepscope counts it."""
    activities = [torch.profiler.ProfilerActivity.CUDA]
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(CALLS):
        before()
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=activities) as profile:
            call()
            torch.cuda.synchronize()
        times.append(sum(e.device_time for e in profile.events() if e.device_type.name == "CUDA"))
    return statistics.median(times)


operator = overload()
declared = operator._schema.arguments
arguments = [argument(given, declared[i]) for i, given in enumerate(INPUTS[: len(declared)])]
positional = [value for value, own in zip(arguments, declared) if not own.kwarg_only]
named = {own.name: value for value, own in zip(arguments, declared) if own.kwarg_only}
call = lambda: operator(*positional, **named)
# Larger than any L2: weights of a model are not in the cache when their turn comes.
flush = torch.empty(512 * 2**20, device="cuda", dtype=torch.uint8)
cold = gpu_us(call, flush.zero_)
hot = gpu_us(call)
print(json.dumps({"operator": OPERATOR, "overload": str(operator), "recordedUs": RECORDED_US, "coldUs": round(cold, 3), "hotUs": round(hot, 3), "gpu": torch.cuda.get_device_name()}))
`;
}
