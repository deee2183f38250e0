/**
 * What a profile recorded, as events in the words of the PyTorch profiler, so that a trace made of them opens again with
 * steps, launches and families as they were. Events of the GPU come in order of start, then those of the host: of two
 * that start together the longer one first, as readers nest them.
 */
import type { Derived } from '../../analyze/analysis.js';
import type { AnyArray } from '../../base/column.js';
import { NONE } from '../../base/column.js';
import { findGpuMetric } from '../../catalog/gpu-metrics.js';
import { withoutSecrets } from '../../catalog/secret-shapes.js';
import type { Profile } from '../../model/profile.js';
import { columnsOf, RangeKind, type TableName } from '../../model/schema.js';
import type { TimeWindow } from '../../model/slice.js';
import { collectiveArguments } from './collective-arguments.js';
import type { TraceArgument, TraceEvent, TracePlace, TraceSlice } from './trace-event.js';

const directions: Record<number, string> = { 1: 'HtoD', 2: 'DtoH', 8: 'DtoD', 9: 'HtoH', 10: 'PtoP' };
const memories = ['Pageable', 'Pinned', 'Device', 'Array', 'Managed'];
const waits: Record<number, string> = {
  1: 'Event Sync',
  2: 'Stream Wait Event',
  3: 'Stream Sync',
  4: 'Context Sync',
};
/** As the timeline calls them. */
const UNNAMED = '(unnamed)';
/** Longer names say nothing more to a reader. */
const LONGEST_NAME = 16_384;

const onGpu = ['kernels', 'copies', 'memsets', 'graphLaunches', 'syncs'] as const;
const onHost = ['ranges', 'ops', 'frames', 'apiCalls', 'osCalls', 'overheads'] as const;
/** Tables whose rows become events; a row without a thread or a stream has no place in a trace. */
export const exportedTables: readonly TableName[] = [...onGpu, ...onHost, 'metricSamples'];

/** For a command that writes a trace: all columns of these tables. */
export const exportReads: Derived<undefined> = {
  id: 'trace-export',
  reads: Object.fromEntries(
    exportedTables.map(table => [
      table,
      columnsOf(table).flatMap(([name, { optional }]) =>
        optional && !['strides', 'values', 'stack', 'pythonStack'].includes(name) ? [name] : [],
      ),
    ]),
  ),
  uses: [],
  compute: () => undefined,
};

type Columns = { readonly length: number } & Record<string, AnyArray>;
type Arguments = Record<string, TraceArgument>;

interface Found {
  readonly from: TableName;
  readonly table: Columns;
  readonly row: number;
  readonly start: number;
  /** Infinity where it was not recorded. */
  readonly end: number;
}

export function* recordedEvents(profile: Profile, window: TimeWindow): Iterable<TraceEvent> {
  const write = new EventWriter(profile, window);
  for (const found of inOrder(profile, onGpu, window)) yield write.event(found);
  for (const found of inOrder(profile, onHost, withLaunches(profile, window))) yield write.event(found);
  for (const { table, row, start } of rowsIn(profile, 'metricSamples', window)) {
    const metric = findGpuMetric(profile.metrics[table.metric[row]]);
    if (!metric) continue;
    const { label: name, unit } = metric;
    yield { kind: 'counter', gpu: table.gpu[row], name, unit, startNs: start, value: table.value[row] };
  }
}

/** Names as a trace holds them, each made once: without keys and passwords, and not endless. */
function traceNames({ strings }: Profile): (id: number) => string {
  const known: (string | undefined)[] = [];
  return id => {
    if (id === NONE) return '';
    known[id] ??= withoutSecrets(strings.text(id), () => {}).slice(0, LONGEST_NAME);
    return known[id];
  };
}

class EventWriter {
  private readonly name: (id: number) => string;
  /** Shapes and types of operators, by string. */
  private readonly values = new Map<number, TraceArgument>();
  /** Of each call, the first work it caused, as position among the tables of the GPU and row. */
  private readonly firstOf: Map<TableName, Int32Array>;

  constructor(
    private readonly profile: Profile,
    window: TimeWindow,
  ) {
    this.name = traceNames(profile);
    this.firstOf = firstWork(profile, window);
  }

  event(found: Found): TraceEvent {
    const { from, table, row, start, end } = found;
    if (from === 'ranges' && table.kind[row] === RangeKind.mark)
      return {
        kind: 'instant',
        category: 'user_annotation',
        name: this.name(table.name[row]) || UNNAMED,
        startNs: start,
        place: this.place(found),
      };
    return {
      kind: 'slice',
      startNs: start,
      endNs: end,
      place: this.place(found),
      ...this.described(from, table, row),
      ...this.arrow(from, table, row),
    };
  }

