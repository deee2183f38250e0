/**
 * Columns: typed arrays that can only be indexed by rows of their own table.
 *
 * The brand exists for the compiler alone. At run time a column is a plain typed array and a row a plain number,
 * so hot loops cost nothing.
 */
declare const tag: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [tag]: Name };

export type Column<Row extends number, Value> = { readonly length: number } & { readonly [R in Row]: Value };

/** "No such row". Reference columns hold it where a link is missing; check before indexing. */
export const NONE = -1;

export type Storage = 'f64' | 'i32' | 'u32' | 'u8';
export type AnyArray = Float64Array | Int32Array | Uint32Array | Uint8Array;

export function allocate(storage: Storage, length: number, shared = false): AnyArray {
  const bytes = length * bytesPerElement(storage);
  const buffer = shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  return wrap(storage, buffer, 0, length);
}

export function wrap(storage: Storage, buffer: ArrayBufferLike, offset: number, length: number): AnyArray {
  switch (storage) {
    case 'f64':
      return new Float64Array(buffer, offset, length);
    case 'i32':
      return new Int32Array(buffer, offset, length);
    case 'u32':
      return new Uint32Array(buffer, offset, length);
    case 'u8':
      return new Uint8Array(buffer, offset, length);
  }
}

export function bytesPerElement(storage: Storage): number {
  return storage === 'f64' ? 8 : storage === 'u8' ? 1 : 4;
}

/** What a cell holds when its value was not recorded but other rows of the column were. */
export function missingValue(storage: Storage): number {
  return storage === 'f64' ? Number.NaN : storage === 'i32' ? NONE : 0;
}

/** A column of unknown length. Doubles as it fills, and hands over exactly what was written. */
export class GrowingColumn {
  private cells: AnyArray;
  length = 0;

  constructor(
    readonly storage: Storage,
    capacity = 1024,
  ) {
    this.cells = allocate(storage, capacity);
  }

  push(value: number): void {
    if (this.length === this.cells.length) this.grow();
    this.cells[this.length++] = value;
  }

  set(row: number, value: number): void {
    this.cells[row] = value;
  }

  at(row: number): number {
    return this.cells[row];
  }

  private grow(): void {
    const larger = allocate(this.storage, Math.max(16, this.cells.length * 2));
    larger.set(this.cells);
    this.cells = larger;
  }

  finish(): AnyArray {
    // A view would keep the spare half alive, so hand over a copy when much is spare.
    const spare = this.cells.length - this.length;
    const cells =
      spare > this.length / 4 ? this.cells.slice(0, this.length) : this.cells.subarray(0, this.length);
    this.cells = allocate(this.storage, 0);
    return cells;
  }
}
