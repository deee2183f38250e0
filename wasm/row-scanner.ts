/**
 * Decodes the rows of a leaf page of an SQLite table into columns, in AssemblyScript (https://www.assemblyscript.org),
 * compiled by scripts/build-wasm.mjs.
 *
 * Rows of a table look alike: the header of a record says how many bytes each value takes, and there are a few dozen
 * different headers. Each is read once and kept as a shape: what to load from where. A row then costs a comparison of its
 * header, and a load and a store per wanted value.
 *
 * It decodes what base/sqlite/decode.ts would, and declines a page with anything else in it: rows that spill to other
 * pages, values that their column cannot have, damage of any kind. That page is then read there, from its first row.
 */

/** What is wanted of the columns of the table, written by row-scanner.ts: action, place of its cells, what stands for NULL. */
export const ACTIONS: i32 = 1024;
export const PLACES: i32 = 1280;
export const MISSING: i32 = 2304;
/** More columns than this have no place there. */
export const MOST_COLUMNS: i32 = 128;

/** Actions. */
export const SKIP: i32 = 0;
export const FLOAT: i32 = 1;
export const INT: i32 = 2;
export const SHORT: i32 = 3;
export const BYTE: i32 = 4;
/** Machine, process and thread, each in a place of its own: the first is named, the others follow it. */
export const GLOBAL_ID: i32 = 5;

/**
 * Shapes: length of the header, bytes of all values, number of loads, the header itself in 64 bytes, then the loads, 24
 * bytes each: action, kind, where the value ends behind the header, shift, place of the cells, constant.
 */
const SHAPES: i32 = 8192;
const SHAPE_BITS: i32 = 8;
const HEADER_AT: i32 = 16;
const LONGEST_HEADER: i32 = 64;
const LOADS_AT: i32 = 80;
const LOAD_BYTES: i32 = 32;
const SHAPE_BYTES: i32 = 80 + 64 * 32;
const MOST_LOADS: i32 = 64;

/** Kinds of loads. */
const WHOLE: i32 = 0;
const REAL: i32 = 1;
const CONSTANT: i32 = 2;
const ROW_ID: i32 = 3;

/** Bytes to be decoded lie behind the shapes; cells are written behind these. */
export const INPUT: i32 = 8192 + (1 << 8) * (80 + 64 * 32);
/** Cells of a column that are written before somebody takes them. */
export const ROOM: i32 = 16384;
export const PLACE_BYTES: i32 = 16384 * 8;

const MAX_EXACT: i64 = (1 << 53) - 1;

let columns: i32 = 0;
let allColumns: i32 = 0;
let rowIdColumn: i32 = -1;
let usableSize: i32 = 0;

/** A new table: shapes of the last one mean nothing here. */
export function begin(wanted: i32, all: i32, rowId: i32, usable: i32): void {
  columns = wanted;
  allColumns = all;
  rowIdColumn = rowId;
  usableSize = usable;
  for (let shape = 0; shape < 1 << SHAPE_BITS; shape++) store<i32>(SHAPES + shape * SHAPE_BYTES, 0);
}

/**
 * Decodes the `cells` rows of the page at `base`, whose header is at `header`, into the cells from `row` on. Returns the
 * bytes that rows take, or -1 where the page is declined.
 */
export function page(base: i32, header: i32, cells: i32, row: i32, above: f64, upTo: f64): i32 {
  const limit = base + usableSize;
  const first = header + 8 + cells * 2;
  let room = limit - first;
  const whole = room;
  let last = above;
  for (let cell = 0; cell < cells; cell++) {
    const pointer = header + 8 + cell * 2;
    const at = base + (((<i32>load<u8>(pointer)) << 8) | <i32>load<u8>(pointer + 1));
    if (at < first || at >= limit) return -1;
    let position = at;
    let b = <i32>load<u8>(position++);
    let length = b & 0x7f;
    if (b >= 0x80) {
      b = <i32>load<u8>(position++);
      length = (length << 7) | (b & 0x7f);
      if (b >= 0x80) {
        b = <i32>load<u8>(position++);
        length = (length << 7) | (b & 0x7f);
        if (b >= 0x80) return -1;
      }
    }
    if (length > usableSize - 35) return -1;
    let id: i64 = 0;
    let digits = 0;
    do {
      if (digits++ === 8) return -1;
      b = <i32>load<u8>(position++);
      id = (id << 7) | (b & 0x7f);
    } while (b >= 0x80);
    if (id > MAX_EXACT) return -1;
    const rowId = <f64>id;
    if (!(rowId > last && rowId <= upTo)) return -1;
    last = rowId;
    const end = position + length;
    if (end > limit || end - at > room) return -1;
    room -= max(4, end - at);
    if (!record(position, end, row + cell, id)) return -1;
  }
  return whole - room;
}

