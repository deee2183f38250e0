/**
 * What the two utilisation rules look at: per process and GPU, every piece of GPU work, plus the profiler's own
 * overhead where it falls inside, since the user cannot remove it.
 */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';

interface Operation {
  readonly start: number;
  readonly end: number;
  readonly contextId: number;
}

export interface DeviceOperations {
  readonly pid: number;
  readonly deviceId: number;
  readonly operations: Operation[];
}

const OVERHEAD_NAMES = [
  'CUDA profiling data flush overhead',
  'CUDA profiling stop overhead',
  'CUDA profiling overhead',
];

export function operationsByDevice(profile: Profile): DeviceOperations[] {
  const groups = new Map<string, DeviceOperations & { operations: Operation[] }>();
  for (const name of ['kernels', 'copies', 'memsets'] as const) {
    const work = tableNamed(profile, name);
    for (let row = 0 as Row<'copies' | 'kernels' | 'memsets'>; row < (work?.length ?? 0); row++) {
      // Work before the session's zero is warm-up left over from the profiler's own start.
      if (work!.start[row] <= 0 || work!.stream[row] === NONE) continue;
      const stream = profile.streams[work!.stream[row]];
      const pid = profile.processes[stream.process].pid;
      const { deviceId } = profile.gpus[stream.gpu];
      const key = `${deviceId}/${pid}`;
      let group = groups.get(key);
      if (!group) groups.set(key, (group = { pid, deviceId, operations: [] }));
      group.operations.push({ start: work!.start[row], end: work!.end[row], contextId: stream.contextId });
    }
  }
  for (const group of groups.values()) addOverhead(profile, group);
  return [...groups.values()].sort((a, b) => a.pid - b.pid || a.deviceId - b.deviceId);
}

function addOverhead(profile: Profile, group: DeviceOperations): void {
  const overheads = profile.tables.overheads;
  if (!overheads) return;
  const names = new Set(
    OVERHEAD_NAMES.map(name => profile.strings.find(name) as number).filter(id => id !== NONE),
  );
  const { start, end, contextId } = extent(group.operations);
  for (let row = 0 as Row<'overheads'>; row < overheads.length; row++) {
    if (!names.has(overheads.name[row]) || overheads.thread[row] === NONE) continue;
    const { process } = profile.threads[overheads.thread[row]];
    if (profile.processes[process].pid !== group.pid) continue;
    if (overheads.start[row] > start && overheads.end[row] < end) {
      group.operations.push({ start: overheads.start[row], end: overheads.end[row], contextId });
    }
  }
}

/** From the first start to the last end; the context is that of the work that ends last, as NVIDIA reports it. */
export function extent(operations: readonly Operation[]): Operation {
  let start = Infinity;
  let latest = operations[0];
  for (const operation of operations) {
    if (operation.start < start) start = operation.start;
    if (operation.end > latest.end) latest = operation;
  }
  return { start, end: latest.end, contextId: latest.contextId };
}
