/**
 * Call stacks as one tree: samples of a loop share nearly all their callers, so millions of stacks become a few
 * thousand rows. Bounded, because a stranger's file may hold any number of different stacks.
 *
 *   main ─┬─ step ─┬─ sample      a stack is the row of its innermost function
 *         │        └─ forward
 *         └─ poll
 */
import { NONE } from '../../base/column.js';
import { TupleIndex } from '../../base/tuple-index.js';
import type { ProfileBuilder, RawTable } from '../../model/builder.js';
import { FrameKind } from '../../model/schema.js';

/** Frames kept of one stack, the innermost. Deeper ones are recursion, or a walk that lost its way. */
const MAX_DEPTH = 256;
/** Rows of the tree: about 100 bytes each while it grows. */
const MAX_ROWS = 2_000_000;

/** One function on a stack; texts are ids of the Profile. */
export interface StackFrame {
  readonly name: number;
  readonly module: number;
  readonly kind: number;
  readonly line: number;
}

export class StackTree {
  private readonly frames = new TupleIndex();
  private readonly rows = new TupleIndex();
  private deepStacks = 0;
  private deepFrames = 0;
  private fullStacks = 0;

  constructor(
    private readonly maxDepth = MAX_DEPTH,
    private readonly maxRows = MAX_ROWS,
  ) {}

  /** The row of a stack given from the innermost function outwards; NONE for an empty one. */
  add(stack: readonly StackFrame[]): number {
    let outermost = stack.length - 1;
    if (stack.length > this.maxDepth) {
      this.deepStacks++;
      this.deepFrames += stack.length - this.maxDepth;
      outermost = this.maxDepth - 1;
    }
    let row: number = NONE;
    for (let depth = outermost; depth >= 0; depth--) {
      const { name, module, kind, line } = stack[depth];
      // Addresses without a name say nothing: a run of them in one library is one row.
      const isUnnamed = kind === FrameKind.unresolved;
      const frame = this.frames.intern(isUnnamed ? NONE : name, module, kind, line);
      if (isUnnamed && row !== NONE && this.rows.part(row, 1) === frame) continue;
      const before = this.rows.length;
      if (before >= this.maxRows && !this.rows.has(row, frame)) {
        this.fullStacks++;
        return row;
      }
      row = this.rows.intern(row, frame);
    }
    return row;
  }

  /** Names of the functions on a stack, from the innermost outwards, as ids of the Profile. */
  *namesOn(stack: number): Generator<number> {
    for (let row = stack; row !== NONE; row = this.rows.part(row, 0))
      yield this.frames.part(this.rows.part(row, 1), 0);
  }

  /** Hands the tree to the builder, and notes what was left out of it. */
  finish(builder: ProfileBuilder): void {
    const { frames, rows } = this;
    const columns: RawTable = {
      parent: new Int32Array(rows.length),
      name: new Int32Array(rows.length),
      module: new Int32Array(rows.length),
      kind: new Uint8Array(rows.length),
      line: new Int32Array(rows.length),
    };
    for (let row = 0; row < rows.length; row++) {
      const frame = rows.part(row, 1);
      columns.parent[row] = rows.part(row, 0);
      columns.name[row] = frames.part(frame, 0);
      columns.module[row] = frames.part(frame, 1);
      columns.kind[row] = frames.part(frame, 2);
      columns.line[row] = frames.part(frame, 3);
    }
    if (this.deepStacks > 0) {
      const text = `call stacks are deeper than ${this.maxDepth} functions; their outermost ones were left out`;
      builder.notes.add('deep-stacks', 'loss', text, `${this.deepFrames} functions`, this.deepStacks);
    }
    if (this.fullStacks > 0) {
      const text = `call stacks are truncated: the file has more than ${this.maxRows} different ones`;
      builder.notes.add('many-stacks', 'loss', text, '', this.fullStacks);
    }
    builder.addTable('stackFrames', columns, rows.length);
  }
}
