/**
 * Decodes the rows of leaf pages straight into typed arrays: no row objects, no strings, no SQL.
 *
 * Everything here can run in a worker: a plan is typed arrays and numbers, except for text, which the caller
 * takes as bytes.
 */
import type { AnyArray } from '../column.js';
import {
  headerOffset,
  isFilledBy,
  type Leaves,
  MIN_CELL_BYTES,
  maxCells,
  readU32,
  readVarint,
} from './btree.js';
import type { DecodeLosses, DecodePlan, Sink } from './decode-plan.js';
import { OverflowReader } from './overflow.js';
import type { SqlitePages } from './pages.js';
import { localBytes, valueSizes, valuesFill } from './record-sizes.js';
import { RowScanner } from './row-scanner.js';

// An imported constant would be loaded anew at every use.
const SIZE = valueSizes;
/** One code per kind of array, so that each store in the hot loop sees a single type. */
const FLOAT = 1;
const INT = 2;
const OTHER = 3;
const GLOBAL_ID = 4;
const TEXT = 5;
const NO_FLOATS = new Float64Array(0);
const NO_INTS = new Int32Array(0);

/** Decodes leaves[from .. to) into the plan's arrays; row numbers follow leaves.firstRow. */
export function decodeLeaves(
  pages: SqlitePages,
  leaves: Leaves,
  plan: DecodePlan,
  from = 0,
  to = leaves.pages.length,
): DecodeLosses {
  const decoder = new RowDecoder(pages, plan);
  const scanner = RowScanner.create(pages, plan, leaves.firstRow[to] - leaves.firstRow[from]);
  const badRows: number[] = [];
  for (let leaf = from; leaf < to; leaf++)
    if (!scanner?.page(leaves, leaf)) decoder.page(leaves, leaf, badRows);
  scanner?.flush();
  return { badRows, oddPages: decoder.oddPages, misfits: decoder.misfits };
}

/** What is read from an array of doubles stays one until it is compiled: a small file is done before that. */
const asInteger = (value: number): number => ((value | 0) === value ? value | 0 : value);

class RowDecoder {
  private readonly columns: number;
  private readonly actions: Uint8Array;
  private readonly floats: Float64Array[] = [];
  private readonly ints: Int32Array[] = [];
  private readonly others: AnyArray[] = [];
  private readonly missing: Float64Array;
  private readonly float = new DataView(new ArrayBuffer(8));
  private readonly overflow: OverflowReader;
  private lastRowId = 0;
  private upToRowId = 0;
  /** Bytes of the page that no row has taken yet: cells that overlap are not rows. */
  private roomLeft = 0;
  misfits = 0;
  oddPages = 0;

  constructor(
    private readonly pages: SqlitePages,
    private readonly plan: DecodePlan,
  ) {
    // Columns after the last wanted one need no look at all.
    let last = plan.sinks.length;
    while (last > 0 && plan.sinks[last - 1] === undefined) last--;
    this.columns = last;
    this.actions = new Uint8Array(last);
    this.missing = new Float64Array(last);
    this.overflow = new OverflowReader(pages);
    for (let c = 0; c < last; c++) {
      const sink = plan.sinks[c];
      if (!sink) continue;
      this.floats[c] = NO_FLOATS;
      this.ints[c] = NO_INTS;
      if (sink.kind === 'text') this.actions[c] = TEXT;
      else if (sink.kind === 'global-id') this.actions[c] = GLOBAL_ID;
      else if (sink.into instanceof Float64Array) {
        this.actions[c] = FLOAT;
        this.floats[c] = sink.into;
      } else if (sink.into instanceof Int32Array) {
        this.actions[c] = INT;
        this.ints[c] = sink.into;
      } else {
        this.actions[c] = OTHER;
        this.others[c] = sink.into;
      }
      this.missing[c] = sink.kind === 'number' ? sink.missing : -1;
    }
  }

