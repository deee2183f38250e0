/** A payload that spills over its page, into a chain of overflow pages, in one piece. */
import { readU32 } from './btree.js';
import type { SqlitePages } from './pages.js';

export class OverflowReader {
  private whole = new Uint8Array(0);
  private readonly spilled: Uint8Array;

  constructor(private readonly pages: SqlitePages) {
    this.spilled = new Uint8Array(pages.pageSize);
  }

  /** The part on the row's page, then the chain; valid until the next call. Undefined where the chain is not sound. */
  collect(bytes: Uint8Array, position: number, local: number, length: number): Uint8Array | undefined {
    const { pages, spilled } = this;
    // A lying length must neither allocate nor keep us walking: the file has to be able to hold it.
    if (!pages.spendOverflow(length)) return undefined;
    if (this.whole.length < length) this.whole = new Uint8Array(Math.max(length, this.whole.length * 2));
    const whole = this.whole.subarray(0, length);
    whole.set(bytes.subarray(position, position + local));
    let filled = local;
    let next = readU32(bytes, position + local);
    while (filled < length) {
      if (!pages.copy(next, spilled)) return undefined;
      const part = Math.min(length - filled, pages.usableSize - 4);
      whole.set(spilled.subarray(4, 4 + part), filled);
      filled += part;
      next = readU32(spilled, 0);
    }
    // The last page of a chain names no other: anything else is not this row's chain.
    return next === 0 ? whole : undefined;
  }
}
