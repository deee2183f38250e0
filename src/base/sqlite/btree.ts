/** Walks a table's b-tree down to its leaves. Cycles and bad page numbers are counted and stepped over. */
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
  /** Pages that could not be followed. Rows under them are lost. */
  readonly damagedPages: number;
}

/** Offset of the b-tree header inside a page: page 1 starts with the file header. */
export const headerOffset = (page: number) => (page === 1 ? 100 : 0);

/** More cells than this cannot fit: a cell takes at least two bytes of pointer and four of content. */
export const maxCells = (pages: SqlitePages) => Math.floor(pages.usableSize / 6);

export function findLeaves(pages: SqlitePages, root: number): Leaves {
  const leaves: number[] = [];
  const firstRow: number[] = [0];
  const seen = new Set<number>();
  let damagedPages = 0;
  let rows = 0;

  const visit = (page: number, depth: number): void => {
    if (!pages.has(page) || seen.has(page) || depth > MAX_DEPTH) {
      damagedPages++;
      return;
    }
    seen.add(page);
    const base = pages.locate(page);
    const at = base + headerOffset(page);
    const bytes = pages.bytes;
    const kind = bytes[at];
    const cells = (bytes[at + 3] << 8) | bytes[at + 4];
    if ((kind !== LEAF_TABLE && kind !== INTERIOR_TABLE) || cells > maxCells(pages)) {
      damagedPages++;
      return;
    }
    if (kind === LEAF_TABLE) {
      leaves.push(page);
      rows += cells;
      firstRow.push(rows);
      return;
    }
    // Copy the children out: visiting them moves the window.
    const children: number[] = [];
    for (let cell = 0; cell < cells; cell++) {
      const pointer = at + 12 + cell * 2;
      const offset = (bytes[pointer] << 8) | bytes[pointer + 1];
      if (offset + 4 > pages.usableSize) damagedPages++;
      else children.push(readU32(bytes, base + offset));
    }
    children.push(readU32(bytes, at + 8));
    for (const child of children) visit(child, depth + 1);
  };

  visit(root, 0);
  return { pages: Float64Array.from(leaves), firstRow: Float64Array.from(firstRow), rows, damagedPages };
}

export function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}
