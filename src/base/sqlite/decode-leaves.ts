/** Decodes leaves of a table: by the scanner where it can, page by page by the decoder otherwise. */
import type { Leaves } from './btree.js';
import { RowDecoder } from './decode.js';
import type { Decoded, DecodePlan } from './decode-plan.js';
import type { SqlitePages } from './pages.js';
import { RowScanner } from './row-scanner.js';

/** Fewer are read before the scanner is ready. */
const LEAVES_WORTH_SCANNING = 64;

/** Decodes leaves[from .. to) into the plan's arrays; row numbers follow leaves.firstRow. */
export function decodeLeaves(
  pages: SqlitePages,
  leaves: Leaves,
  plan: DecodePlan,
  from = 0,
  to = leaves.pages.length,
  mayScan = to - from >= LEAVES_WORTH_SCANNING,
): Decoded {
  const decoder = new RowDecoder(pages, plan);
  const badRows: number[] = [];
  const scanner = mayScan ? RowScanner.for(pages, plan) : undefined;
  for (let leaf = from; leaf < to; leaf++) {
    const scanned = scanner?.page(leaves, leaf);
    if (scanned) {
      if (scanned.isOdd) decoder.oddPages++;
      continue;
    }
    // Rows in between are read here.
    scanner?.flush();
    decoder.page(leaves, leaf, badRows);
  }
  scanner?.flush();
  const { oddPages, misfits, parts } = decoder;
  return { badRows, oddPages, misfits, parts: [...parts, ...(scanner?.takeParts() ?? [])] };
}