  private place({ from, table, row }: Found): TracePlace {
    return (onGpu as readonly TableName[]).includes(from)
      ? { kind: 'stream', stream: table.stream[row] }
      : { kind: 'thread', thread: table.thread[row] };
  }

  private described(
    from: TableName,
    table: Columns,
    row: number,
  ): Pick<TraceSlice, 'category' | 'name' | 'args'> {
    const name = () => this.name(table.name[row]) || UNNAMED;
    switch (from) {
      case 'kernels':
        return { category: 'kernel', name: name(), args: this.kernelArguments(table, row) };
      case 'copies': {
        const source = memories[table.sourceMemory?.[row]];
        const target = memories[table.targetMemory?.[row]];
        const way = source && target ? ` (${source} -> ${target})` : '';
        return {
          category: 'gpu_memcpy',
          name: `Memcpy ${directions[table.kind[row]] ?? ''}${way}`,
          args: this.workArguments(table, row),
        };
      }
      case 'memsets':
        return { category: 'gpu_memset', name: 'Memset (Device)', args: this.workArguments(table, row) };
      case 'graphLaunches':
        return { category: 'graph_replay', name: 'graph replay', args: this.workArguments(table, row) };
      case 'syncs':
        return {
          category: 'cuda_sync',
          name: waits[table.kind[row]] ?? 'Sync',
          args: this.workArguments(table, row),
        };
      case 'apiCalls':
        return {
          category: table.class?.[row] === 1 ? 'cuda_driver' : 'cuda_runtime',
          name: name(),
          args: { ...known(table, row, { correlation: 'correlation' }), ...this.operator(table, row) },
        };
      case 'ops':
        return { category: 'cpu_op', name: name(), args: this.opArguments(table, row) };
      case 'frames':
        return {
          category: 'python_function',
          name: name(),
          args: known(table, row, { pythonId: 'Python id', pythonParentId: 'Python parent id' }),
        };
      case 'ranges':
        return { category: 'user_annotation', name: name() };
      case 'osCalls':
        return { category: 'os_call', name: name() };
      default:
        return { category: 'overhead', name: name() };
    }
  }

  private workArguments(table: Columns, row: number): Arguments {
    const { gpu, contextId, streamId } = this.profile.streams[table.stream[row]];
    return {
      device: this.profile.gpus[gpu].deviceId,
      context: contextId,
      stream: streamId,
      correlation: table.correlation[row],
      ...known(table, row, {
        graphNode: 'graph node id',
        graph: 'graph id',
        bytes: 'bytes',
        event: 'wait_on_cuda_event_id',
      }),
    };
  }

  private kernelArguments(table: Columns, row: number): Arguments {
    const args = this.workArguments(table, row);
    if (table.gridX) args.grid = [table.gridX[row], table.gridY[row], table.gridZ[row]];
    if (table.blockX) args.block = [table.blockX[row], table.blockY[row], table.blockZ[row]];
    const shared =
      Math.max(0, table.staticSharedBytes?.[row] ?? 0) + Math.max(0, table.dynamicSharedBytes?.[row] ?? 0);
    if (table.dynamicSharedBytes) args['shared memory'] = shared;
    return Object.assign(
      args,
      known(table, row, {
        registersPerThread: 'registers per thread',
        occupancyPercent: 'est. achieved occupancy %',
        messageNumber: 'Seq',
      }),
      this.operator(table, row),
      table.message && table.message[row] !== NONE ? collectiveArguments(this.name(table.message[row])) : {},
    );
  }

  /** The operator behind a call or a kernel, by the number both carry. */
  private operator(table: Columns, row: number): Arguments {
    const op = table.op?.[row] ?? NONE;
    const ids = (this.profile.tables.ops as unknown as Columns | undefined)?.externalId;
    return op === NONE || !ids || Number.isNaN(ids[op]) ? {} : { 'External id': ids[op] };
  }

  private opArguments(table: Columns, row: number): Arguments {
    const args = known(table, row, { externalId: 'External id' });
    for (const [column, name] of [
      ['shapes', 'Input Dims'],
      ['types', 'Input type'],
    ] as const) {
      const id = table[column]?.[row] ?? NONE;
      if (id === NONE) continue;
      if (!this.values.has(id)) this.values.set(id, parsed(this.name(id)));
      args[name] = this.values.get(id)!;
    }
    return args;
  }