  page(leaves: Leaves, leaf: number, bad: number[]): void {
    const { pages } = this;
    const page = leaves.pages[leaf];
    const firstRow = asInteger(leaves.firstRow[leaf]);
    const endRow = asInteger(leaves.firstRow[leaf + 1]);
    const base = pages.locate(page);
    const bytes = pages.bytes;
    const at = base + headerOffset(page);
    let cells = (bytes[at + 3] << 8) | bytes[at + 4];
    if (bytes[at] !== 13 || cells > maxCells(pages)) cells = 0;
    const count = Math.min(cells, endRow - firstRow);
    const first = at + 8 + cells * 2;
    const limit = base + pages.usableSize;
    this.lastRowId = leaves.aboveRowId[leaf];
    this.upToRowId = leaves.upToRowId[leaf];
    const room = limit - first;
    const badBefore = bad.length;
    this.roomLeft = room;
    for (let cell = 0; cell < count; cell++) {
      const pointer = at + 8 + cell * 2;
      const position = base + ((bytes[pointer] << 8) | bytes[pointer + 1]);
      if (position < first || position >= limit || !this.row(bytes, position, limit, firstRow + cell)) {
        this.blank(firstRow + cell);
        bad.push(firstRow + cell);
      }
    }
    for (let row = firstRow + count; row < endRow; row++) {
      this.blank(row);
      bad.push(row);
    }
    if (bad.length === badBefore && !isFilledBy(bytes, base, at, pages.usableSize, room - this.roomLeft))
      this.oddPages++;
  }

  private row(bytes: Uint8Array, cell: number, limit: number, row: number): boolean {
    let position = cell;
    // Payload length.
    let b = bytes[position++];
    let length = b & 0x7f;
    while (b >= 0x80) {
      if (position >= limit || length > 0xffffff) return false;
      b = bytes[position++];
      length = length * 128 + (b & 0x7f);
    }
    // Row id: up to nine bytes, and negative when it takes all nine.
    const idAt = position;
    b = bytes[position++];
    let rowId = b & 0x7f;
    for (let n = 1; b >= 0x80; n++) {
      if (position >= limit) return false;
      b = bytes[position++];
      if (n === 8) {
        rowId = readVarint(bytes, idAt);
        break;
      }
      rowId = rowId * 128 + (b & 0x7f);
    }
    // Ids rise from row to row; beyond exact doubles neighbours may look alike.
    if (rowId > this.upToRowId || rowId < this.lastRowId) return false;
    if (rowId === this.lastRowId && Number.isSafeInteger(rowId)) return false;
    let fine: boolean;
    let end = position + length;
    if (length > this.pages.usableSize - 35) {
      const local = localBytes(length, this.pages.usableSize);
      end = position + local + 4;
      if (end > limit || end - cell > this.roomLeft) return false;
      const whole = this.overflow.collect(bytes, position, local, length);
      fine = whole !== undefined && this.record(whole, 0, length, row, rowId);
    } else {
      if (end > limit || end - cell > this.roomLeft) return false;
      fine = this.record(bytes, position, end, row, rowId);
    }
    if (!fine) return false;
    this.roomLeft -= Math.max(MIN_CELL_BYTES, end - cell);
    this.lastRowId = rowId;
    return true;
  }