/**
 * Bytes that a number of a column takes, of `count` of 32 bits at a place: none where all are the same. As
 * compact-parts.ts counts them, four numbers at a time.
 */
export function width(place: i32, count: i32): i32 {
  const one = load<i32>(place);
  const ones = i32x4.splat(one);
  let others = i32x4.splat(0);
  // Bits that any of them needs besides its sign.
  let bits = i32x4.splat(0);
  const whole = place + ((count & ~3) << 2);
  let at = place;
  for (; at < whole; at += 16) {
    const four = v128.load(at);
    others = v128.or(others, v128.xor(four, ones));
    bits = v128.or(bits, v128.xor(four, i32x4.shr_s(four, 31)));
  }
  let differ = fold(others);
  let needed = fold(bits);
  for (const end = place + (count << 2); at < end; at += 4) {
    const value = load<i32>(at);
    differ |= value ^ one;
    needed |= value ^ (value >> 31);
  }
  return differ === 0 ? 0 : needed < 128 ? 1 : needed < 32768 ? 2 : 4;
}

function fold(four: v128): i32 {
  return (
    i32x4.extract_lane(four, 0) |
    i32x4.extract_lane(four, 1) |
    i32x4.extract_lane(four, 2) |
    i32x4.extract_lane(four, 3)
  );
}

function record(position: i32, end: i32, row: i32, id: i64): bool {
  const headerBytes = <i32>load<u8>(position);
  const body = position + headerBytes;
  if (headerBytes === 0 || headerBytes > LONGEST_HEADER || body > end) return false;
  const shape = shapeOf(position, headerBytes);
  if (shape === 0) return false;
  if (load<i32>(shape, 4) !== end - body) return false;
  const loads = load<i32>(shape, 8);
  let at = shape + LOADS_AT;
  for (let i = 0; i < loads; i++, at += LOAD_BYTES) {
    const kind = load<i32>(at, 4);
    const place = load<i32>(at, 16);
    const action = load<i32>(at);
    let value: i64;
    if (kind === WHOLE) {
      // Values are big-endian: the eight bytes that end with this one hold it, and its sign is the highest bit kept.
      const shift = load<i64>(at, 24);
      value = (bswap<i64>(load<i64>(body + load<i32>(at, 8) - 8)) << shift) >> shift;
    } else if (kind === CONSTANT) {
      if (action === FLOAT) {
        store<f64>(place + (row << 3), load<f64>(at, 24));
        continue;
      }
      value = load<i64>(at, 24);
    } else if (kind === ROW_ID) value = id;
    else {
      const real = reinterpret<f64>(bswap<i64>(load<i64>(body + load<i32>(at, 8) - 8)));
      // Neither infinite nor NaN.
      if (real - real !== 0) return false;
      store<f64>(place + (row << 3), real);
      continue;
    }
    switch (action) {
      case FLOAT:
        store<f64>(place + (row << 3), <f64>value);
        break;
      case INT:
        // What has more than 32 bits is no value of this column.
        if (kind === WHOLE && (value < -(1 << 31) || value >= 1 << 32)) return false;
        store<i32>(place + (row << 2), <i32>value);
        break;
      case GLOBAL_ID: {
        const high = <u32>(value >> 32);
        const low = <u32>value;
        store<u32>(place + (row << 2), high >> 16);
        store<u32>(place + PLACE_BYTES + (row << 2), ((high & 0xffff) << 8) | (low >> 24));
        store<u32>(place + 2 * PLACE_BYTES + (row << 2), low & 0xffffff);
        break;
      }
      case SHORT:
        if (kind === WHOLE && (value < -(1 << 31) || value >= 1 << 32)) return false;
        store<i16>(place + (row << 1), <i16>value);
        break;
      default:
        if (kind === WHOLE && (value < -(1 << 31) || value >= 1 << 32)) return false;
        store<i8>(place + row, <i8>value);
    }
  }
  return true;
}

