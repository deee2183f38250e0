/**
 * NVTX_EVENTS: ranges, marks, and the events that name domains, categories and threads.
 * cuBLAS, cuDNN and the GIL trace arrive here too, as domains of their own.
 */
import { allocate, NONE } from '../../base/column.js';
import type { SqliteDatabase } from '../../base/sqlite/database.js';
import type { Decoded, Sink } from '../../base/sqlite/decode-plan.js';
import type { ProfileBuilder, RawTable } from '../../model/builder.js';
import { RangeKind } from '../../model/schema.js';
import type { GlobalIds, Owners } from './owners.js';
import type { DecodeJob } from './parallel-decode.js';
import type { StringIds } from './string-ids.js';
import { dropRows, isTime, noteImpossible, noteOwnerless, type TableImport } from './table-reader.js';

const CATEGORY = 33;
const MARK = 34;
const THREAD_NAME = 39;
const PUSH_POP = 59;
const START_END = 60;
const TEXT_MARK = 65;
const TEXT_PUSH_POP = 70;
const TEXT_START_END = 71;
const DOMAIN_CREATE = 75;

/** Where an event's number may be; the first that is set is its payload. */
const payloads = ['uint64Value', 'int64Value', 'doubleValue', 'uint32Value', 'int32Value', 'floatValue'];

function kindOf(eventType: number): number {
  switch (eventType) {
    case PUSH_POP:
    case TEXT_PUSH_POP:
      return RangeKind.pushPop;
    case START_END:
    case TEXT_START_END:
      return RangeKind.startEnd;
    case MARK:
    case TEXT_MARK:
      return RangeKind.mark;
    default:
      return NONE;
  }
}

export class NvtxReader implements TableImport {
  readonly job: DecodeJob;
  private readonly rows: number;
  private readonly cells: Record<string, Float64Array> = {};
  private readonly texts: Record<string, Int32Array> = {};
  private readonly begin: GlobalIds;
  private readonly endedBy: GlobalIds;
  private readonly rowIds: Float64Array;
  private readonly hasOwner: boolean;

  constructor(
    database: SqliteDatabase,
    private readonly builder: ProfileBuilder,
  ) {
    const table = database.tables.get('NVTX_EVENTS')!;
    const leaves = database.leaves(table);
    this.rows = leaves.rows;
    this.hasOwner = table.columns.includes('globalTid');
    this.rowIds = new Float64Array(leaves.rows);
    const ids = (): GlobalIds => ({
      machine: new Int32Array(leaves.rows).fill(NONE),
      pid: new Int32Array(leaves.rows).fill(NONE),
      tid: new Int32Array(leaves.rows).fill(NONE),
    });
    this.begin = ids();
    this.endedBy = ids();
    const take = (bytes: Uint8Array, from: number, to: number) =>
      builder.strings.internBytes(bytes, from, to);
    const wanted = [
      'start',
      'end',
      'eventType',
      'category',
      'color',
      'textId',
      'domainId',
      'jsonTextId',
      ...payloads,
    ];
    const sinks = table.columns.map((column): Sink | undefined => {
      if (column === 'globalTid') return { kind: 'global-id', ...this.begin };
      if (column === 'endGlobalTid') return { kind: 'global-id', ...this.endedBy };
      if (column === 'text' || column === 'jsonText') {
        this.texts[column] = new Int32Array(leaves.rows).fill(NONE);
        return { kind: 'text', into: this.texts[column], take };
      }
      if (!wanted.includes(column)) return undefined;
      this.cells[column] = new Float64Array(leaves.rows);
      return { kind: 'number', into: this.cells[column], missing: Number.NaN };
    });
    this.job = {
      leaves,
      plan: { sinks, rowIds: this.rowIds, rowIdColumn: table.rowIdColumn },
      thisThreadOnly: true,
    };
  }

