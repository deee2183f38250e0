/**
 * Columns as Arrow IPC, exactly: whole numbers are int64, texts that repeat are dictionaries, maps are maps, and what is
 * null here is null there. Numbers and interned texts, of which large tables consist, are written without a value of
 * JavaScript for each cell.
 */
import type { Column, DataType } from '@uwdata/flechette';
import { cellNumber, interned, isTexts, wholeOf } from './cells.js';
import type { ColumnContent, SqlColumn } from './sql-table.js';

type Flechette = typeof import('@uwdata/flechette');

export interface FilledColumn extends Pick<SqlColumn, 'name' | 'type' | 'counted'> {
  /** Undefined: null in every row. */
  readonly content: ColumnContent | undefined;
}

interface ArrowTable {
  readonly bytes: Uint8Array;
  /** Of each column, as Arrow names it. */
  readonly types: readonly string[];
}

type Values = Float64Array | BigInt64Array | Int32Array;

/** Values with a bit per row that is set where there is one. */
class Filled<Cells extends Values> {
  private readonly bits: Uint8Array;
  nulls: number;

  constructor(readonly cells: Cells) {
    this.bits = new Uint8Array((cells.length + 7) >> 3);
    this.nulls = cells.length;
  }

  mark(row: number): void {
    this.bits[row >> 3] |= 1 << (row & 7);
    this.nulls--;
  }

  /** Not needed where no row is null. */
  get validity(): Uint8Array {
    return this.nulls > 0 ? this.bits : new Uint8Array(0);
  }
}

function floats(content: ColumnContent | undefined, rows: number): Filled<Float64Array> {
  const filled = new Filled(new Float64Array(rows));
  if (content === undefined || isTexts(content)) return filled;
  const at = cellNumber(content);
  for (let row = 0; row < rows; row++) {
    const value = at(row);
    if (value === null) continue;
    filled.cells[row] = Number(value);
    filled.mark(row);
  }
  return filled;
}

function wholes({ name, content }: FilledColumn, rows: number): Filled<BigInt64Array> {
  const filled = new Filled(new BigInt64Array(rows));
  if (content === undefined || isTexts(content)) return filled;
  const at = cellNumber(content);
  for (let row = 0; row < rows; row++) {
    const value = at(row);
    if (value === null) continue;
    const whole = wholeOf(value);
    if (BigInt.asIntN(64, whole) !== whole) throw new Error(`${name}: ${whole} is not an int64`);
    filled.cells[row] = whole;
    filled.mark(row);
  }
  return filled;
}

function isWhole(content: ColumnContent | undefined): boolean {
  if (content === undefined || isTexts(content)) return true;
  const at = cellNumber(content);
  for (let row = 0; row < content.length; row++) {
    const value = at(row);
    if (typeof value === 'number' && !Number.isSafeInteger(value)) return false;
  }
  return true;
}

class ArrowColumns {
  constructor(
    private readonly arrow: Flechette,
    private readonly rows: number,
  ) {}

  of(column: FilledColumn): { readonly type: string; readonly column: Column<unknown> } {
    const { bool, float64, int64, map, utf8 } = this.arrow;
    const { type, counted, content } = column;
    switch (type) {
      case 'number':
        if (!counted || !isWhole(content))
          return { type: 'float64', column: this.filled(floats(content, this.rows), float64()) };
        return { type: 'int64', column: this.filled(wholes(column, this.rows), int64()) };
      case 'whole':
        return { type: 'int64', column: this.filled(wholes(column, this.rows), int64()) };
      case 'flag':
        return { type: 'bool', column: this.built(content, bool()) };
      case 'map':
        return {
          type: 'map<string, float64>',
          column: this.built(content, map(utf8(), float64()), own => Object.entries(own as object)),
        };
      case 'text':
        if (!isTexts(content)) return { type: 'string', column: this.built(content, utf8()) };
        return { type: 'dictionary<string>', column: this.dictionary(interned(content)) };
    }
  }

  private filled({ cells, validity, nulls }: Filled<Values>, type: DataType): Column<unknown> {
    const batch = this.arrow.batchType(type, { useBigInt: true });
    return this.columnOf(
      new batch({ length: this.rows, nullCount: nulls, type, values: cells, validity }),
      type,
    );
  }

  private dictionary({ numbers, texts }: ReturnType<typeof interned>): Column<unknown> {
    const { batchType, columnFromArray, dictionary, int32, utf8 } = this.arrow;
    const filled = new Filled(numbers);
    for (let row = 0; row < numbers.length; row++)
      if (numbers[row] < 0) numbers[row] = 0;
      else filled.mark(row);
    // A reader wants a dictionary even where no row uses it.
    const words = columnFromArray(texts.length > 0 ? [...texts] : [''], utf8());
    const type = dictionary(words.type, int32());
    const { nulls: nullCount, validity } = filled;
    const batch = new (batchType(type))({ length: this.rows, nullCount, type, values: numbers, validity });
    return this.columnOf(batch.setDictionary(words), type);
  }

  private built(
    content: ColumnContent | undefined,
    type: DataType,
    of: (value: unknown) => unknown = value => value,
  ): Column<unknown> {
    const values = content !== undefined && !isTexts(content) ? content : [];
    const cells = Array.from({ length: this.rows }, (_, row) => {
      const value = values[row];
      return value === undefined || value === null ? null : of(value);
    });
    return this.rows === 0
      ? this.columnOf(undefined, type)
      : (this.arrow.columnFromArray(cells, type) as Column<unknown>);
  }

  /** A table without rows has no batch in any column. */
  private columnOf(batch: Column<unknown>['data'][number] | undefined, type: DataType): Column<unknown> {
    return new this.arrow.Column(batch === undefined || this.rows === 0 ? [] : [batch], type);
  }
}

/** `stream` is for pipes; a `file` can be mapped into memory. */
export async function arrowTable(
  columns: readonly FilledColumn[],
  rows: number,
  format: 'file' | 'stream',
): Promise<ArrowTable> {
  const arrow = await import('@uwdata/flechette');
  const make = new ArrowColumns(arrow, rows);
  const made = columns.map(column => ({ name: column.name, ...make.of(column) }));
  const table = arrow.tableFromColumns(made.map(({ name, column }) => [name, column] as const) as never);
  const bytes = arrow.tableToIPC(table, { format });
  if (!bytes) throw new Error('the Arrow writer gave nothing');
  return { bytes, types: made.map(({ type }) => type) };
}
