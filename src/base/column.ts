/**
 * Columns: typed arrays that can only be indexed by rows of their own table.
 *
 * The brand exists for the compiler alone. At run time a column is a plain typed array and a row a plain number, so
 * hot loops cost nothing: `for (let row = 0 as Row<'kernels'>; row < kernels.length; row++)`.
 */
declare const tag: unique symbol;
/** Of several names: what fits each of them. */
export type Brand<T, Name extends string> = T & { readonly [tag]: { readonly [N in Name]: true } };

export type Column<Row extends number, Value> = { readonly length: number } & { readonly [R in Row]: Value };

/** "No such row", of any table. Reference columns hold it where a link is missing; check before indexing. */
export const NONE = -1 as number & { readonly [tag]: never };

export type Storage = 'f64' | 'i32' | 'u32' | 'u8' | 'i16' | 'i8';
export type AnyArray = Float64Array | Int32Array | Uint32Array | Uint8Array | Int16Array | Int8Array;

export function allocate(storage: Storage, length: number, shared = false): AnyArray {
  const bytes = length * bytesPerElement(storage);
  const buffer = shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  return wrap(storage, buffer, 0, length);
}

function wrap(storage: Storage, buffer: ArrayBufferLike, offset: number, length: number): AnyArray {
  switch (storage) {
    case 'f64':
      return new Float64Array(buffer, offset, length);
    case 'i32':
      return new Int32Array(buffer, offset, length);
    case 'u32':
      return new Uint32Array(buffer, offset, length);
    case 'u8':
      return new Uint8Array(buffer, offset, length);
    case 'i16':
      return new Int16Array(buffer, offset, length);
    case 'i8':
      return new Int8Array(buffer, offset, length);
  }
}

const bytesPerElement = (storage: Storage): number => Number(storage.slice(1)) / 8;

export function storageOf(cells: AnyArray): Storage {
  const letter = cells instanceof Float64Array ? 'f' : isSigned(cells) ? 'i' : 'u';
  return `${letter}${8 * cells.BYTES_PER_ELEMENT}` as Storage;
}

/** Whole numbers in which NONE says that a value is missing. */
export const isSigned = (cells: unknown): boolean =>
  cells instanceof Int32Array || cells instanceof Int16Array || cells instanceof Int8Array;

/** Whole numbers, each in as few bytes as the largest of them needs. */
export type NarrowCells = Int32Array | Int16Array | Int8Array;

/** Room for numbers from NONE up to, but without, `end`. */
export const allocateBelow = (end: number, length: number, shared = false): NarrowCells =>
  allocate(end <= 128 ? 'i8' : end <= 32768 ? 'i16' : 'i32', length, shared) as NarrowCells;

/** The same whole numbers in as few bytes as hold the largest of them. */
export function narrowed(cells: Int32Array): NarrowCells {
  // Bits that any of them needs besides its sign.
  let bits = 0;
  for (let i = 0; i < cells.length; i++) bits |= cells[i] ^ (cells[i] >> 31);
  const storage = bits < 128 ? 'i8' : bits < 32768 ? 'i16' : undefined;
  if (!storage) return cells;
  const narrow = allocate(storage, cells.length, cells.buffer instanceof SharedArrayBuffer);
  narrow.set(cells);
  return narrow as NarrowCells;
}

/** What a cell holds when its value was not recorded but other rows of the column were. */
export function missingValue(storage: Storage): number {
  return storage === 'f64' ? Number.NaN : storage.startsWith('i') ? NONE : 0;
}