/** The shape of this header, learned where it is new; 0 where it is declined. */
function shapeOf(position: i32, headerBytes: i32): i32 {
  let hash: i64 = headerBytes;
  const tail = position + headerBytes;
  for (let at = position; at < tail; at += 8) {
    // Bytes behind the header belong to values: they are cut off.
    const left = tail - at;
    let word = load<i64>(at);
    if (left < 8) word &= (1 << ((<i64>left) << 3)) - 1;
    hash = (hash ^ word) * 0x9e3779b1;
    hash ^= hash >>> 29;
  }
  const shape = SHAPES + (<i32>hash & ((1 << SHAPE_BITS) - 1)) * SHAPE_BYTES;
  if (load<i32>(shape) !== headerBytes) return learn(shape, position, headerBytes);
  for (let at = 0; at < headerBytes; at += 8) {
    const left = headerBytes - at;
    let word = load<i64>(position + at) ^ load<i64>(shape + at, HEADER_AT);
    if (left < 8) word &= (1 << ((<i64>left) << 3)) - 1;
    if (word !== 0) return learn(shape, position, headerBytes);
  }
  return shape;
}

function learn(shape: i32, position: i32, headerBytes: i32): i32 {
  store<i32>(shape, 0);
  let at = position + 1;
  const headerEnd = position + headerBytes;
  let size = 0;
  let loads = 0;
  let column = 0;
  for (; at < headerEnd; column++) {
    let type = <i32>load<u8>(at++);
    if (type >= 0x80) {
      const low = <i32>load<u8>(at++);
      if (low >= 0x80 || at > headerEnd) return 0;
      type = ((type & 0x7f) << 7) | low;
    }
    if (column === allColumns || type === 10 || type === 11) return 0;
    const bytes = type >= 12 ? (type - 12) >> 1 : type < 5 ? type : type === 5 ? 6 : type < 8 ? 8 : 0;
    size += bytes;
    if (column >= columns) continue;
    const action = <i32>load<u8>(ACTIONS + column);
    if (action === SKIP) continue;
    // Text where a number belongs, fractions where whole ones do.
    if (type >= 12 || (type === 7 && action !== FLOAT) || loads === MOST_LOADS) return 0;
    const into = shape + LOADS_AT + loads * LOAD_BYTES;
    loads++;
    store<i32>(into, action);
    store<i32>(into, load<i32>(PLACES + column * 4), 16);
    store<i32>(into, size, 8);
    if (type === 0 && action === GLOBAL_ID) {
      loads = putNoId(shape, loads - 1, column);
      if (loads > MOST_LOADS) return 0;
    } else if (type === 0 && column === rowIdColumn) store<i32>(into, ROW_ID, 4);
    else if (type === 0) putMissing(into, action, column);
    else if (type > 7) {
      store<i32>(into, CONSTANT, 4);
      if (action === FLOAT) store<f64>(into, <f64>(type - 8), 24);
      else store<i64>(into, <i64>(type - 8), 24);
    } else {
      store<i32>(into, type === 7 ? REAL : WHOLE, 4);
      store<i64>(into, 64 - ((<i64>bytes) << 3), 24);
    }
  }
  // Columns added to the table after this row was written.
  for (; column < columns; column++) {
    const action = <i32>load<u8>(ACTIONS + column);
    if (action === SKIP) continue;
    if (loads === MOST_LOADS) return 0;
    if (action === GLOBAL_ID) {
      loads = putNoId(shape, loads, column);
      if (loads > MOST_LOADS) return 0;
      continue;
    }
    const into = shape + LOADS_AT + loads * LOAD_BYTES;
    loads++;
    store<i32>(into, action);
    store<i32>(into, load<i32>(PLACES + column * 4), 16);
    putMissing(into, action, column);
  }
  store<i32>(shape, size, 4);
  store<i32>(shape, loads, 8);
  memory.copy(shape + HEADER_AT, position, headerBytes);
  store<i32>(shape, headerBytes);
  return shape;
}

function putMissing(into: i32, action: i32, column: i32): void {
  const missing = load<f64>(MISSING + column * 8);
  store<i32>(into, CONSTANT, 4);
  if (action === FLOAT) store<f64>(into, missing, 24);
  else store<i64>(into, <i64>missing, 24);
}

/** NULL leaves -1 in all three places of a global id. Returns how many loads there are then. */
function putNoId(shape: i32, loads: i32, column: i32): i32 {
  if (loads + 3 > MOST_LOADS) return MOST_LOADS + 1;
  for (let part = 0; part < 3; part++) {
    const into = shape + LOADS_AT + (loads + part) * LOAD_BYTES;
    store<i32>(into, INT);
    store<i32>(into, CONSTANT, 4);
    store<i32>(into, load<i32>(PLACES + column * 4) + part * PLACE_BYTES, 16);
    store<i64>(into, -1, 24);
  }
  return loads + 3;
}
