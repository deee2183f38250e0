/**
 * Gaps of a device in pieces of one cause, as columns that are filled anew for every window: there may be millions of
 * pieces, and a function called for each of them costs more than what it does.
 */
import { NONE } from '../../base/column.js';

const FIRST_ROOM = 256;

/** Pieces of a gap follow each other without a hole, from its begin to its end; gaps are in order of time. */
export class IdlePieces {
  length = 0;
  /** By piece: index of its cause, begin and end. */
  cause = new Uint8Array(FIRST_ROOM);
  start = new Float64Array(FIRST_ROOM);
  end = new Float64Array(FIRST_ROOM);
  gaps = 0;
  /** By gap: its first piece, and the work that ends it or NONE. */
  private first = new Int32Array(FIRST_ROOM);
  private nexts = new Int32Array(FIRST_ROOM);

  clear(): void {
    this.length = 0;
    this.gaps = 0;
  }

  openGap(next: number): void {
    if (this.gaps === this.first.length) {
      this.first = larger(this.first, new Int32Array(2 * this.gaps));
      this.nexts = larger(this.nexts, new Int32Array(2 * this.gaps));
    }
    this.first[this.gaps] = this.length;
    this.nexts[this.gaps++] = next;
  }

  /** To the gap opened last. */
  add(cause: number, start: number, end: number): void {
    if (this.length === this.cause.length) this.makeRoom();
    this.cause[this.length] = cause;
    this.start[this.length] = start;
    this.end[this.length++] = end;
  }

  firstOf(gap: number): number {
    return gap < this.gaps ? this.first[gap] : this.length;
  }

  /** The work that ends a gap, or NONE. */
  nextOf(gap: number): number {
    return gap < this.gaps ? this.nexts[gap] : NONE;
  }

  private makeRoom(): void {
    this.cause = larger(this.cause, new Uint8Array(2 * this.length));
    this.start = larger(this.start, new Float64Array(2 * this.length));
    this.end = larger(this.end, new Float64Array(2 * this.length));
  }
}

function larger<Cells extends { set(from: Cells): void }>(from: Cells, into: Cells): Cells {
  into.set(from);
  return into;
}
