/** A new database from rows of plain values: what another format holds, for readers of this one. */
import { pushVarint, schemaRecord } from './record.js';
import { FILE_HEADER, PageWriter, putU32 } from './write-page.js';
import { TableWriter } from './write-table.js';

export type SqliteValue = null | number | bigint | string | Uint8Array;

const PAGE_SIZE = 4096;
const encoder = new TextEncoder();

/** Pages come in order, from the second on; the first, which names the tables, at the end. */
interface NewDatabase {
  append(page: Uint8Array): void;
  putFirst(page: Uint8Array): void;
}

export class RowsWriter {
  private readonly writer: PageWriter;
  private readonly entries: Uint8Array[] = [];

  constructor(private readonly out: NewDatabase) {
    this.writer = new PageWriter(PAGE_SIZE, PAGE_SIZE, page => out.append(page));
  }

  /** Types are not declared: each value says its own. */
  startTable(name: string, columns: readonly string[]): NewTable {
    const table = new TableWriter(this.writer);
    return new NewTable(table, root => {
      const sql = `CREATE TABLE ${quoted(name)} (${columns.map(quoted).join(', ')})`;
      this.entries.push(schemaRecord('table', name, name, root, sql));
    });
  }

  finish(): void {
    const schema = new TableWriter(this.writer, true);
    for (const [i, record] of this.entries.entries()) addRecord(schema, i + 1, record, record.length);
    const { firstPage } = schema.finish();
    const header = new Uint8Array(FILE_HEADER);
    header.set(encoder.encode('SQLite format 3\0'));
    header.set([PAGE_SIZE >> 8, PAGE_SIZE & 255, 1, 1, 0, 64, 32, 32], 16);
    for (const [at, value] of [
      [24, 1],
      [28, this.writer.pageCount],
      [40, 1],
      [44, 4],
      [56, 1],
      [92, 1],
      [96, 3_045_000],
    ])
      putU32(header, at, value);
    firstPage!.set(header);
    this.out.putFirst(firstPage!);
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

function addRecord(table: TableWriter, id: number, record: Uint8Array, length: number): void {
  const key: number[] = [];
  pushVarint(key, id);
  table.add(Uint8Array.from(key), key.length, record, 0, length);
}

class NewTable {
  private rows = 0;
  private body = new Uint8Array(1 << 16);
  private view = new DataView(this.body.buffer);

  constructor(
    private readonly table: TableWriter,
    private readonly onFinish: (root: number) => void,
  ) {}

  /** https://www.sqlite.org/fileformat2.html#record_format */
  add(values: readonly SqliteValue[]): void {
    const types: number[] = [];
    let size = 0;
    for (const value of values) {
      if (value === null) pushVarint(types, 0);
      else if (typeof value === 'string' || value instanceof Uint8Array) {
        const isText = typeof value === 'string';
        const bytes = isText ? encoder.encode(value) : value;
        this.reserve(size + bytes.length);
        this.body.set(bytes, size);
        size += bytes.length;
        pushVarint(types, (isText ? 13 : 12) + bytes.length * 2);
      } else {
        this.reserve(size + 8);
        const isWhole = typeof value === 'bigint' || Number.isInteger(value);
        if (isWhole) this.view.setBigInt64(size, BigInt.asIntN(64, BigInt(value)));
        else this.view.setFloat64(size, value as number);
        size += 8;
        types.push(isWhole ? 6 : 7);
      }
    }
    const own = types.length + 1 < 0x80 ? 1 : 2;
    const header: number[] = [];
    pushVarint(header, types.length + own);
    const record = new Uint8Array(header.length + types.length + size);
    record.set(header);
    record.set(types, header.length);
    record.set(this.body.subarray(0, size), header.length + types.length);
    addRecord(this.table, ++this.rows, record, record.length);
  }

  private reserve(size: number): void {
    if (size <= this.body.length) return;
    const wider = new Uint8Array(Math.max(size, this.body.length * 2));
    wider.set(this.body);
    this.body = wider;
    this.view = new DataView(wider.buffer);
  }

  finish(): void {
    this.onFinish(this.table.finish().root);
  }
}
