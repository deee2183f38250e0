/**
 * Columns of numbers that are small, or the same in row after row, or missing: sizes, results, owners, nodes of graphs.
 * They leave the decoder in parts of a few thousand rows, each as narrow as its numbers allow, and a part with one number
 * is that number. Wide columns of all rows would take several times the memory of the rest of a table.
 */
import { type AnyArray, allocate, NONE, type Storage } from '../column.js';
import type { CompactCells, CompactPart, DecodePlan } from './decode-plan.js';

/** Room for the cells of a part as they are decoded. */
export type WideCells = Int32Array | Float64Array;

/** What is kept this way, in the order of a part's cells: a global id is machine, process and thread. */
export function compactPlaces({ sinks }: DecodePlan): { readonly column: number; readonly which: number }[] {
  return sinks.flatMap((sink, column) => {
    if (sink?.kind === 'compact') return [{ column, which: 0 }];
    return sink?.kind === 'compact-id' ? [0, 1, 2].map(which => ({ column, which })) : [];
  });
}

/**
 * `wide`: by place, with room for more rows than there are. One piece of memory holds them all: many small ones would stay
 * with the process when nobody needs them any more.
 */
export function compactPart(
  first: number,
  length: number,
  wide: readonly WideCells[],
  widthOf: WidthOf = widthInScript,
): CompactPart {
  const widths = wide.map(cells =>
    cells instanceof Float64Array ? widthOfReals(cells, length) : widthOf(cells, length),
  );
  const buffer = new ArrayBuffer(widths.reduce<number>((sum, bytes) => sum + aligned(bytes * length), 0));
  let at = 0;
  const cells = wide.map((own, place): CompactCells => {
    const bytes = widths[place];
    if (bytes === 0) return own[0];
    const narrow = new kinds[bytes](buffer, at, length);
    narrow.set(own.subarray(0, length));
    at += aligned(bytes * length);
    return narrow;
  });
  return { first, length, cells };
}

const kinds = { 1: Int8Array, 2: Int16Array, 4: Int32Array, 8: Float64Array } as const;
const aligned = (bytes: number) => Math.ceil(bytes / 8) * 8;

/** Bytes of a cell; none where all are the same. */
export type WidthOf = (cells: Int32Array, length: number) => 0 | 1 | 2 | 4;

const widthInScript: WidthOf = (cells, length) => {
  const one = cells[0];
  let others = 0;
  // Bits that any of them needs besides its sign.
  let bits = 0;
  for (let i = 0; i < length; i++) {
    const value = cells[i];
    others |= value ^ one;
    bits |= value ^ (value >> 31);
  }
  return others === 0 ? 0 : bits < 128 ? 1 : bits < 32768 ? 2 : 4;
};

/** Only where all are missing they are one number: others seldom repeat. */
function widthOfReals(cells: Float64Array, length: number): 0 | 8 {
  for (let i = 0; i < length; i++) if (!Number.isNaN(cells[i])) return 8;
  return 0;
}

export const cellAt = (cells: CompactCells, row: number): number =>
  typeof cells === 'number' ? cells : cells[row];

/** Fewer rows stay as wide as their model says. */
const WORTH_NARROWING = 1 << 16;

/** The whole column, shared with other threads; undefined where no row has a value. */
export function wholeColumn(
  parts: readonly CompactPart[],
  place: number,
  rows: number,
): AnyArray | undefined {
  let bytes = rows < WORTH_NARROWING ? 4 : 1;
  let isMissing = true;
  for (const { cells } of parts) {
    const own = cells[place];
    if (own !== NONE && !Number.isNaN(own)) isMissing = false;
    bytes = Math.max(bytes, typeof own === 'number' ? bytesOf(own) : own.BYTES_PER_ELEMENT);
  }
  if (isMissing) return undefined;
  const whole = allocate(storages[bytes], rows, true);
  for (const { first, length, cells } of parts) {
    const own = cells[place];
    if (typeof own === 'number') whole.fill(own, first, first + length);
    else whole.set(own, first);
  }
  return whole;
}

const storages: Readonly<Record<number, Storage>> = { 1: 'i8', 2: 'i16', 4: 'i32', 8: 'f64' };

function bytesOf(value: number): number {
  if (Number.isNaN(value)) return 8;
  const bits = value ^ (value >> 31);
  return bits < 128 ? 1 : bits < 32768 ? 2 : 4;
}
