/**
 * Every row of a table, or every entry of an index, as the bytes of its record. Unlike the decoder, which steps over
 * damage, this walk ends at the first thing that does not fit: who copies a database must not lose rows unsaid.
 */
import { UserError } from '../user-error.js';
import {
  findLeaves,
  headerOffset,
  type Leaves,
  maxCells,
  readU32,
  readVarint,
  varintLength,
} from './btree.js';
import type { SqlitePages } from './pages.js';
import { localBytes } from './record-sizes.js';

const LEAF_INDEX = 10;
const INTERIOR_INDEX = 2;
const MAX_DEPTH = 40;

/** A row where it lies; good until the visitor returns. */
interface WalkedRow {
  bytes: Uint8Array;
  /** The record. */
  from: number;
  to: number;
  rowId: number;
  /** The row id as written: beyond 2^53 the number above is rounded. */
  readonly id: Uint8Array;
  idLength: number;
}

export function walkTable(
  pages: SqlitePages,
  root: number,
  claimed: Uint8Array,
  visit: (row: WalkedRow) => void,
  onLeaf?: () => void,
): void {
  const leaves = findLeaves(pages, root, claimed);
  if (leaves.damagedPages > 0) throw damage();
  const row: WalkedRow = {
    bytes: pages.bytes,
    from: 0,
    to: 0,
    rowId: Number.NaN,
    id: new Uint8Array(9),
    idLength: 0,
  };
  const chain = new OverflowReader(pages);
  for (let leaf = 0; leaf < leaves.pages.length; leaf++) {
    walkLeaf(pages, leaves, leaf, row, chain, visit);
    onLeaf?.();
  }
}

function walkLeaf(
  pages: SqlitePages,
  leaves: Leaves,
  leaf: number,
  row: WalkedRow,
  chain: OverflowReader,
  visit: (row: WalkedRow) => void,
): void {
  const page = leaves.pages[leaf];
  const base = pages.locate(page);
  const bytes = pages.bytes;
  const at = base + headerOffset(page);
  const cells = (bytes[at + 3] << 8) | bytes[at + 4];
  const limit = base + pages.usableSize;
  const first = at + 8 + cells * 2;
  let last = leaves.aboveRowId[leaf];
  for (let cell = 0; cell < cells; cell++) {
    const pointer = at + 8 + cell * 2;
    let position = base + ((bytes[pointer] << 8) | bytes[pointer + 1]);
    if (position < first || position >= limit) throw damage();
    const length = readVarint(bytes, position);
    position += varintLength(bytes, position);
    const rowId = readVarint(bytes, position);
    row.idLength = varintLength(bytes, position);
    if (position + row.idLength > limit || !(length >= 0)) throw damage();
    for (let i = 0; i < row.idLength; i++) row.id[i] = bytes[position + i];
    position += row.idLength;
    // Beyond exact doubles neighbours may look alike.
    if (rowId < last || (rowId === last && Number.isSafeInteger(rowId)) || rowId > leaves.upToRowId[leaf])
      throw damage();
    last = rowId;
    row.rowId = rowId;
    if (length > pages.usableSize - 35) {
      const local = localBytes(length, pages.usableSize);
      if (position + local + 4 > limit) throw damage();
      row.bytes = chain.collect(bytes, position, local, length);
      row.from = 0;
      row.to = length;
    } else {
      if (position + length > limit) throw damage();
      row.bytes = bytes;
      row.from = position;
      row.to = position + length;
    }
    visit(row);
  }
}

/** Entries of an index (or of a table WITHOUT ROWID) in their order. Those that spill over are not read. */
export function walkIndex(
  pages: SqlitePages,
  root: number,
  claimed: Uint8Array,
  visit: (bytes: Uint8Array, from: number, to: number) => void,
): void {
  const most = Math.floor(((pages.usableSize - 12) * 64) / 255) - 23;
  const entry = (bytes: Uint8Array, at: number) => {
    const length = readVarint(bytes, at);
    const from = at + varintLength(bytes, at);
    if (length > most) throw longKeys();
    if (!(length >= 0) || from + length > pages.usableSize) throw damage();
    visit(bytes, from, from + length);
  };
  const go = (page: number, depth: number): void => {
    if (!pages.has(page) || page === 1 || claimed[page] === 1 || depth > MAX_DEPTH) throw damage();
    claimed[page] = 1;
    // A copy: going down moves the window.
    const bytes = new Uint8Array(pages.pageSize);
    if (!pages.copy(page, bytes)) throw damage();
    const cells = (bytes[3] << 8) | bytes[4];
    const isLeaf = bytes[0] === LEAF_INDEX;
    if ((!isLeaf && bytes[0] !== INTERIOR_INDEX) || cells > maxCells(pages)) throw damage();
    const head = isLeaf ? 8 : 12;
    for (let cell = 0; cell < cells; cell++) {
      const at = (bytes[head + cell * 2] << 8) | bytes[head + cell * 2 + 1];
      if (at < head + cells * 2 || at + 4 > pages.usableSize) throw damage();
      if (!isLeaf) go(readU32(bytes, at), depth + 1);
      entry(bytes, isLeaf ? at : at + 4);
    }
    if (!isLeaf) go(readU32(bytes, 8), depth + 1);
  };
  go(root, 0);
}

class OverflowReader {
  private whole = new Uint8Array(0);
  private readonly page: Uint8Array;

  constructor(private readonly pages: SqlitePages) {
    this.page = new Uint8Array(pages.pageSize);
  }

  collect(bytes: Uint8Array, position: number, local: number, length: number): Uint8Array {
    const { pages, page } = this;
    if (!pages.spendOverflow(length)) throw damage();
    if (this.whole.length < length) this.whole = new Uint8Array(Math.max(length, this.whole.length * 2));
    const { whole } = this;
    whole.set(bytes.subarray(position, position + local));
    let filled = local;
    let next = readU32(bytes, position + local);
    while (filled < length) {
      if (!pages.copy(next, page)) throw damage();
      const part = Math.min(length - filled, pages.usableSize - 4);
      whole.set(page.subarray(4, 4 + part), filled);
      filled += part;
      next = readU32(page, 0);
    }
    if (next !== 0) throw damage();
    return whole;
  }
}

export function damage(): UserError {
  return new UserError(
    'damaged',
    'The database is damaged or truncated and cannot be copied completely.',
    'Export the report again (nsys export --type sqlite REPORT.nsys-rep) and use the new file.',
  );
}

function longKeys(): UserError {
  return new UserError(
    'damaged',
    'The database has an index with very long keys, which no Nsight Systems export has.',
    'Export the report again (nsys export --type sqlite REPORT.nsys-rep) and use the new file.',
  );
}
