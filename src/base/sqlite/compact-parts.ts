/**
 * Columns of whole numbers that are small, or the same in row after row: sizes, results, owners. They leave the decoder in
 * parts of a few thousand rows, each as narrow as its numbers allow, and a part with one number is that number. Wide
 * columns of all rows would take several times the memory of the rest of a table.
 */
import { allocate, NONE } from '../column.js';
import type { DecodePlan } from './decode-plan.js';

type Cells = number | Int8Array | Int16Array | Int32Array;

/** Rows in a row; by place (see `compactPlaces`) their cells. */
export interface CompactPart {
  readonly first: number;
  readonly length: number;
  readonly cells: readonly Cells[];
}

/** What is kept this way, in the order of a part's cells: a global id is machine, process and thread. */
export function compactPlaces({ sinks }: DecodePlan): { readonly column: number; readonly which: number }[] {
  return sinks.flatMap((sink, column) => {
    if (sink?.kind === 'compact') return [{ column, which: 0 }];
    return sink?.kind === 'compact-id' ? [0, 1, 2].map(which => ({ column, which })) : [];
  });
}

/** `wide`: by place, with room for more rows than there are. */
export function compactPart(first: number, length: number, wide: readonly Int32Array[]): CompactPart {
  return { first, length, cells: wide.map(cells => compacted(cells, length)) };
}

function compacted(cells: Int32Array, length: number): Cells {
  const one = cells[0];
  let others = 0;
  // Bits that any of them needs besides its sign.
  let bits = 0;
  for (let i = 0; i < length; i++) {
    const value = cells[i];
    others |= value ^ one;
    bits |= value ^ (value >> 31);
  }
  if (others === 0) return one;
  const used = cells.subarray(0, length);
  return bits < 128 ? new Int8Array(used) : bits < 32768 ? new Int16Array(used) : used.slice();
}

export const cellAt = (cells: Cells, row: number): number => (typeof cells === 'number' ? cells : cells[row]);

/** Fewer rows stay as wide as their model says. */
const WORTH_NARROWING = 1 << 16;

/** The whole column, shared with other threads; undefined where no row has a value. */
export function wholeColumn(
  parts: readonly CompactPart[],
  place: number,
  rows: number,
): Int32Array | Int16Array | Int8Array | undefined {
  let bytes = rows < WORTH_NARROWING ? 4 : 1;
  let isMissing = true;
  for (const { cells } of parts) {
    const own = cells[place];
    if (own !== NONE) isMissing = false;
    bytes = Math.max(bytes, typeof own === 'number' ? bytesOf(own) : own.BYTES_PER_ELEMENT);
  }
  if (isMissing) return undefined;
  const whole = allocate(bytes === 1 ? 'i8' : bytes === 2 ? 'i16' : 'i32', rows, true);
  for (const { first, length, cells } of parts) {
    const own = cells[place];
    if (typeof own === 'number') whole.fill(own, first, first + length);
    else whole.set(own, first);
  }
  return whole as Int32Array | Int16Array | Int8Array;
}

function bytesOf(value: number): number {
  const bits = value ^ (value >> 31);
  return bits < 128 ? 1 : bits < 32768 ? 2 : 4;
}