  finish({ badRows }: Decoded, strings: StringIds, owners: Owners): void {
    const { rows, builder } = this;
    const unreadable = new Uint8Array(rows);
    for (const row of badRows) unreadable[row] = 1;
    const start = this.cells.start ?? new Float64Array(rows).fill(Number.NaN);
    const name = this.names(strings);
    const eventType = this.cells.eventType ?? new Float64Array(rows).fill(PUSH_POP);
    const thread = owners.threads(this.begin);
    const domainNames = new Map<number, number>();
    const categoryNames = new Map<string, number>();
    /** Domain ids are given out per process. */
    const scope = (row: number) =>
      thread[row] === NONE
        ? NONE
        : builder.threads[thread[row]].process * 2 ** 32 + (this.cells.domainId?.[row] || 0);
    const kind = new Uint8Array(rows);
    const drop: number[] = [];
    let impossible = 0;
    let ownerless = 0;
    for (let row = 0; row < rows; row++) {
      const rangeKind = unreadable[row] === 1 ? NONE : kindOf(eventType[row]);
      if (rangeKind === NONE) {
        drop.push(row);
        if (eventType[row] === DOMAIN_CREATE && !domainNames.has(scope(row)))
          domainNames.set(scope(row), name[row]);
        if (eventType[row] === CATEGORY)
          categoryNames.set(`${scope(row)}/${this.cells.category?.[row]}`, name[row]);
        if (eventType[row] === THREAD_NAME && thread[row] !== NONE && this.begin.tid[row] !== 0) {
          builder.threads[thread[row]].name = builder.strings.text(name[row]);
        }
        continue;
      }
      const end = this.cells.end?.[row] ?? Number.NaN;
      if (!isTime(start[row]) || end < start[row] || Math.abs(end) > Number.MAX_SAFE_INTEGER) {
        drop.push(row);
        impossible++;
      } else if (thread[row] === NONE && this.hasOwner) {
        drop.push(row);
        ownerless++;
      }
      kind[row] = rangeKind;
    }
    noteImpossible(builder, 'NVTX_EVENTS', impossible);
    noteOwnerless(builder, 'NVTX_EVENTS', ownerless);
    const categoryName = allocate('i32', rows) as Int32Array;
    const domain = allocate('i32', rows) as Int32Array;
    for (let row = 0; row < rows; row++) {
      domain[row] = domainNames.get(scope(row)) ?? NONE;
      const category = this.cells.category?.[row] ?? Number.NaN;
      categoryName[row] = !Number.isNaN(category)
        ? (categoryNames.get(`${scope(row)}/${category}`) ?? NONE)
        : NONE;
    }
    const columns: RawTable = {
      start,
      end: this.cells.end ?? new Float64Array(rows).fill(Number.NaN),
      thread,
      name,
      kind,
      domain,
      categoryName,
      endThread: owners.threads(this.endedBy),
      sourceRow: this.rowIds,
      payload: this.payload(),
      payloadText: this.payloadText(strings),
    };
    if (this.cells.category)
      columns.category = Int32Array.from(this.cells.category, v => (!Number.isNaN(v) ? v : NONE));
    if (this.cells.color?.some(v => !Number.isNaN(v)))
      columns.color = Uint32Array.from(this.cells.color, v => (!Number.isNaN(v) ? v : 0));
    const kept = drop.length > 0 ? dropRows(columns, drop, rows) : rows;
    builder.addTable('ranges', columns, kept);
  }

  /** Text by id wins over text in the row, as in NVIDIA's reports. */
  private names(strings: StringIds): Int32Array {
    const { textId } = this.cells;
    const inline = this.texts.text;
    const names = new Int32Array(this.rows);
    for (let row = 0; row < this.rows; row++) {
      const id = textId ? textId[row] : Number.NaN;
      const byId = !Number.isNaN(id) ? strings.resolve(id) : NONE;
      names[row] = byId !== NONE ? byId : inline ? inline[row] : NONE;
    }
    return names;
  }

  private payload(): Float64Array {
    const values = new Float64Array(this.rows).fill(Number.NaN);
    for (const column of payloads) {
      const cells = this.cells[column];
      if (!cells) continue;
      for (let row = 0; row < this.rows; row++) if (Number.isNaN(values[row])) values[row] = cells[row];
    }
    return values;
  }

  private payloadText(strings: StringIds): Int32Array {
    const { jsonTextId } = this.cells;
    const inline = this.texts.jsonText;
    const texts = new Int32Array(this.rows).fill(NONE);
    for (let row = 0; row < this.rows; row++) {
      const id = jsonTextId ? jsonTextId[row] : Number.NaN;
      if (!Number.isNaN(id)) texts[row] = strings.resolve(id);
      else if (inline) texts[row] = inline[row];
    }
    return texts;
  }
}
