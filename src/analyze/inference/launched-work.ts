/** The GPU work of each process in the order in which it was launched. */
import { NONE } from '../../base/column.js';
import { isSorted, orderBy } from '../../base/order.js';
import type { Profile } from '../../model/profile.js';
import type { GpuWork } from '../gpu/gpu-work.js';

/** Work of one process in order of launch, with the call that launched each piece. */
export interface LaunchedWork {
  readonly process: number;
  readonly thread: number;
  readonly work: Int32Array;
  readonly at: Float64Array;
}

export function launchedByProcess(profile: Profile, work: GpuWork): LaunchedWork[] {
  const calls = profile.tables.apiCalls;
  const processOfStream = Int32Array.from(profile.streams, ({ process }) => process);
  const lists = new Map<number, { indexes: Int32Array; moments: Float64Array; length: number }>();
  const counts = new Int32Array(profile.processes.length);
  for (let i = 0; i < work.length; i++) counts[processOfStream[work.stream[i]]]++;
  for (let i = 0; i < work.length; i++) {
    const process = processOfStream[work.stream[i]];
    let list = lists.get(process);
    if (!list) {
      const count = counts[process];
      list = { indexes: new Int32Array(count), moments: new Float64Array(count), length: 0 };
      lists.set(process, list);
    }
    const launch = work.launch[i];
    list.indexes[list.length] = i;
    list.moments[list.length++] = launch === NONE ? work.start[i] : calls!.start[launch];
  }
  return [...lists].map(([process, { indexes, moments }]) => {
    const perThread = new Map<number, number>();
    const order = isSorted(moments) ? undefined : orderBy(moments);
    const ordered = order ? order.map(place => indexes[place]) : indexes;
    for (const i of ordered) {
      if (work.launch[i] === NONE) continue;
      const thread = calls!.thread[work.launch[i]];
      perThread.set(thread, (perThread.get(thread) ?? 0) + 1);
    }
    const [thread = NONE] = [...perThread].sort((a, b) => b[1] - a[1])[0] ?? [];
    const at = order ? Float64Array.from(order, place => moments[place]) : moments;
    return { process, thread, work: ordered, at };
  });
}
