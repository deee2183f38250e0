/**
 * A stretch of a profile as a Chrome trace, in the words the PyTorch profiler uses: Perfetto and chrome://tracing show
 * it, and Stepscope opens it again with steps, launches and families as they were.
 */
import type { AnyArray } from '../base/column.js';
import { NONE } from '../base/column.js';
import { findGpuMetric } from '../catalog/gpu-metrics.js';
import type { Profile } from '../model/profile.js';
import { RangeKind, type TableName } from '../model/schema.js';
import type { TimeWindow } from '../model/slice.js';

const EVENTS_PER_PIECE = 500;
const directions: Record<number, string> = { 1: 'HtoD', 2: 'DtoH', 8: 'DtoD', 9: 'HtoH', 10: 'PtoP' };
const memories = ['Pageable', 'Pinned', 'Device', 'Array', 'Managed'];

type Columns = { readonly length: number } & Record<string, AnyArray>;
type Event = Record<string, unknown>;

export function* traceOf(profile: Profile, window: TimeWindow): Iterable<string> {
  yield `${headOf(profile)}"traceEvents":[\n`;
  let piece: string[] = [];
  let first = true;
  for (const event of eventsOf(profile, window)) {
    piece.push(JSON.stringify(event));
    if (piece.length < EVENTS_PER_PIECE) continue;
    yield `${first ? '' : ',\n'}${piece.join(',\n')}`;
    first = false;
    piece = [];
  }
  if (piece.length > 0) yield `${first ? '' : ',\n'}${piece.join(',\n')}`;
  yield '\n]}\n';
}

function headOf({ gpus, originNs, capture }: Profile): string {
  const head = {
    schemaVersion: 1,
    deviceProperties: gpus.map(({ deviceId, name, memoryBytes, smCount }) => ({
      id: deviceId,
      name,
      ...(memoryBytes ? { totalGlobalMem: memoryBytes } : {}),
      ...(smCount ? { numSms: smCount } : {}),
    })),
    ...(capture.distributed
      ? { distributedInfo: { rank: capture.distributed.rank, world_size: capture.distributed.worldSize } }
      : {}),
    displayTimeUnit: 'ms',
    baseTimeNanoseconds: Number(originNs),
  };
  return `${JSON.stringify(head).slice(0, -1)},`;
}

/** Microseconds; nanoseconds are the decimals. */
const micro = (ns: number) => Math.round(ns) / 1000;

function* eventsOf(profile: Profile, window: TimeWindow): Iterable<Event> {
  yield* namesOf(profile);
  const onHost = withLaunches(profile, window);
  const text = (id: number) => (id === NONE ? '' : profile.strings.text(id));
  const ofThread = (thread: number) => {
    const { process, tid } = profile.threads[thread];
    return { pid: profile.processes[process].pid, tid };
  };
  const onStream = (table: Columns, row: number) => {
    const { gpu, contextId, streamId } = profile.streams[table.stream[row]];
    const device = profile.gpus[gpu].deviceId;
    return {
      pid: device,
      tid: streamId,
      args: {
        device,
        context: contextId,
        stream: streamId,
        correlation: table.correlation[row],
        ...known(table, row, { graphNode: 'graph node id', graph: 'graph id', bytes: 'bytes' }),
      } as Event,
    };
  };
  for (const [table, row] of rowsIn(profile, 'kernels', window)) {
    const { args, ...place } = onStream(table, row);
    if (table.gridX) args.grid = [table.gridX[row], table.gridY[row], table.gridZ[row]];
    if (table.blockX) args.block = [table.blockX[row], table.blockY[row], table.blockZ[row]];
    Object.assign(args, known(table, row, { registersPerThread: 'registers per thread' }));
    yield { ...span('kernel', text(table.name[row]), table, row), ...place, args };
  }
  for (const [table, row] of rowsIn(profile, 'copies', window)) {
    const from = memories[table.sourceMemory?.[row]];
    const to = memories[table.targetMemory?.[row]];
    const name = `Memcpy ${directions[table.kind[row]] ?? ''}${from && to ? ` (${from} -> ${to})` : ''}`;
    yield { ...span('gpu_memcpy', name, table, row), ...onStream(table, row) };
  }
  for (const [table, row] of rowsIn(profile, 'memsets', window))
    yield { ...span('gpu_memset', 'Memset (Device)', table, row), ...onStream(table, row) };
  for (const [table, row] of rowsIn(profile, 'graphLaunches', window))
    yield { ...span('graph_replay', 'graph replay', table, row), ...onStream(table, row) };
  for (const [table, row] of rowsIn(profile, 'apiCalls', onHost)) {
    const args = { correlation: table.correlation[row] };
    yield {
      ...span('cuda_runtime', text(table.name[row]), table, row),
      ...ofThread(table.thread[row]),
      args,
    };
  }
  for (const [table, row] of rowsIn(profile, 'ranges', onHost)) {
    if (table.kind[row] === RangeKind.gpuAnnotation || table.thread[row] === NONE) continue;
    yield {
      ...span('user_annotation', text(table.name[row]), table, row, onHost.toNs),
      ...ofThread(table.thread[row]),
    };
  }
  for (const [source, category] of hostTables)
    for (const [table, row] of rowsIn(profile, source, onHost))
      if (table.thread[row] !== NONE)
        yield { ...span(category, text(table.name[row]), table, row), ...ofThread(table.thread[row]) };
  for (const [table, row] of rowsIn(profile, 'metricSamples', window)) {
    const metric = findGpuMetric(profile.metrics[table.metric[row]]);
    if (!metric) continue;
    const place = { pid: profile.gpus[table.gpu[row]].deviceId, ts: micro(table.start[row]) };
    yield { ph: 'C', name: metric.label, ...place, args: { [metric.unit]: table.value[row] } };
  }
}

