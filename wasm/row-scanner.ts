/**
 * Decodes the rows of one leaf page of an SQLite table, in AssemblyScript, compiled by scripts/build-wasm.mjs.
 *
 * It reads what nearly every page holds, exactly as src/base/sqlite/decode.ts would: whole rows of numbers. A page with
 * anything else (a damaged row, one that spills to other pages, a value that its column cannot have, free blocks) it
 * declines as a whole, and nothing of it counts.
 *
 * The file format: https://www.sqlite.org/fileformat2.html#b_tree_pages
 */

/** What happens to each column: one byte each. */
export const ACTIONS: i32 = 1024;
/** Where its values go: the place of row 0, four bytes each. */
export const OUTPUTS: i32 = 2048;
/** What stands for NULL: eight bytes each. */
export const MISSING: i32 = 4096;
export const MAX_COLUMNS: i32 = 256;
// Free for values and pages from 8192 on: src/base/sqlite/row-scanner.ts.

export const SKIP: i32 = 0;
export const DOUBLE: i32 = 1;
export const INTEGER: i32 = 2;
/** Three columns of 32 bits: machine, process, thread. They lie as far from each other as `setTable` says. */
export const GLOBAL_ID: i32 = 3;

const LEAF_TABLE: u8 = 13;
const MIN_CELL_BYTES: i32 = 4;
/** Bytes of serial types 0 to 9, four bits each. */
const SIZES: u64 = 0x0088643210;
const FLOAT: i32 = 7;
const LAST_NUMBER: i32 = 9;
const FIRST_BYTES: i32 = 12;

let wanted: i32 = 0;
let columns: i32 = 0;
let rowIdColumn: i32 = -1;
let rowIds: i32 = 0;
let stride: i32 = 0;

/** `wanted`: columns up to the last that anybody wants. `rowIdsAt`: 0 where nobody wants row ids. */
export function setTable(wantedCount: i32, count: i32, idColumn: i32, rowIdsAt: i32, blockBytes: i32): void {
  wanted = wantedCount;
  columns = count;
  rowIdColumn = idColumn;
  rowIds = rowIdsAt;
  stride = blockBytes;
}

function u16At(at: i32): i32 {
  return bswap<u16>(load<u16>(at)) as i32;
}

/** Decodes all rows of a page into rows `row` and following of the outputs; false where it declines. */
export function page(base: i32, header: i32, usable: i32, rows: i32, row: i32, above: f64, upTo: f64): bool {
  if (load<u8>(header) !== LEAF_TABLE || u16At(header + 3) !== rows || rows > usable / 6) return false;
  // Free blocks.
  if (u16At(header + 1) !== 0) return false;
  const pointers = header + 8;
  const first = pointers + rows * 2;
  const limit = base + usable;
  let room = limit - first;
  let last = above;
  for (let cell = 0; cell < rows; cell++) {
    const start = base + u16At(pointers + cell * 2);
    if (start < first || start >= limit) return false;
    let at = start;
    // Payload length: of three bytes it spills to other pages unless pages are large.
    let b: i32 = load<u8>(at++);
    let length = b & 0x7f;
    for (let n = 1; b >= 0x80; n++) {
      if (n === 3) return false;
      b = load<u8>(at++);
      length = (length << 7) | (b & 0x7f);
    }
    let id: i64 = 0;
    for (let n = 0; ; n++) {
      // Beyond seven bytes ids need not be exact doubles.
      if (n === 7) return false;
      b = load<u8>(at++);
      id = (id << 7) | (b & 0x7f);
      if (b < 0x80) break;
    }
    const rowId = id as f64;
    if (rowId > upTo || rowId <= last) return false;
    last = rowId;
    const end = at + length;
    if (length > usable - 35 || end > limit || end - start > room) return false;
    if (!record(at, end, row + cell, rowId)) return false;
    room -= max(MIN_CELL_BYTES, end - start);
  }
  // Cells and scraps fill the content area of every sound page.
  const begin = u16At(header + 5) || 65536;
  const filled = limit - first - room + (load<u8>(header + 7) as i32);
  return begin + filled === usable;
}

