/**
 * The usual pages of a table, decoded by WebAssembly: wasm/row-scanner.ts says what it reads and what it declines, which
 * is left to the RowDecoder. Both give the same where both read. Compiled code of the latter comes too late for a small
 * file, and this is faster for a large one too.
 */
import { WasmCode } from '../wasm-code.js';
import { headerOffset, type Leaves } from './btree.js';
import type { DecodePlan } from './decode-plan.js';
import type { SqlitePages } from './pages.js';
import { rowScannerCode } from './row-scanner-code.js';

interface Exports {
  page(
    base: number,
    header: number,
    usable: number,
    rows: number,
    row: number,
    above: number,
    upTo: number,
  ): number;
  setTable(wanted: number, columns: number, idColumn: number, rowIdsAt: number, blockBytes: number): void;
  readonly ACTIONS: { readonly value: number };
  readonly OUTPUTS: { readonly value: number };
  readonly MISSING: { readonly value: number };
  readonly MAX_COLUMNS: { readonly value: number };
  readonly DOUBLE: { readonly value: number };
  readonly INTEGER: { readonly value: number };
  readonly GLOBAL_ID: { readonly value: number };
}

/** Where values begin; the program's own memory lies before (wasm/row-scanner.ts). */
const VALUES_AT = 8192;
/** Room for the values of several pages, before they go to their columns: little enough to stay in the processor's cache. */
const VALUE_BYTES = 1 << 18;
/** What a program reads beyond a page before it sees that it has gone too far. */
const SPARE_BYTES = 64;
/** Fewer rows are decoded before a program has started. */
const ROWS_WORTH_STARTING = 256;

const code = new WasmCode(rowScannerCode);
/** One program for the file: its memory holds the window of pages. None where it cannot be started. */
const programs = new WeakMap<SqlitePages, Program | undefined>();

interface Program {
  readonly exports: Exports;
  readonly buffer: ArrayBuffer;
  readonly windowAt: number;
}

function programOf(pages: SqlitePages): Program | undefined {
  if (programs.has(pages)) return programs.get(pages);
  let program: Program | undefined;
  try {
    const windowAt = VALUES_AT + VALUE_BYTES;
    const { exports, buffer } = code.start<Exports>(windowAt + pages.windowBytes + SPARE_BYTES);
    pages.readInto(new Uint8Array(buffer, windowAt, pages.windowBytes));
    program = { exports, buffer, windowAt };
  } catch {
    // Without WebAssembly the RowDecoder takes every page.
  }
  programs.set(pages, program);
  return program;
}

/** A column of values that were decoded, and the column they belong to. */
interface Output {
  readonly from: Float64Array | Int32Array;
  readonly into: { set(values: ArrayLike<number>, at: number): void };
}

export class RowScanner {
  private readonly outputs: Output[] = [];
  private readonly capacity: number;
  /** Decoded and not yet in their columns: rows from `first` on. */
  private first = 0;
  private rows = 0;

  private constructor(
    private readonly pages: SqlitePages,
    private readonly program: Program,
    plan: DecodePlan,
    columns: number,
  ) {
    const { exports, buffer } = program;
    const widths = plan.sinks.map(sink =>
      sink?.kind === 'global-id'
        ? 12
        : sink?.kind !== 'number'
          ? 0
          : sink.into instanceof Float64Array
            ? 8
            : 4,
    );
    const rowBytes = widths.reduce<number>((sum, width) => sum + width, plan.rowIds ? 8 : 0);
    // Even, so that every column begins where a double may.
    this.capacity = Math.floor(VALUE_BYTES / Math.max(1, rowBytes) / 2) * 2;
    let at = VALUES_AT;
    const block = (width: 4 | 8, into: Output['into']) => {
      const begin = at;
      at += width * this.capacity;
      const from = new (width === 8 ? Float64Array : Int32Array)(buffer, begin, this.capacity);
      this.outputs.push({ from, into });
      return begin;
    };
    const actions = new Uint8Array(buffer, exports.ACTIONS.value, columns);
    const places = new Int32Array(buffer, exports.OUTPUTS.value, columns);
    const missing = new Float64Array(buffer, exports.MISSING.value, columns);
    for (let c = 0; c < columns; c++) {
      const sink = plan.sinks[c];
      actions[c] = 0;
      if (sink?.kind === 'number') {
        const isDouble = sink.into instanceof Float64Array;
        actions[c] = isDouble ? exports.DOUBLE.value : exports.INTEGER.value;
        places[c] = block(isDouble ? 8 : 4, sink.into);
        missing[c] = sink.missing;
      } else if (sink?.kind === 'global-id') {
        actions[c] = exports.GLOBAL_ID.value;
        places[c] = block(4, sink.machine);
        block(4, sink.pid);
        block(4, sink.tid);
      }
    }
    const rowIdsAt = plan.rowIds ? block(8, plan.rowIds) : 0;
    exports.setTable(columns, plan.sinks.length, plan.rowIdColumn, rowIdsAt, this.capacity * 4);
  }

  /** Undefined where it is not worth starting, where texts are wanted, and where the processor or Node cannot do it. */
  static create(pages: SqlitePages, plan: DecodePlan, rows: number): RowScanner | undefined {
    if (rows < ROWS_WORTH_STARTING || plan.sinks.some(sink => sink?.kind === 'text')) return undefined;
    const columns = plan.sinks.findLastIndex(sink => sink !== undefined) + 1;
    const program = programOf(pages);
    if (!program || columns > program.exports.MAX_COLUMNS.value) return undefined;
    return new RowScanner(pages, program, plan, columns);
  }

  /** Decodes a page; false where it is declined, and nothing of it was decoded. */
  page(leaves: Leaves, leaf: number): boolean {
    const first = leaves.firstRow[leaf];
    const rows = leaves.firstRow[leaf + 1] - first;
    if (rows > this.capacity) return false;
    if (this.rows + rows > this.capacity || first !== this.first + this.rows) this.flush();
    if (this.rows === 0) this.first = first;
    const { exports, windowAt } = this.program;
    const base = windowAt + this.pages.locate(leaves.pages[leaf]);
    const header = base + headerOffset(leaves.pages[leaf]);
    const above = leaves.aboveRowId[leaf];
    if (!exports.page(base, header, this.pages.usableSize, rows, this.rows, above, leaves.upToRowId[leaf]))
      return false;
    this.rows += rows;
    return true;
  }

  /** Puts what was decoded into its columns. */
  flush(): void {
    if (this.rows > 0)
      for (const { from, into } of this.outputs) into.set(from.subarray(0, this.rows), this.first);
    this.rows = 0;
  }
}
