/** The stacks of an export: only those of events that are read with their stacks. */
import { NONE } from '../../base/column.js';
import type { SqliteDatabase } from '../../base/sqlite/database.js';
import type { DecodeLosses } from '../../base/sqlite/decode-plan.js';
import type { ProfileBuilder } from '../../model/builder.js';
import type { TableName } from '../../model/schema.js';
import type { ImportContext } from '../importer.js';
import { idShift, readCallChains, type StackLookup } from './call-chains.js';
import type { Owners } from './owners.js';
import { PythonMarks } from './python-marks.js';
import { StackTree } from './stack-tree.js';
import type { StringIds } from './string-ids.js';
import type { StackSource } from './table-reader.js';

/** Which table holds the stacks of which events, and what must be wanted of the model for it. */
const chainTables: readonly { of: string; chains: string; model: TableName; column?: string }[] = [
  { of: 'COMPOSITE_EVENTS', chains: 'SAMPLING_CALLCHAINS', model: 'hostSamples' },
  { of: 'CUPTI_ACTIVITY_KIND_RUNTIME', chains: 'CUDA_CALLCHAINS', model: 'apiCalls', column: 'stack' },
  { of: 'OSRT_API', chains: 'OSRT_CALLCHAINS', model: 'osCalls', column: 'stack' },
];

/** Tables of the file that stacks come from. */
export const stackTables: readonly string[] = chainTables.map(({ chains }) => chains);

export class Stacks implements StackSource {
  private readonly tree = new StackTree();
  private readonly byTable = new Map<string, StackLookup>();
  private python: PythonMarks | undefined;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly builder: ProfileBuilder,
    private readonly context: ImportContext,
  ) {}

  /** Reads all stacks that are wanted. Says what of their tables could not be read. */
  read(strings: StringIds): DecodeLosses[] {
    const { database, builder, tree } = this;
    const lost: DecodeLosses[] = [];
    if (!this.isWanted('stackFrames')) return lost;
    for (const { of, chains, model, column } of chainTables) {
      if (!this.isWanted(model, column) || !database.tables.has(chains) || !database.tables.has(of)) continue;
      const { stacks, losses } = readCallChains(database, chains, strings, tree, builder);
      // A table without rows: stacks were taken out of the file as a whole, and count as not recorded.
      if (stacks.lastId !== NONE) this.byTable.set(of, stacks);
      lost.push(losses);
    }
    const marksWanted = this.isWanted('hostSamples') || this.isWanted('apiCalls', 'pythonStack');
    if (marksWanted && database.tables.get('NVTX_EVENTS')?.columns.includes('binaryData')) {
      this.python = new PythonMarks(database, strings, tree, builder);
    }
    return lost;
  }

  private isWanted(table: TableName, column?: string): boolean {
    const columns = this.context.tables?.get(table);
    if (!this.context.tables) return true;
    return columns !== undefined && (column === undefined || columns.includes(column));
  }

  /** Turns the ids that rows of a table have into stacks. Undefined when none were read. */
  resolve(table: string, ids: Float64Array, names: ArrayLike<number> | undefined): Int32Array | undefined {
    const stacks = this.byTable.get(table);
    if (!stacks) return undefined;
    const shift = names ? idShift(ids, names, stacks, this.tree, this.builder) : 0;
    if (shift === undefined) {
      const text = 'call stacks cannot be assigned to calls: their ids are ambiguous';
      this.builder.notes.add('ambiguous-stacks', 'loss', text, table, ids.length);
      return undefined;
    }
    let unexplained = 0;
    const rows = Int32Array.from(ids, id => {
      // Ids of stacks begin at 0 in CUDA's table of newer exports; elsewhere 0 means none.
      if (Number.isNaN(id) || (id + shift === 0 && stacks.firstId > 0)) return NONE;
      const row = stacks.of(id + shift);
      if (row === NONE) unexplained++;
      return row;
    });
    // Not every sample has a stack; a call that names one has.
    if (unexplained > 0 && names) {
      const text = 'calls name call stacks that are missing from the file';
      this.builder.notes.add('missing-stacks', 'loss', text, table, unexplained);
    }
    return rows;
  }

  /** Python stacks of the calls of CUDA. Undefined when none were read. */
  ofCalls(owners: Owners, thread: ArrayLike<number>, start: Float64Array, end: Float64Array) {
    return this.python?.stacksOfCalls(owners, thread, start, end);
  }

  finish(owners: Owners): void {
    if (this.isWanted('hostSamples')) this.python?.addSamples(this.builder, owners);
    this.tree.finish(this.builder);
  }
}
