/**
 * `…_CALLCHAINS`: one row per function of a stack, `stackDepth` 0 innermost. A long capture has a hundred million of
 * them, so they are folded into the tree page by page and never held.
 *
 * Who has a stack says so by its id: COMPOSITE_EVENTS.id, OSRT_API.callchainId (0: none) and
 * CUPTI_ACTIVITY_KIND_RUNTIME.callchainId (NULL: none), which counts from 0. The ids of its stacks do so too in exports
 * of 2025, but begin at 1 in those of 2022.
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { isSorted, orderBy } from '../../base/order.js';
import { maxCells, singleLeaf } from '../../base/sqlite/btree.js';
import type { SqliteDatabase } from '../../base/sqlite/database.js';
import { decodeLeaves } from '../../base/sqlite/decode-leaves.js';
import type { DecodeLosses, Sink } from '../../base/sqlite/decode-plan.js';
import type { ProfileBuilder } from '../../model/builder.js';
import { FrameKind } from '../../model/schema.js';
import type { StackFrame, StackTree } from './stack-tree.js';
import type { StringIds } from './string-ids.js';

const wanted = ['id', 'symbol', 'module', 'kernelMode', 'unresolved', 'specialEntry', 'stackDepth'] as const;
type Cells = Record<(typeof wanted)[number], Float64Array>;

/** The stacks of one table of the file, by their ids. */
export interface StackLookup {
  /** Row of the tree, or NONE for an id the file does not explain. */
  of(id: number): number;
  readonly firstId: number;
  readonly lastId: number;
}

export function readCallChains(
  database: SqliteDatabase,
  tableName: string,
  strings: StringIds,
  tree: StackTree,
  builder: ProfileBuilder,
): { stacks: StackLookup; losses: DecodeLosses } {
  const table = database.tables.get(tableName)!;
  const leaves = database.leaves(table);
  const most = Math.min(leaves.rows, maxCells(database.pages));
  const cells = Object.fromEntries(
    wanted.map(column => [column, new Float64Array(most).fill(Number.NaN)]),
  ) as Cells;
  const sinks = table.columns.map((column): Sink | undefined =>
    column in cells ? { kind: 'number', into: cells[column as keyof Cells], missing: Number.NaN } : undefined,
  );
  const chains = new Chains(tree);
  const library = libraryNames(strings, builder);
  const losses = { badRows: [] as number[], oddPages: 0, misfits: 0 };
  let unnamed = 0;
  for (let leaf = 0; leaf < leaves.pages.length; leaf++) {
    const one = singleLeaf(leaves, leaf);
    const lost = decodeLeaves(database.pages, one, { sinks, rowIdColumn: table.rowIdColumn });
    for (const row of lost.badRows) losses.badRows.push(leaves.firstRow[leaf] + row);
    losses.oddPages += lost.oddPages;
    losses.misfits += lost.misfits;
    for (let row = 0; row < one.rows; row++) {
      const name = strings.resolve(cells.symbol[row]);
      if (name === NONE && !Number.isNaN(cells.id[row])) unnamed++;
      const kind = kindOf(cells, row);
      chains.add(cells.id[row], cells.stackDepth[row], {
        name,
        module: library(cells.module[row]),
        kind: name === NONE ? FrameKind.unresolved : kind,
        line: NONE,
      });
    }
  }
  if (unnamed > 0) {
    const text = 'names are missing from the file; their rows are counted with empty names';
    builder.notes.add('missing-names', 'loss', text, `${tableName}.symbol`, unnamed);
  }
  const stacks = chains.finish();
  if (chains.misplaced > losses.badRows.length) {
    const text = 'rows of call stacks without an id or a depth, or apart from their stack, were left out';
    builder.notes.add('stack-rows', 'loss', text, tableName, chains.misplaced - losses.badRows.length);
  }
  return { stacks, losses };
}

