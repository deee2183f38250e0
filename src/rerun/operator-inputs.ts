/** Inputs of an operator as the profiler recorded them, one per argument: what a script needs to make them again. */

/** A tensor, a list of tensors, a scalar or list of them as Python writes it, or something whose value was not recorded. */
export type OperatorInput =
  | ({ readonly kind: 'tensor' } & TensorShape)
  | { readonly kind: 'tensors'; readonly tensors: readonly TensorShape[] }
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'other'; readonly type: string };

interface TensorShape {
  readonly shape: readonly number[];
  /** In elements; null: as torch would lay it out. */
  readonly strides: readonly number[] | null;
  readonly type: string;
}

/** The JSON texts of a trace; empty where not recorded. */
export interface RecordedInputs {
  readonly shapes: string;
  readonly types: string;
  readonly strides: string;
  readonly values: string;
}

/** What torch calls the types that the PyTorch profiler writes as C++ does. */
const torchTypes: Readonly<Record<string, string>> = {
  ...{ 'c10::BFloat16': 'bfloat16', 'c10::Half': 'float16', float: 'float32', double: 'float64' },
  ...{ int: 'int32', 'long int': 'int64', long: 'int64', int64_t: 'int64', 'long long': 'int64' },
  ...{ bool: 'bool', 'unsigned char': 'uint8', 'signed char': 'int8', 'short int': 'int16', short: 'int16' },
  ...{ 'c10::Float8_e4m3fn': 'float8_e4m3fn', 'c10::Float8_e5m2': 'float8_e5m2' },
  ...{ 'c10::complex<float>': 'complex64' },
};

/** Numbers, True, False, None and lists of them: nothing that does more than stand for itself. */
const PLAIN = /^(?:True|False|None|-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|\[[-\d., eTrueFals]*\])$/;

/** Undefined where shapes or types were not recorded, or do not fit together. */
export function operatorInputs(recorded: RecordedInputs): readonly OperatorInput[] | undefined {
  const [dims, types] = [listOf(recorded.shapes), listOf(recorded.types)];
  if (!dims || !types || dims.length > types.length) return undefined;
  const strides = listOf(recorded.strides) ?? [];
  const values = listOf(recorded.values) ?? [];
  const isEmpty = types.length === 0;
  const inputs = types.map((name, i): OperatorInput | undefined => {
    const shape = dims[i] ?? [];
    if (name === 'TensorList') {
      const shapes = Array.isArray(shape) ? shape : [];
      if (!shapes.every(isShape)) return undefined;
      const own = Array.isArray(strides[i]) ? (strides[i] as unknown[]) : [];
      // The type of a list's tensors is not recorded.
      return {
        kind: 'tensors',
        tensors: shapes.map((each, t) => tensor(each, own[t], 'bfloat16')),
      };
    }
    const type = torchTypes[String(name)];
    if (type !== undefined && isShape(shape)) return { kind: 'tensor', ...tensor(shape, strides[i], type) };
    const value = String(values[i] ?? '');
    return PLAIN.test(value) ? { kind: 'value', text: value } : { kind: 'other', type: String(name) };
  });
  return !isEmpty && inputs.every(input => input !== undefined) ? inputs : undefined;
}

const tensor = (shape: readonly number[], strides: unknown, type: string): TensorShape => ({
  shape,
  strides: isShape(strides) && strides.length === shape.length ? strides : null,
  type,
});

const isShape = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every(size => Number.isSafeInteger(size) && size >= 0);

function listOf(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
