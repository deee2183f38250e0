/**
 * Operations and bytes of PyTorch operators by the shapes and types of their inputs, as the profiler records them
 * (`record_shapes`). Only where these alone decide: what depends on values (a causal mask, sizes of groups) is left out.
 */
import type { FlopsType } from './gpu-peaks.js';

interface OperatorCost {
  /** Multiplications and additions; undefined where shapes do not decide. */
  readonly flops?: number;
  /** Every input read once and every output written once, as far as they are known: a lower bound on memory traffic. */
  readonly bytes: number;
  /** False where the type of an output is not among the inputs, so that its bytes are not counted. */
  readonly countsOutput: boolean;
  /** The fastest rate that applies to these inputs. */
  readonly type: FlopsType;
}

type Shape = readonly number[];

/** PyTorch's names of element types: bytes, and the units that multiply them. */
const elementTypes: Readonly<Record<string, { readonly bytes: number; readonly type: FlopsType }>> = {
  'c10::BFloat16': { bytes: 2, type: 'bf16' },
  'c10::Half': { bytes: 2, type: 'fp16' },
  // A program may allow TF32 for float; a bound must not assume the slower units.
  float: { bytes: 4, type: 'tf32' },
  double: { bytes: 8, type: 'fp64' },
  'c10::Float8_e4m3fn': { bytes: 1, type: 'fp8' },
  'c10::Float8_e5m2': { bytes: 1, type: 'fp8' },
  'c10::Float8_e4m3fnuz': { bytes: 1, type: 'fp8' },
  'c10::Float8_e5m2fnuz': { bytes: 1, type: 'fp8' },
  'signed char': { bytes: 1, type: 'int8' },
};

const elements = (shape: Shape): number => shape.reduce((product, size) => product * size, 1);

interface Product {
  readonly flops?: number;
  /** Tensors read, by their place among the inputs. */
  readonly reads: readonly number[];
  /** Elements written. */
  readonly written: number;
}

type Formula = (shapes: readonly Shape[]) => Product | undefined;

/** Matrices that are multiplied stand at these places. */
function gemm(left: number, right: number, bias?: number): Formula {
  return shapes => {
    const [a, b] = [shapes[left], shapes[right]];
    if (a?.length !== 2 || b?.length !== 2 || a[1] !== b[0]) return undefined;
    const written = a[0] * b[1];
    return { flops: 2 * written * a[1], reads: reads(left, right, bias), written };
  };
}

function batchedGemm(left: number, right: number, bias?: number): Formula {
  return shapes => {
    const [a, b] = [shapes[left], shapes[right]];
    if (a?.length !== 3 || b?.length !== 3 || a[0] !== b[0] || a[2] !== b[1]) return undefined;
    const written = a[0] * a[1] * b[2];
    return { flops: 2 * written * a[2], reads: reads(left, right, bias), written };
  };
}

const reads = (left: number, right: number, bias?: number): number[] =>
  bias === undefined ? [left, right] : [left, right, bias];

/** The weight is stored transposed, and inputs may have any number of rows in front. */
const linear: Formula = shapes => {
  const [input, weight, bias] = shapes;
  if (!input || input.length === 0 || weight?.length !== 2 || input.at(-1) !== weight[1]) return undefined;
  const written = (elements(input) / weight[1]) * weight[0];
  const read = bias && bias.length > 0 ? [0, 1, 2] : [0, 1];
  return { flops: 2 * written * weight[1], reads: read, written };
};

/**
 * Inputs are batch × heads × tokens × size. With one query token a causal mask hides nothing; with more, the mask
 * decides how much is computed and is not recorded. The bytes do not depend on it.
 */
const attention: Formula = shapes => {
  const [query, key, value] = shapes;
  if (query?.length !== 4 || key?.length !== 4 || value?.length !== 4) return undefined;
  if (query[0] !== key[0] || query[3] !== key[3] || key[2] !== value[2] || query[1] % key[1] !== 0)
    return undefined;
  const written = query[0] * query[1] * query[2] * value[3];
  const flops = 2 * query[0] * query[1] * key[2] * (query[3] + value[3]);
  return { ...(query[2] === 1 ? { flops } : {}), reads: [0, 1, 2], written };
};

const formulas: Readonly<Record<string, Formula>> = {
  'aten::mm': gemm(0, 1),
  'aten::addmm': gemm(1, 2, 0),
  'aten::bmm': batchedGemm(0, 1),
  'aten::baddbmm': batchedGemm(1, 2, 0),
  'aten::linear': linear,
  'aten::_scaled_mm': gemm(0, 1),
  'aten::scaled_dot_product_attention': attention,
  'aten::_scaled_dot_product_flash_attention': attention,
  'aten::_scaled_dot_product_efficient_attention': attention,
  'aten::_scaled_dot_product_cudnn_attention': attention,
};
/** Their output has a type that is given as a value, and values are not recorded. */
const OTHER_OUTPUT = new Set(['aten::_scaled_mm']);

/** Operators whose kernels are GEMMs. */
export const multipliesMatrices = (name: string): boolean =>
  formulas[name] !== undefined && formulas[name] !== attention && name !== 'aten::linear';

/** `shapes` and `types` as JSON, the way the profiler writes them. Undefined where they do not decide. */
export function operatorCost(name: string, shapes: string, types: string): OperatorCost | undefined {
  const formula = formulas[name];
  if (!formula || shapes === '') return undefined;
  const [dims, kinds] = [parsed(shapes), parsed(types)];
  if (!dims || !kinds) return undefined;
  const product = formula(dims.map(dim => (isShape(dim) ? dim : [])));
  if (!product) return undefined;
  const read = product.reads.map(place => elementTypes[String(kinds[place])]);
  if (read.some(type => type === undefined)) return undefined;
  let bytes = 0;
  product.reads.forEach((place, i) => {
    bytes += elements(dims[place] as Shape) * read[i].bytes;
  });
  const countsOutput = !OTHER_OUTPUT.has(name);
  if (countsOutput) bytes += product.written * read[0].bytes;
  return { flops: product.flops, bytes, countsOutput, type: read[0].type };
}

function parsed(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isShape = (value: unknown): value is Shape =>
  Array.isArray(value) && value.every(size => Number.isInteger(size) && size >= 0);
