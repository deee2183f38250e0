/**
 * The usual rows of a table, decoded by WebAssembly: wasm/row-scanner.ts says what it decodes and what it declines, which
 * is left to decode.ts. Both give the same where both decode.
 */
import { type AnyArray, NONE } from '../column.js';
import { instantiate } from '../wasm.js';
import { headerOffset, isFilledBy, type Leaves, maxCells } from './btree.js';
import { compactPart, type WideCells, type WidthOf } from './compact-parts.js';
import type { CompactPart, DecodePlan } from './decode-plan.js';
import type { SqlitePages } from './pages.js';
import { rowScannerCode } from './row-scanner-code.js';

type Constants = Record<
  | 'ACTIONS'
  | 'PLACES'
  | 'MISSING'
  | 'MOST_COLUMNS'
  | 'FLOAT'
  | 'INT'
  | 'SHORT'
  | 'BYTE'
  | 'GLOBAL_ID'
  | 'INPUT'
  | 'ROOM'
  | 'PLACE_BYTES',
  { readonly value: number }
>;
interface Exports extends Constants {
  begin(columns: number, allColumns: number, rowIdColumn: number, usableSize: number): void;
  page(
    base: number,
    header: number,
    cells: number,
    row: number,
    aboveRowId: number,
    upToRowId: number,
  ): number;
  width(place: number, count: number): number;
}

/** Zeros behind the bytes: headers are compared eight bytes at a time. */
const SPARE_BYTES = 64;
/** Columns that can be decoded at once; a global id is three. */
const MOST_PLACES = 48;

/** Where the cells of a column are written, and where they belong. */
interface Place {
  readonly cells: AnyArray;
  /** Absent where they are kept in parts. */
  readonly into?: AnyArray;
}

const scanners = new WeakMap<SqlitePages, RowScanner | null>();

export class RowScanner {
  private places: Place[] = [];
  private compact: WideCells[] = [];
  private parts: CompactPart[] = [];
  /** Rows that are written and not yet taken: the first one, and how many. */
  private first = 0;
  private count = 0;
  /** Every number is looked at: the module does so many at a time. */
  private readonly widthOf: WidthOf = ({ byteOffset }, count) =>
    this.exports.width(byteOffset, count) as ReturnType<WidthOf>;

  private constructor(
    private readonly pages: SqlitePages,
    private readonly exports: Exports,
    private readonly buffer: ArrayBuffer,
    private readonly cellsAt: number,
  ) {}

  /** Undefined where WebAssembly is missing, or where the plan wants more than it knows. */
  static for(pages: SqlitePages, plan: DecodePlan): RowScanner | undefined {
    let scanner = scanners.get(pages);
    if (scanner === undefined) {
      scanner = RowScanner.create(pages);
      scanners.set(pages, scanner);
    }
    return scanner?.begin(plan) ? scanner : undefined;
  }

  private static create(pages: SqlitePages): RowScanner | null {
    try {
      const windowBytes = pages.bytes.length;
      // The layout is known to the module alone; the smallest instance tells it.
      const { INPUT, PLACE_BYTES } = instantiate<Exports>(rowScannerCode, 1).exports;
      const cellsAt = Math.ceil((INPUT.value + windowBytes + SPARE_BYTES) / 8) * 8;
      const { exports, buffer } = instantiate<Exports>(
        rowScannerCode,
        cellsAt + MOST_PLACES * PLACE_BYTES.value,
      );
      pages.moveWindow(new Uint8Array(buffer, INPUT.value, windowBytes));
      return new RowScanner(pages, exports, buffer, cellsAt);
    } catch {
      return null;
    }
  }

