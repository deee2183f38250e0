/** Numbers of a NumPy file as float64. Returns the index of the first that is no count, or -1. */
import { isCount } from './check-counts.js';

type Decode = (bytes: Uint8Array, count: number, into: Float64Array) => number;

/** `bytes` begins where a number may begin: at a multiple of 8. */
export function decoderOf(type: string): Decode {
  switch (type) {
    case 'i8':
    case 'u8':
      return wide;
    case 'i4':
      return plain((bytes, count) => new Int32Array(bytes.buffer, bytes.byteOffset, count));
    case 'u4':
      return plain((bytes, count) => new Uint32Array(bytes.buffer, bytes.byteOffset, count));
    case 'i2':
      return plain((bytes, count) => new Int16Array(bytes.buffer, bytes.byteOffset, count));
    case 'u2':
      return plain((bytes, count) => new Uint16Array(bytes.buffer, bytes.byteOffset, count));
    case 'i1':
      return plain((bytes, count) => new Int8Array(bytes.buffer, bytes.byteOffset, count));
    case 'u1':
      return plain((bytes, count) => bytes.subarray(0, count));
    case 'f4':
      return fractional((bytes, count) => new Float32Array(bytes.buffer, bytes.byteOffset, count));
    case 'f8':
      return fractional((bytes, count) => new Float64Array(bytes.buffer, bytes.byteOffset, count));
    default:
      throw new Error(`no decoder for ${type}`);
  }
}

type View = (bytes: Uint8Array, count: number) => ArrayLike<number> & { set?: unknown };

function plain(view: View): Decode {
  return (bytes, count, into) => {
    const values = view(bytes, count);
    let bad = -1;
    for (let i = 0; i < count; i++) {
      const value = values[i];
      into[i] = value;
      if (value < 0 && bad < 0) bad = i;
    }
    return bad;
  };
}

function fractional(view: View): Decode {
  return (bytes, count, into) => {
    const values = view(bytes, count);
    let bad = -1;
    for (let i = 0; i < count; i++) {
      const value = values[i];
      into[i] = value;
      if (bad < 0 && !isCount(value)) bad = i;
    }
    return bad;
  };
}

/** Two halves instead of BigInts, which are ten times slower. Counts beyond 2^53 are refused. */
function wide(bytes: Uint8Array, count: number, into: Float64Array): number {
  const halves = new Int32Array(bytes.buffer, bytes.byteOffset, count * 2);
  let bad = -1;
  for (let i = 0; i < count; i++) {
    const high = halves[2 * i + 1];
    const value = high * 4294967296 + (halves[2 * i] >>> 0);
    into[i] = value;
    if (high !== 0 && bad < 0 && !isCount(value)) bad = i;
  }
  return bad;
}
