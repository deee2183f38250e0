/**
 * A column of unknown length that may stay empty. Grows by whole chunks, so nothing is copied while it fills and
 * little is spare; takes no memory until the first value that is not "missing".
 */
import { type AnyArray, allocate, missingValue, type Storage } from './column.js';

const FIRST_ROWS = 1 << 7;
const MAX_ROWS = 1 << 16;

export class GrowingColumn {
  length = 0;
  private readonly full: AnyArray[] = [];
  private current: AnyArray;
  private used = 0;
  private readonly missing: number;

  constructor(readonly storage: Storage) {
    this.current = allocate(storage, 0);
    this.missing = missingValue(storage);
  }

  push(value: number): void {
    this.length++;
    if (this.used < this.current.length) this.current[this.used++] = value;
    else this.pushIntoNewChunk(value);
  }

  private pushIntoNewChunk(value: number): void {
    const nothingYet = this.current.length === 0;
    if (nothingYet && Object.is(value, this.missing)) return;
    if (!nothingYet) this.full.push(this.current);
    else if (this.length > 1) this.full.push(allocate(this.storage, this.length - 1).fill(this.missing));
    this.current = allocate(this.storage, Math.min(MAX_ROWS, Math.max(FIRST_ROWS, this.current.length * 2)));
    this.current[0] = value;
    this.used = 1;
  }

  /** The rows so far, as the arrays they lie in; none when every value was missing. Ends the column. */
  give(): AnyArray[] {
    const chunks = this.current.length === 0 ? [] : [...this.full, this.current.subarray(0, this.used)];
    this.full.length = 0;
    this.current = allocate(this.storage, 0);
    return chunks;
  }

  /** Adds rows another column gave, without copying them. */
  adopt(rows: AnyArray): void {
    if (rows.length === 0) return;
    if (this.current.length > 0) this.full.push(this.current.subarray(0, this.used));
    else if (this.length > 0) this.full.push(allocate(this.storage, this.length).fill(this.missing));
    this.current = rows;
    this.used = rows.length;
    this.length += rows.length;
  }

  /** Adds rows of a column that gave nothing, because all its values were missing. */
  adoptMissing(count: number): void {
    if (this.current.length > 0) this.adopt(allocate(this.storage, count).fill(this.missing));
    else this.length += count;
  }

  /** Everything in one array, or the rows that `order` names. Undefined when every value was missing. Ends the column. */
  finish(order?: Int32Array): AnyArray | undefined {
    if (this.current.length === 0) return undefined;
    const cells = this.finishAll();
    if (!order) return cells;
    const ordered = allocate(this.storage, order.length);
    for (let i = 0; i < order.length; i++) ordered[i] = cells[order[i]];
    return ordered;
  }

  /** Everything in one array, also when every value was missing. Ends the column. */
  finishAll(): AnyArray {
    const cells = allocate(this.storage, this.length);
    if (this.current.length === 0) return cells.fill(this.missing);
    let row = 0;
    for (const chunk of this.full) {
      cells.set(chunk, row);
      row += chunk.length;
    }
    cells.set(this.current.subarray(0, this.used), row);
    this.full.length = 0;
    this.current = allocate(this.storage, 0);
    return cells;
  }
}