  private begin({ sinks, rowIds, rowIdColumn }: DecodePlan): boolean {
    const { exports, buffer, cellsAt } = this;
    const { ACTIONS, PLACES, MISSING, MOST_COLUMNS, ROOM, PLACE_BYTES, GLOBAL_ID, INT, FLOAT } = exports;
    let last = sinks.length;
    while (last > 0 && sinks[last - 1] === undefined) last--;
    if (rowIds || last > MOST_COLUMNS.value) return false;
    const actions = new Uint8Array(buffer, ACTIONS.value, last).fill(0);
    const placeOf = new Int32Array(buffer, PLACES.value, last);
    const missing = new Float64Array(buffer, MISSING.value, last);
    this.places = [];
    this.compact = [];
    this.parts = [];
    const addPlace = (into?: AnyArray, isReal = false): number => {
      const at = cellsAt + this.places.length * PLACE_BYTES.value;
      const Cells = (into?.constructor ?? (isReal ? Float64Array : Int32Array)) as new (
        buffer: ArrayBuffer,
        at: number,
        length: number,
      ) => AnyArray;
      const cells = new Cells(buffer, at, ROOM.value);
      this.places.push({ cells, into });
      if (!into) this.compact.push(cells as WideCells);
      return at;
    };
    for (let column = 0; column < last; column++) {
      const sink = sinks[column];
      if (!sink) continue;
      if (sink.kind === 'text' || this.places.length + 3 > MOST_PLACES) return false;
      if (sink.kind === 'global-id') {
        actions[column] = GLOBAL_ID.value;
        placeOf[column] = addPlace(sink.machine);
        addPlace(sink.pid);
        addPlace(sink.tid);
      } else if (sink.kind === 'compact-id') {
        actions[column] = GLOBAL_ID.value;
        placeOf[column] = addPlace();
        addPlace();
        addPlace();
      } else if (sink.kind === 'compact') {
        actions[column] = (sink.isReal ? FLOAT : INT).value;
        placeOf[column] = addPlace(undefined, sink.isReal);
        missing[column] = sink.isReal ? Number.NaN : NONE;
      } else {
        const action = this.actionFor(sink.into);
        actions[column] = action;
        placeOf[column] = addPlace(sink.into);
        missing[column] = sink.into instanceof Float64Array ? sink.missing : Math.trunc(sink.missing) || 0;
      }
    }
    exports.begin(last, sinks.length, rowIdColumn, this.pages.usableSize);
    this.count = 0;
    return true;
  }

  private actionFor(cells: AnyArray): number {
    const { FLOAT, INT, SHORT, BYTE } = this.exports;
    if (cells instanceof Float64Array) return FLOAT.value;
    return [BYTE, SHORT, INT][Math.log2(cells.BYTES_PER_ELEMENT)].value;
  }

  /** Decodes a leaf. Undefined: it is declined. Otherwise whether its content is that of its rows. */
  page(leaves: Leaves, leaf: number): { readonly isOdd: boolean } | undefined {
    const { pages, exports } = this;
    const { ROOM, INPUT } = exports;
    const page = leaves.pages[leaf];
    const firstRow = leaves.firstRow[leaf];
    const rows = leaves.firstRow[leaf + 1] - firstRow;
    const base = pages.locate(page);
    const { bytes } = pages;
    const header = base + headerOffset(page);
    const cells = (bytes[header + 3] << 8) | bytes[header + 4];
    if (bytes[header] !== 13 || cells > maxCells(pages) || cells !== rows || cells > ROOM.value)
      return undefined;
    if (this.count + cells > ROOM.value) this.flush();
    if (this.count === 0) this.first = firstRow;
    const used = exports.page(
      INPUT.value + base,
      INPUT.value + header,
      cells,
      this.count,
      leaves.aboveRowId[leaf],
      leaves.upToRowId[leaf],
    );
    if (used < 0) return undefined;
    this.count += cells;
    return isFilledBy(bytes, base, header, pages.usableSize, used) ? SOUND : ODD;
  }

  /** Puts the rows that were decoded where they belong. Those that follow need not be their neighbours. */
  flush(): void {
    const { first, count } = this;
    this.count = 0;
    if (count === 0) return;
    for (const { cells, into } of this.places) into?.set(cells.subarray(0, count), first);
    if (this.compact.length > 0) this.parts.push(compactPart(first, count, this.compact, this.widthOf));
  }

  /** What was kept in parts since the plan began. */
  takeParts(): CompactPart[] {
    const { parts } = this;
    this.parts = [];
    return parts;
  }
}

const SOUND = { isOdd: false };
const ODD = { isOdd: true };