/** Libraries by their file names: folders say where somebody installed them. */
function libraryNames(strings: StringIds, builder: ProfileBuilder): (fileId: number) => number {
  const known = new Map<number, number>();
  return fileId => {
    let id = known.get(fileId);
    if (id === undefined) {
      const name = strings.text(fileId).split('/').pop()!;
      id = name === '' ? NONE : builder.strings.intern(name);
      known.set(fileId, id);
    }
    return id;
  };
}

function kindOf(cells: Cells, row: number): number {
  if (cells.kernelMode[row] > 0) return FrameKind.kernelMode;
  if (cells.specialEntry[row] > 0) return FrameKind.artificial;
  return cells.unresolved[row] > 0 ? FrameKind.unresolved : FrameKind.native;
}

/** Rows of one stack follow each other in the file; a stack is added to the tree when the next one begins. */
class Chains {
  private readonly ids = new GrowingColumn('f64');
  private readonly rows = new GrowingColumn('i32');
  private id = Number.NaN;
  private frames: { depth: number; frame: StackFrame }[] = [];
  misplaced = 0;

  constructor(private readonly tree: StackTree) {}

  add(id: number, depth: number, frame: StackFrame): void {
    if (!Number.isSafeInteger(id) || !(depth >= 0)) {
      this.misplaced++;
      return;
    }
    if (id !== this.id) this.close();
    this.id = id;
    this.frames.push({ depth, frame });
  }

  private close(): void {
    const { frames } = this;
    if (frames.length === 0) return;
    if (frames.some(({ depth }, i) => i > 0 && depth < frames[i - 1].depth))
      frames.sort((a, b) => a.depth - b.depth);
    this.ids.push(this.id);
    this.rows.push(this.tree.add(frames.map(({ frame }) => frame)));
    this.frames = [];
  }

  finish(): StackLookup {
    this.close();
    let ids = this.ids.finishAll() as Float64Array;
    let rows = this.rows.finishAll() as Int32Array;
    if (!isSorted(ids)) {
      const order = orderBy(ids);
      ids = Float64Array.from(order, at => ids[at]);
      rows = Int32Array.from(order, at => rows[at]);
    }
    // A second stack of one id is a part of the first that stands elsewhere: the first is taken.
    for (let i = 1; i < ids.length; i++) if (ids[i] === ids[i - 1]) this.misplaced++;
    return {
      of(id) {
        const at = lowerBound(ids, id);
        return ids[at] === id ? rows[at] : NONE;
      },
      firstId: ids[0] ?? NONE,
      lastId: ids.at(-1) ?? NONE,
    };
  }
}

/**
 * What to add to a call's id to get that of its stack, 0 or 1: judged by where the calls find themselves on their
 * stacks. Undefined when that does not decide.
 */
export function idShift(
  ids: Float64Array,
  names: ArrayLike<number>,
  stacks: StackLookup,
  tree: StackTree,
  builder: ProfileBuilder,
): 0 | 1 | undefined {
  let highest = 0;
  let hasZero = false;
  for (const id of ids) {
    if (id > highest) highest = id;
    if (id === 0) hasZero = true;
  }
  if (!hasZero || highest !== stacks.lastId - 1 || stacks.firstId !== 1) return 0;
  const found = [0, 0];
  for (let row = 0; row < ids.length; row++) {
    if (Number.isNaN(ids[row])) continue;
    const name = functionName(builder.strings.text(names[row]));
    for (const shift of [0, 1])
      for (const frame of tree.namesOn(stacks.of(ids[row] + shift)))
        if (functionName(builder.strings.text(frame)) === name) {
          found[shift]++;
          break;
        }
  }
  if (found[0] === found[1]) return undefined;
  return found[0] > found[1] ? 0 : 1;
}

/** Without the version that CUDA's headers and the linker put behind it. */
const functionName = (text: string): string => text.replace(/@.*$|_v\d+$|_ptsz$|_ptds$/g, '');
