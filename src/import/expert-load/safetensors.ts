/** The header of a safetensors file (github.com/huggingface/safetensors): where each tensor lies. Nothing is trusted. */
import type { ByteSource } from '../../base/byte-source.js';
import { isJsonObject } from '../../base/json/json-object.js';
import { damaged } from './load-content.js';

export interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** In the file. */
  readonly from: number;
  readonly to: number;
}

/** A hundred megabytes hold the names of a million tensors. */
const MOST_HEADER_BYTES = 100 * 1024 * 1024;
const BYTES: Readonly<Record<string, number>> = {
  I8: 1,
  U8: 1,
  I16: 2,
  I32: 4,
  I64: 8,
  U16: 2,
  U32: 4,
  U64: 8,
  F32: 4,
  F64: 8,
};

export function readSafetensors(name: string, source: ByteSource): Map<string, Tensor> {
  const start = new Uint8Array(8);
  if (source.read(start, 0) < 8) throw damaged(name, 'it ends within its header');
  const view = new DataView(start.buffer);
  const length = view.getUint32(4, true) * 2 ** 32 + view.getUint32(0, true);
  if (length > MOST_HEADER_BYTES || length < 2 || 8 + length > source.size)
    throw damaged(name, `its header declares ${length} bytes, but the file has ${source.size}`);
  const bytes = new Uint8Array(length);
  source.read(bytes, 8);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw damaged(name, 'its header is not JSON');
  }
  if (!isJsonObject(header)) throw damaged(name, 'its header names no tensors');
  const tensors = new Map<string, Tensor>();
  for (const [key, value] of Object.entries(header)) {
    if (key !== '__metadata__') tensors.set(key, tensorOf(name, key, value, 8 + length, source.size));
  }
  return tensors;
}

function tensorOf(name: string, key: string, value: unknown, base: number, size: number): Tensor {
  const whole = (n: unknown): n is number => typeof n === 'number' && Number.isSafeInteger(n) && n >= 0;
  const {
    dtype,
    shape,
    data_offsets: offsets,
  } = isJsonObject(value) ? value : ({} as Record<string, unknown>);
  const isSound =
    typeof dtype === 'string' &&
    Array.isArray(shape) &&
    shape.every(whole) &&
    Array.isArray(offsets) &&
    offsets.length === 2 &&
    offsets.every(whole);
  const shown = JSON.stringify(key.slice(0, 60));
  if (!isSound) throw damaged(name, `its header does not give the position of ${shown}`);
  const [from, to] = (offsets as number[]).map(offset => offset + base);
  const items = (shape as number[]).reduce((product, n) => product * n, 1);
  if (to > size || from > to)
    throw damaged(name, `${shown} would end at byte ${to}, but the file has ${size}`);
  if (dtype in BYTES && items * BYTES[dtype] !== to - from)
    throw damaged(name, `${shown} has ${to - from} bytes for ${items} numbers of ${dtype}`);
  return { dtype, shape: shape as number[], from, to };
}

/** The letters of NumPy for the same numbers. */
export const npyType = (dtype: string): string | undefined =>
  dtype in BYTES ? `${dtype[0].toLowerCase()}${BYTES[dtype]}` : undefined;
