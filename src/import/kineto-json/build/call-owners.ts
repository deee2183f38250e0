/**
 * Which process made the API call of a correlation id, for files that hold calls of several processes. Each process
 * counts its ids from 1, so two may have used the same one: then the last call before the work is its launch.
 */
import { lowerBound, upperBound } from '../../../base/bisect.js';
import { NONE } from '../../../base/column.js';
import type { NoteCounter } from '../../../base/notes.js';
import type { RawTable } from '../../../model/builder.js';

export class CallOwners {
  private readonly callsOf = new Map<number, number[]>();
  private readonly shared = new Map<number, boolean>();

  /** `calls` sorted by start, with threads that are resolved before the first question. */
  constructor(
    private readonly calls: RawTable,
    private readonly processOfThread: (thread: number) => number,
    private readonly notes: NoteCounter,
  ) {
    const { correlation } = calls;
    for (let row = 0; row < (correlation?.length ?? 0); row++) {
      if (correlation[row] === 0) continue;
      const known = this.callsOf.get(correlation[row]);
      if (known) known.push(row);
      else this.callsOf.set(correlation[row], [row]);
    }
  }

  /** The process behind work of this correlation that started then; NONE when no call has the id. */
  of(correlation: number, start: number): number {
    const rows = this.callsOf.get(correlation);
    if (!rows) return NONE;
    if (this.isShared(correlation, rows)) {
      const text =
        'GPU events have a correlation ID used by several processes; each is assigned to the last call before it';
      this.notes.add('ambiguous-launch', 'warning', text, `correlation ${correlation}`);
    }
    const later = upperBound(this.calls.start, start);
    return this.owner(rows[Math.max(0, lowerBound(rows, later) - 1)]);
  }

  private isShared(correlation: number, rows: readonly number[]): boolean {
    let shared = this.shared.get(correlation);
    if (shared === undefined) {
      shared = rows.some(row => this.owner(row) !== this.owner(rows[0]));
      this.shared.set(correlation, shared);
    }
    return shared;
  }

  private owner(row: number): number {
    return this.processOfThread(this.calls.thread[row]);
  }
}