function record(from: i32, end: i32, row: i32, rowId: f64): bool {
  const headerBytes: i32 = load<u8>(from);
  const headerEnd = from + headerBytes;
  if (headerBytes < 1 || headerBytes >= 0x80 || headerEnd > end) return false;
  let h = from + 1;
  let body = headerEnd;
  if (rowIds) store<f64>(rowIds + (row << 3), rowId);
  let c = 0;
  for (; h < headerEnd; c++) {
    if (c === columns) return false;
    let type: i32 = load<u8>(h++);
    if (type >= 0x80) {
      let byte = type;
      type &= 0x7f;
      for (let n = 1; byte >= 0x80; n++) {
        if (n === 4 || h >= headerEnd) return false;
        byte = load<u8>(h++);
        type = (type << 7) | (byte & 0x7f);
      }
    }
    if (type > LAST_NUMBER && type < FIRST_BYTES) return false;
    const size = type >= FIRST_BYTES ? (type - FIRST_BYTES) >> 1 : (((SIZES >> (type << 2)) & 15) as i32);
    if (body + size > end) return false;
    const action: i32 = c < wanted ? load<u8>(ACTIONS + c) : SKIP;
    if (action !== SKIP && !value(c, action, type, body, row, rowId)) return false;
    body += size;
  }
  // A row written before columns were added has fewer of them.
  return body === end && c >= wanted;
}

function value(c: i32, action: i32, type: i32, at: i32, row: i32, rowId: f64): bool {
  const out = load<i32>(OUTPUTS + (c << 2));
  if (type > LAST_NUMBER) return false;
  if (action === DOUBLE) {
    let found: f64;
    if (type === 0) found = c === rowIdColumn ? rowId : load<f64>(MISSING + (c << 3));
    else if (type === FLOAT) {
      found = reinterpret<f64>(bswap<u64>(load<u64>(at)));
      // Not finite.
      if (found - found !== 0) return false;
    } else found = integer(type, at) as f64;
    store<f64>(out + (row << 3), found);
    return true;
  }
  if (type === FLOAT) return false;
  if (action === INTEGER) {
    let found: i64;
    if (type === 0) found = (c === rowIdColumn ? rowId : load<f64>(MISSING + (c << 3))) as i64;
    else found = integer(type, at);
    if (found < -0x80000000 || found > 0xffffffff) return false;
    store<i32>(out + (row << 2), found as i32);
    return true;
  }
  const to = out + (row << 2);
  if (type === 0) {
    store<i32>(to, -1);
    store<i32>(to + stride, -1);
    store<i32>(to + stride * 2, -1);
    return true;
  }
  const id = integer(type, at) as u64;
  store<i32>(to, (id >> 48) as i32);
  store<i32>(to + stride, ((id >> 24) & 0xffffff) as i32);
  store<i32>(to + stride * 2, (id & 0xffffff) as i32);
  return true;
}

/** A whole number of serial types 1 to 6, 8 and 9: big-endian, with its sign. */
function integer(type: i32, at: i32): i64 {
  switch (type) {
    case 1:
      return load<i8>(at) as i64;
    case 2:
      return bswap<i16>(load<i16>(at)) as i64;
    case 3:
      return ((load<i8>(at) as i64) << 16) | u16At(at + 1);
    case 4:
      return bswap<i32>(load<i32>(at)) as i64;
    case 5:
      return ((bswap<i16>(load<i16>(at)) as i64) << 32) | (bswap<u32>(load<u32>(at + 2)) as i64);
    case 6:
      return bswap<i64>(load<i64>(at));
    default:
      return type === LAST_NUMBER ? 1 : 0;
  }
}
