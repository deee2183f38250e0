/**
 * What the two utilisation rules look at: per process and GPU, every piece of GPU work, plus the profiler's own
 * overhead where it falls inside, since the user cannot remove it. Columns: there may be millions.
 */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';

export interface DeviceOperations {
  readonly pid: number;
  readonly deviceId: number;
  /** In the order in which they were recorded, by kind. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly contextIds: Float64Array;
}

interface Extent {
  readonly start: number;
  readonly end: number;
  readonly contextId: number;
}

const OVERHEAD_NAMES = [
  'CUDA profiling data flush overhead',
  'CUDA profiling stop overhead',
  'CUDA profiling overhead',
];

export function operationsByDevice(profile: Profile): DeviceOperations[] {
  const groups: { pid: number; deviceId: number; length: number }[] = [];
  const groupOfStream = profile.streams.map(({ process, gpu }) => {
    const { pid } = profile.processes[process];
    const { deviceId } = profile.gpus[gpu];
    const known = groups.findIndex(group => group.pid === pid && group.deviceId === deviceId);
    return known >= 0 ? known : groups.push({ pid, deviceId, length: 0 }) - 1;
  });
  forEachWork(profile, stream => {
    groups[groupOfStream[stream]].length++;
  });
  const devices = groups.map(({ pid, deviceId, length }) => ({
    ...{ pid, deviceId, starts: new Float64Array(length), ends: new Float64Array(length) },
    ...{ contextIds: new Float64Array(length), filled: 0 },
  }));
  forEachWork(profile, (stream, start, end) => {
    const device = devices[groupOfStream[stream]];
    device.starts[device.filled] = start;
    device.ends[device.filled] = end;
    device.contextIds[device.filled++] = profile.streams[stream].contextId;
  });
  return devices
    .filter(({ filled }) => filled > 0)
    .map(device => withOverhead(profile, device))
    .sort((a, b) => a.pid - b.pid || a.deviceId - b.deviceId);
}

function forEachWork(profile: Profile, visit: (stream: number, start: number, end: number) => void): void {
  for (const name of ['kernels', 'copies', 'memsets'] as const) {
    const work = tableNamed(profile, name);
    for (let row = 0 as Row<'copies' | 'kernels' | 'memsets'>; row < (work?.length ?? 0); row++) {
      // Work before the session's zero is warm-up left over from the profiler's own start.
      if (work!.start[row] <= 0 || work!.stream[row] === NONE) continue;
      visit(work!.stream[row], work!.start[row], work!.end[row]);
    }
  }
}

function withOverhead(profile: Profile, device: DeviceOperations): DeviceOperations {
  const { pid, deviceId } = device;
  const overheads = profile.tables.overheads;
  const names = new Set(
    OVERHEAD_NAMES.map(name => profile.strings.find(name) as number).filter(id => id !== NONE),
  );
  const { start, end, contextId } = extent(device);
  const inside: Row<'overheads'>[] = [];
  for (let row = 0 as Row<'overheads'>; row < (overheads?.length ?? 0); row++) {
    if (!names.has(overheads!.name[row]) || overheads!.thread[row] === NONE) continue;
    const { process } = profile.threads[overheads!.thread[row]];
    if (profile.processes[process].pid !== pid) continue;
    if (overheads!.start[row] > start && overheads!.end[row] < end) inside.push(row);
  }
  const more = (cells: Float64Array, added: (row: Row<'overheads'>) => number): Float64Array => {
    if (inside.length === 0) return cells;
    const longer = new Float64Array(cells.length + inside.length);
    longer.set(cells);
    longer.set(inside.map(added), cells.length);
    return longer;
  };
  return {
    ...{ pid, deviceId },
    starts: more(device.starts, row => overheads!.start[row]),
    ends: more(device.ends, row => overheads!.end[row]),
    contextIds: more(device.contextIds, () => contextId),
  };
}

/** From the first start to the last end; the context is that of the work that ends last, as NVIDIA reports it. */
export function extent({ starts, ends, contextIds }: DeviceOperations): Extent {
  let start = Infinity;
  let latest = 0;
  for (let i = 0; i < starts.length; i++) {
    if (starts[i] < start) start = starts[i];
    if (ends[i] > ends[latest]) latest = i;
  }
  return { start, end: ends[latest], contextId: contextIds[latest] };
}
