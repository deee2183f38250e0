/** Marks of NVTX_EVENTS that carry a Python stack: samples, and stacks of CUDA calls. */
import { NONE, type Storage } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { orderBy } from '../../base/order.js';
import { maxCells, singleLeaf } from '../../base/sqlite/btree.js';
import type { SqliteDatabase } from '../../base/sqlite/database.js';
import { decodeLeaves } from '../../base/sqlite/decode-leaves.js';
import type { Sink } from '../../base/sqlite/decode-plan.js';
import type { ProfileBuilder } from '../../model/builder.js';
import { SampleSource } from '../../model/schema.js';
import type { GlobalIds, Owners } from './owners.js';
import { pythonStackIn } from './python-stacks.js';
import type { StackTree } from './stack-tree.js';
import type { StringIds } from './string-ids.js';
import { isTime } from './table-reader.js';

const DOMAIN_CREATE = 75;
const MARK = 34;
const decoder = new TextDecoder();
/** Domains by what their marks are: samples, or stacks of the call that follows. */
const SAMPLING = 1;
const BACKTRACE = 2;
const columns = {
  ...{ start: 'f64', domain: 'i32', stack: 'i32', state: 'i32' },
  ...{ machine: 'i32', pid: 'i32', tid: 'i32' },
} as const;
type Marks = { readonly start: Float64Array } & Readonly<
  Record<Exclude<keyof typeof columns, 'start'>, Int32Array>
>;

export class PythonMarks {
  private readonly marks: Marks;
  private readonly isSample: Uint8Array;

  /** What cannot be read is counted where the table is read for its ranges. */
  constructor(database: SqliteDatabase, strings: StringIds, tree: StackTree, builder: ProfileBuilder) {
    const table = database.tables.get('NVTX_EVENTS')!;
    const leaves = database.leaves(table);
    const most = Math.min(leaves.rows, maxCells(database.pages));
    const ints = () => new Int32Array(most).fill(NONE);
    const start = new Float64Array(most);
    const [eventType, domain, payload, domainName] = [ints(), ints(), ints(), ints()];
    const ids: GlobalIds = { machine: ints(), pid: ints(), tid: ints() };
    const found: { stack: number; state: number }[] = [];
    const sinks = table.columns.map((column): Sink | undefined => {
      if (column === 'start') return { kind: 'number', into: start, missing: Number.NaN };
      if (column === 'eventType') return { kind: 'number', into: eventType, missing: NONE };
      if (column === 'domainId') return { kind: 'number', into: domain, missing: NONE };
      if (column === 'globalTid') return { kind: 'global-id', ...ids };
      if (column === 'text') return { kind: 'text', into: domainName, take: domainKind };
      if (column !== 'binaryData') return undefined;
      const take = (bytes: Uint8Array, from: number, to: number) => {
        const read = pythonStackIn(bytes, from, to, strings);
        return read ? found.push({ stack: tree.add(read.frames), state: read.state }) - 1 : NONE;
      };
      return { kind: 'text', blobs: true, into: payload, take };
    });
    const marks = Object.fromEntries(
      (Object.entries(columns) as [string, Storage][]).map(([name, storage]) => [
        name,
        new GrowingColumn(storage),
      ]),
    ) as Record<keyof typeof columns, GrowingColumn>;
    const kindOfDomain = new Map<string, number>();
    const marksOfDomain = new Map<string, number>();
    const scope = (of: GlobalIds, at: number, id: number) => `${of.machine[at]}/${of.pid[at]}/${id}`;
    for (let leaf = 0; leaf < leaves.pages.length; leaf++) {
      const one = singleLeaf(leaves, leaf);
      found.length = 0;
      decodeLeaves(database.pages, one, { sinks, rowIdColumn: table.rowIdColumn });
      for (let row = 0; row < one.rows; row++) {
        const isNaming = domainName[row] !== NONE && eventType[row] === DOMAIN_CREATE;
        if (isNaming) kindOfDomain.set(scope(ids, row, domain[row]), domainName[row]);
        if (payload[row] === NONE && eventType[row] === MARK && domain[row] > 0) {
          const key = scope(ids, row, domain[row]);
          marksOfDomain.set(key, (marksOfDomain.get(key) ?? 0) + 1);
        }
        if (payload[row] === NONE || !isTime(start[row]) || ids.pid[row] === NONE) continue;
        const cells = { start: start[row], domain: domain[row], ...found[payload[row]] };
        const owner = { machine: ids.machine[row], pid: ids.pid[row], tid: ids.tid[row] };
        for (const [name, value] of Object.entries({ ...cells, ...owner }))
          marks[name as keyof typeof columns].push(value);
      }
    }
    this.marks = Object.fromEntries(
      Object.entries(marks).map(([name, column]) => [name, column.finishAll()]),
    ) as unknown as Marks;
    this.isSample = Uint8Array.from(this.marks.start, (_, at) =>
      kindOfDomain.get(scope(this.marks, at, this.marks.domain[at])) === SAMPLING ? 1 : 0,
    );
    let without = 0;
    for (const key of kindOfDomain.keys()) without += marksOfDomain.get(key) ?? 0;
    if (without > 0) {
      const text =
        'Python samples have no call stack in this export: export the report again with --include-blobs=true';
      builder.notes.add('python-stacks-missing', 'info', text, '', without);
    }
  }

  addSamples(builder: ProfileBuilder, owners: Owners): void {
    const { marks, isSample } = this;
    const at = Int32Array.from(marks.start.keys()).filter(mark => isSample[mark] === 1);
    const pick = (cells: Int32Array) => Int32Array.from(at, mark => cells[mark]);
    const thread = owners.threads({
      machine: pick(marks.machine),
      pid: pick(marks.pid),
      tid: pick(marks.tid),
    });
    const start = Float64Array.from(at, mark => marks.start[mark]);
    const source = new Uint8Array(at.length).fill(SampleSource.python);
    builder.addTable(
      'hostSamples',
      { start, thread, source, stack: pick(marks.stack), state: pick(marks.state) },
      at.length,
    );
  }

  /** The Python stack of each call: written by its thread just before it, so the next call takes it. */
  stacksOfCalls(
    owners: Owners,
    thread: ArrayLike<number>,
    start: Float64Array,
    end: Float64Array,
  ): Int32Array {
    const { marks, isSample } = this;
    const threadOfMark = owners.threads(marks);
    const marksOf = new Map<number, { at: number[]; next: number }>();
    for (const mark of orderBy(marks.start)) {
      if (isSample[mark] === 1) continue;
      const own = marksOf.get(threadOfMark[mark]) ?? { at: [], next: 0 };
      own.at.push(mark);
      marksOf.set(threadOfMark[mark], own);
    }
    const stacks = new Int32Array(start.length).fill(NONE);
    if (marksOf.size === 0) return stacks;
    for (const call of orderBy(start)) {
      const own = marksOf.get(thread[call]);
      if (!own) continue;
      while (own.next < own.at.length && marks.start[own.at[own.next]] <= end[call])
        stacks[call] = marks.stack[own.at[own.next++]];
    }
    return stacks;
  }
}

/** What the marks of a domain of this name are; names of ranges are stepped over without being decoded. */
function domainKind(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] !== 0x50 || to - from > 100) return NONE;
  const name = decoder.decode(bytes.subarray(from, to));
  if (name === 'Python Periodic Sampling') return SAMPLING;
  return name.startsWith('Python Backtrace') ? BACKTRACE : NONE;
}