/** Where the host runs ahead, the calls that launched the window's work lie before it. */
function withLaunches(profile: Profile, window: TimeWindow): TimeWindow {
  const calls = profile.tables.apiCalls as unknown as Columns | undefined;
  let { fromNs, toNs } = window;
  for (const name of ['kernels', 'copies', 'memsets', 'graphLaunches'] as const)
    for (const [table, row] of rowsIn(profile, name, window)) {
      const call = table.launch[row];
      if (call === NONE || !calls) continue;
      fromNs = Math.min(fromNs, calls.start[call]);
      toNs = Math.max(toNs, calls.end[call]);
    }
  return { fromNs, toNs };
}

const hostTables = [
  ['ops', 'cpu_op'],
  ['frames', 'python_function'],
  ['osCalls', 'os_call'],
  ['overheads', 'overhead'],
] as const;

/** Optional columns of a row that hold something, under the names the trace gives them. */
function known(table: Columns, row: number, names: Readonly<Record<string, string>>): Event {
  const found = Object.entries(names).filter(([column]) => {
    const value = table[column]?.[row];
    return value !== undefined && !Number.isNaN(value) && value !== NONE;
  });
  return Object.fromEntries(found.map(([column, name]) => [name, table[column][row]]));
}

function span(cat: string, name: string, table: Columns, row: number, openUntil = Number.NaN): Event {
  const end = Number.isNaN(table.end[row]) ? openUntil : table.end[row];
  return { ph: 'X', cat, name, ts: micro(table.start[row]), dur: micro(end - table.start[row]) };
}

function* rowsIn(
  profile: Profile,
  name: TableName,
  { fromNs, toNs }: TimeWindow,
): Iterable<[Columns, number]> {
  const table = profile.tables[name] as unknown as Columns | undefined;
  if (!table) return;
  const { start, end = start } = table;
  for (let row = 0; row < table.length && start[row] < toNs; row++) {
    const isIn = start[row] >= fromNs || end[row] > fromNs || Number.isNaN(end[row]);
    const isPlaced = !('stream' in table) || name === 'ranges' || table.stream[row] !== NONE;
    const hasThread = name !== 'apiCalls' || table.thread[row] !== NONE;
    if (isIn && isPlaced && hasThread) yield [table, row];
  }
}

function* namesOf(profile: Profile): Iterable<Event> {
  const named = (pid: number, name: string, labels: string): Event[] => [
    { ph: 'M', name: 'process_name', pid, tid: 0, ts: 0, args: { name } },
    { ph: 'M', name: 'process_labels', pid, tid: 0, ts: 0, args: { labels } },
  ];
  for (const { pid, name } of profile.processes) yield* named(pid, name, 'CPU');
  for (const { deviceId } of profile.gpus)
    yield* named(deviceId, profile.processes[0]?.name ?? '', `GPU ${deviceId}`);
  for (const { process, tid, name } of profile.threads) {
    const { pid } = profile.processes[process];
    yield { ph: 'M', name: 'thread_name', pid, tid, ts: 0, args: { name: name || `thread ${tid}` } };
  }
  for (const { gpu, streamId } of profile.streams) {
    const pid = profile.gpus[gpu].deviceId;
    yield { ph: 'M', name: 'thread_name', pid, tid: streamId, ts: 0, args: { name: `stream ${streamId}` } };
  }
}