  private record(bytes: Uint8Array, position: number, end: number, row: number, rowId: number): boolean {
    let b = bytes[position];
    let headerEnd = position;
    let h = position + 1;
    if (b < 0x80) headerEnd += b;
    else {
      let headerLength = b & 0x7f;
      while (b >= 0x80) {
        if (h >= end) return false;
        b = bytes[h++];
        headerLength = headerLength * 128 + (b & 0x7f);
      }
      headerEnd += headerLength;
    }
    if (headerEnd > end || headerEnd < h) return false;
    let body = headerEnd;
    const { columns, actions, floats, ints, missing } = this;
    if (this.plan.rowIds) this.plan.rowIds[row] = rowId;
    for (let c = 0; c < columns; c++) {
      if (h >= headerEnd) {
        // Columns added to the table after this row was written. What is left of the record is no one's value.
        this.blankFrom(c, row);
        return body === end;
      }
      let type = bytes[h++];
      if (type >= 0x80) {
        let value = type & 0x7f;
        while (type >= 0x80) {
          if (h >= headerEnd || value > 0xffffff) return false;
          type = bytes[h++];
          value = value * 128 + (type & 0x7f);
        }
        type = value;
      }
      const size = type < 128 ? SIZE[type] : (type - 12) >> 1;
      if (body + size > end || type === 10 || type === 11) return false;
      const action = actions[c];
      if (action === 0) {
        body += size;
        continue;
      }
      if (action <= OTHER) {
        let value: number;
        switch (type) {
          case 0:
            value = c === this.plan.rowIdColumn ? rowId : missing[c];
            break;
          case 1:
            value = (bytes[body] << 24) >> 24;
            break;
          case 2:
            value = ((bytes[body] << 24) >> 16) | bytes[body + 1];
            break;
          case 3:
            value = ((bytes[body] << 24) >> 8) | (bytes[body + 1] << 8) | bytes[body + 2];
            break;
          case 4:
            value = (bytes[body] << 24) | (bytes[body + 1] << 16) | (bytes[body + 2] << 8) | bytes[body + 3];
            break;
          case 5:
            value =
              (((bytes[body] << 24) >> 16) | bytes[body + 1]) * 4294967296 +
              (((bytes[body + 2] << 24) |
                (bytes[body + 3] << 16) |
                (bytes[body + 4] << 8) |
                bytes[body + 5]) >>>
                0);
            break;
          case 6:
            value =
              ((bytes[body] << 24) | (bytes[body + 1] << 16) | (bytes[body + 2] << 8) | bytes[body + 3]) *
                4294967296 +
              readU32(bytes, body + 4);
            break;
          case 7:
            for (let i = 0; i < 8; i++) this.float.setUint8(i, bytes[body + i]);
            value = this.float.getFloat64(0);
            if (!Number.isFinite(value)) {
              value = missing[c];
              this.misfits++;
            }
            break;
          case 8:
            value = 0;
            break;
          case 9:
            value = 1;
            break;
          default:
            // Text where a number belongs.
            value = missing[c];
            this.misfits++;
        }
        if (action === FLOAT) floats[c][row] = value;
        else {
          // Whole numbers, whose arrays would wrap or cut what does not fit.
          if (type > 4 && type < 8) value = this.fitting(value, c);
          if (action === INT) ints[c][row] = value;
          else this.others[c][row] = value;
        }
      } else if (action === GLOBAL_ID) this.globalId(c, type, bytes, body, row);
      else if (action === TEXT) {
        const sink = this.plan.sinks[c] as Extract<Sink, { kind: 'text' }>;
        // Odd types from 13 on are text, even ones are blobs.
        const isText = type >= 12 && (type % 2 === 1 || sink.blobs === true);
        sink.into[row] = isText ? sink.take(bytes, body, body + size) : -1;
        if (!isText && type !== 0) this.misfits++;
      }
      body += size;
    }
    return valuesFill(bytes, h, headerEnd, body, end, this.plan.sinks.length - columns);
  }

  /** An array of 32 bits keeps the low bits of anything; what was meant to be another number must not become one. */
  private fitting(value: number, c: number): number {
    // What is not finite was counted where it was read.
    if (Number.isNaN(value) || value === this.missing[c]) return this.missing[c];
    if (!Number.isInteger(value)) {
      this.misfits++;
      return this.missing[c];
    }
    if (value >= -(2 ** 31) && value < 2 ** 32) return value;
    this.misfits++;
    return this.missing[c];
  }

  private globalId(c: number, type: number, bytes: Uint8Array, body: number, row: number): void {
    const sink = this.plan.sinks[c] as Extract<Sink, { kind: 'global-id' }>;
    if (type === 0 || type > 9 || type === 7) {
      sink.machine[row] = -1;
      sink.pid[row] = -1;
      sink.tid[row] = -1;
      if (type !== 0) this.misfits++;
      return;
    }
    let high: number;
    let low: number;
    if (type === 6) {
      high = readU32(bytes, body) | 0;
      low = readU32(bytes, body + 4) | 0;
    } else if (type === 5) {
      high = ((bytes[body] << 24) >> 16) | bytes[body + 1];
      low = readU32(bytes, body + 2) | 0;
    } else {
      // Sign-extended like any SQLite integer: a short value is a small one.
      const size = SIZE[type];
      low = type === 9 ? 1 : 0;
      if (size > 0 && bytes[body] >= 0x80) low = -1;
      for (let i = 0; i < size; i++) low = (low << 8) | bytes[body + i];
      high = low < 0 ? -1 : 0;
    }
    sink.machine[row] = high >>> 16;
    sink.pid[row] = ((high & 0xffff) << 8) | (low >>> 24);
    sink.tid[row] = low & 0xffffff;
  }

  private blank(row: number): void {
    if (this.plan.rowIds) this.plan.rowIds[row] = -1;
    this.blankFrom(0, row);
  }

  private blankFrom(column: number, row: number): void {
    for (let c = column; c < this.columns; c++) {
      const sink = this.plan.sinks[c];
      if (!sink) continue;
      if (sink.kind === 'global-id') {
        sink.machine[row] = -1;
        sink.pid[row] = -1;
        sink.tid[row] = -1;
      } else sink.into[row] = this.missing[c];
    }
  }
}
