/**
 * Ties kernels and API calls to the framework op behind them: both carry the op's external id.
 * Several ranks in one file number their ops alike, so the process counts too.
 */
import { NONE } from '../../../base/column.js';
import type { ProfileBuilder, RawTable } from '../../../model/builder.js';

export class OpLinks {
  private readonly slots: Int32Array;
  private readonly ids: ArrayLike<number>;
  private readonly threads: ArrayLike<number>;
  private readonly processOf: Int32Array;

  /** `ops` sorted as they will stay, threads resolved. */
  constructor(builder: ProfileBuilder, ops: RawTable, length: number) {
    this.processOf = Int32Array.from(builder.threads, thread => thread.process);
    this.ids = ops.externalId ?? [];
    this.threads = ops.thread ?? [];
    let size = 64;
    while (size < length * 2) size *= 2;
    this.slots = new Int32Array(this.ids.length === 0 ? 0 : size);
    for (let row = 0; row < this.ids.length; row++) {
      const id = this.ids[row];
      if (Number.isNaN(id)) continue;
      let slot = hash(id) & (size - 1);
      while (this.slots[slot] !== 0 && !this.same(this.slots[slot] - 1, id, this.process(row)))
        slot = (slot + 1) & (size - 1);
      // The first op with an id keeps it: later ones are repeats of a damaged or merged file.
      if (this.slots[slot] === 0) this.slots[slot] = row + 1;
    }
  }

  /** Turns the table's external ids into rows of ops, in its `op` column. */
  fill(table: RawTable, length: number, processOf: (row: number) => number): void {
    const ids = table.externalId;
    delete table.externalId;
    if (!ids || this.slots.length === 0) return;
    const op = new Int32Array(length).fill(NONE);
    for (let row = 0; row < length; row++)
      if (!Number.isNaN(ids[row])) op[row] = this.find(ids[row], processOf(row));
    table.op = op;
  }

  private find(id: number, process: number): number {
    const mask = this.slots.length - 1;
    for (let slot = hash(id) & mask; this.slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.same(this.slots[slot] - 1, id, process)) return this.slots[slot] - 1;
    }
    return NONE;
  }

  private same(row: number, id: number, process: number): boolean {
    return this.ids[row] === id && this.process(row) === process;
  }

  private process(row: number): number {
    return this.processOf[this.threads[row]];
  }
}

function hash(id: number): number {
  const mixed = Math.imul(id | 0, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
