/**
 * Walks a table's b-tree down to its leaves. Bad page numbers, cycles and pages that another table has already
 * claimed are counted and stepped over. Interior pages also say which row ids each child may hold, which is how rows
 * under a wrong pointer are told from the table's own.
 */
import type { SqlitePages } from './pages.js';

const INTERIOR_TABLE = 5;
const LEAF_TABLE = 13;
const MAX_DEPTH = 40;

export interface Leaves {
  /** Leaf pages in key order. */
  readonly pages: Float64Array;
  /** Rows before each leaf; one longer than `pages`. */
  readonly firstRow: Float64Array;
  readonly rows: number;
  /** Row ids on a leaf lie above the one and at or below the other. */
  readonly aboveRowId: Float64Array;
  readonly upToRowId: Float64Array;
  /** Pages that could not be followed. Rows under them are lost. */
  readonly damagedPages: number;
}

/** Offset of the b-tree header inside a page: page 1 starts with the file header. */
export const headerOffset = (page: number) => (page === 1 ? 100 : 0);

/** More cells than this cannot fit: a cell takes at least two bytes of pointer and four of content. */
export const maxCells = (pages: SqlitePages) => Math.floor(pages.usableSize / 6);

/** `claimed` has a cell per page of the file and is shared by all tables: a page belongs to one of them, once. */
export function findLeaves(pages: SqlitePages, root: number, claimed: Uint8Array): Leaves {
  const leaves: number[] = [];
  const firstRow: number[] = [0];
  const above: number[] = [];
  const upTo: number[] = [];
  let damagedPages = 0;
  let rows = 0;

  const visit = (page: number, depth: number, low: number, high: number): void => {
    if (!pages.has(page) || claimed[page] === 1 || depth > MAX_DEPTH) {
      damagedPages++;
      return;
    }
    const base = pages.locate(page);
    const at = base + headerOffset(page);
    const bytes = pages.bytes;
    const kind = bytes[at];
    const cells = (bytes[at + 3] << 8) | bytes[at + 4];
    if ((kind !== LEAF_TABLE && kind !== INTERIOR_TABLE) || cells > maxCells(pages)) {
      damagedPages++;
      return;
    }
    claimed[page] = 1;
    if (kind === LEAF_TABLE) {
      leaves.push(page);
      rows += cells;
      firstRow.push(rows);
      above.push(low);
      upTo.push(high);
      return;
    }
    // Copy the children out: visiting them moves the window.
    const children: number[] = [];
    const bounds: number[] = [low];
    let cellBytes = 0;
    for (let cell = 0; cell < cells; cell++) {
      const pointer = at + 12 + cell * 2;
      const offset = (bytes[pointer] << 8) | bytes[pointer + 1];
      if (offset + 5 > pages.usableSize) damagedPages++;
      else {
        children.push(readU32(bytes, base + offset));
        bounds.push(readVarint(bytes, base + offset + 4));
        cellBytes += 4 + varintLength(bytes, base + offset + 4);
      }
    }
    // Children that no cell names any more are lost.
    if (!isFilledBy(bytes, base, at, pages.usableSize, cellBytes)) damagedPages++;
    children.push(readU32(bytes, at + 8));
    bounds.push(high);
    // Damaged bounds say nothing: rather none than rows thrown away for them.
    const sound = bounds.every((bound, i) => i === 0 || bound >= bounds[i - 1]);
    children.forEach((child, i) => {
      visit(child, depth + 1, sound ? bounds[i] : low, sound ? bounds[i + 1] : high);
    });
  };

  visit(root, 0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  return {
    pages: Float64Array.from(leaves),
    firstRow: Float64Array.from(firstRow),
    rows,
    aboveRowId: Float64Array.from(above),
    upToRowId: Float64Array.from(upTo),
    damagedPages,
  };
}

/** One leaf of many, as if it were the whole table. */
export function singleLeaf(leaves: Leaves, leaf: number): Leaves {
  const rows = leaves.firstRow[leaf + 1] - leaves.firstRow[leaf];
  return {
    pages: leaves.pages.subarray(leaf, leaf + 1),
    firstRow: Float64Array.of(0, rows),
    rows,
    aboveRowId: leaves.aboveRowId.subarray(leaf, leaf + 1),
    upToRowId: leaves.upToRowId.subarray(leaf, leaf + 1),
    damagedPages: 0,
  };
}

export function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}

/** A whole number of one to nine bytes, seven bits in each but the ninth, which counts whole and holds the sign. */
export function readVarint(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let n = 0; n < 8; n++) {
    const b = bytes[at + n];
    value = value * 128 + (b & 0x7f);
    if (!(b >= 0x80)) return value;
  }
  let exact = 0n;
  for (let n = 0; n < 8; n++) exact = (exact << 7n) | BigInt(bytes[at + n] & 0x7f);
  return Number(BigInt.asIntN(64, (exact << 8n) | BigInt(bytes[at + 8] ?? 0)));
}

export function varintLength(bytes: Uint8Array, at: number): number {
  let n = 1;
  while (n < 9 && bytes[at + n - 1] >= 0x80) n++;
  return n;
}

/** Cells take four bytes at least, so that a free block fits where one was. */
export const MIN_CELL_BYTES = 4;

/**
 * Whether cells, free blocks and scraps together fill the content area, as they do on every sound page. A page that
 * lost the count of its cells, or whose cells belong elsewhere, shows it here.
 *
 *   header | pointers to cells | unused | content area: cells, free blocks, scraps of up to three bytes | reserved
 */
export function isFilledBy(
  bytes: Uint8Array,
  base: number,
  header: number,
  usableSize: number,
  cellBytes: number,
): boolean {
  const contentStart = (bytes[header + 5] << 8) | bytes[header + 6] || 65536;
  let filled = cellBytes + bytes[header + 7];
  let last = 0;
  for (let block = (bytes[header + 1] << 8) | bytes[header + 2]; block !== 0; ) {
    if (block <= last || block < contentStart || block + MIN_CELL_BYTES > usableSize) return false;
    const at = base + block;
    const size = (bytes[at + 2] << 8) | bytes[at + 3];
    if (size < MIN_CELL_BYTES) return false;
    filled += size;
    last = block;
    block = (bytes[at] << 8) | bytes[at + 1];
  }
  return contentStart + filled === usableSize;
}