  private arrow(from: TableName, table: Columns, row: number): Pick<TraceSlice, 'arrow'> {
    if (from === 'apiCalls')
      return [...this.firstOf.values()].some(rows => rows[row] !== NONE)
        ? { arrow: { id: row + 1, begins: true } }
        : {};
    const call = table.launch?.[row] ?? NONE;
    return call !== NONE && this.firstOf.get(from)?.[call] === row
      ? { arrow: { id: call + 1, begins: false } }
      : {};
  }
}

/** Of each call that is in the trace, the row of the first work it caused: a graph would draw an arrow to every node. */
function firstWork(profile: Profile, window: TimeWindow): Map<TableName, Int32Array> {
  const calls = profile.tables.apiCalls as unknown as Columns | undefined;
  const first = new Map<TableName, Int32Array>();
  if (!calls) return first;
  const begins = new Float64Array(calls.length).fill(Infinity);
  const tables = onGpu.filter(name => name !== 'syncs' && profile.tables[name]);
  for (const name of tables) first.set(name, new Int32Array(calls.length).fill(NONE));
  for (const name of tables)
    for (const { table, row, start } of rowsIn(profile, name, window)) {
      const call = table.launch[row];
      if (call === NONE || calls.thread[call] === NONE || start >= begins[call]) continue;
      begins[call] = start;
      for (const other of tables) first.get(other)![call] = other === name ? row : NONE;
    }
  return first;
}

/** Where the host runs ahead, the calls that launched the window's work lie before it. */
function withLaunches(profile: Profile, window: TimeWindow): TimeWindow {
  const calls = profile.tables.apiCalls as unknown as Columns | undefined;
  let { fromNs, toNs } = window;
  if (!calls || (fromNs === -Infinity && toNs === Infinity)) return window;
  for (const name of onGpu)
    for (const { table, row } of rowsIn(profile, name, window)) {
      const call = table.launch[row];
      if (call === NONE) continue;
      fromNs = Math.min(fromNs, calls.start[call]);
      toNs = Math.max(toNs, calls.end[call]);
    }
  return { fromNs, toNs };
}

/** Optional columns of a row that hold something, under the names the trace gives them. */
function known(table: Columns, row: number, names: Readonly<Record<string, string>>): Arguments {
  const args: Arguments = {};
  for (const column in names) {
    const value = table[column]?.[row];
    if (value !== undefined && !Number.isNaN(value) && value !== NONE) args[names[column]] = value;
  }
  return args;
}

function parsed(json: string): TraceArgument {
  try {
    return JSON.parse(json) as TraceArgument;
  } catch {
    return json;
  }
}

/** Rows of several tables by start; of those that start together the longest first. */
function* inOrder(profile: Profile, names: readonly TableName[], window: TimeWindow): Iterable<Found> {
  const lists = names.map(name => rowsIn(profile, name, window)[Symbol.iterator]());
  const heads = lists.map(list => list.next().value as Found | undefined);
  const together: Found[] = [];
  while (true) {
    let start = Infinity;
    for (const head of heads) if (head && head.start < start) start = head.start;
    if (start === Infinity) return;
    together.length = 0;
    for (let i = 0; i < lists.length; i++)
      while (heads[i]?.start === start) {
        together.push(heads[i]!);
        heads[i] = lists[i].next().value as Found | undefined;
      }
    if (together.length > 1) together.sort((a, b) => (a.end === b.end ? 0 : b.end - a.end));
    yield* together;
  }
}

function* rowsIn(profile: Profile, name: TableName, { fromNs, toNs }: TimeWindow): Iterable<Found> {
  const table = profile.tables[name] as unknown as Columns | undefined;
  if (!table) return;
  const { start, end = start } = table;
  const place = (onGpu as readonly TableName[]).includes(name)
    ? table.stream
    : name === 'metricSamples'
      ? table.gpu
      : table.thread;
  for (let row = 0; row < table.length && start[row] < toNs; row++) {
    const isOpen = Number.isNaN(end[row]);
    if (!isOpen && start[row] < fromNs && end[row] <= fromNs) continue;
    if (place[row] === NONE || (name === 'ranges' && table.kind[row] === RangeKind.gpuAnnotation)) continue;
    yield { from: name, table, row, start: start[row], end: isOpen ? Infinity : end[row] };
  }
}
