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
    // By thread, that of unknown threads first; and the threads in order of their first launch.
    const perThread = new Int32Array(1 + profile.threads.length);
    const threads: number[] = [];
    const order = isSorted(moments) ? undefined : orderBy(moments);
    const ordered = order ? order.map(place => indexes[place]) : indexes;
    for (let at = 0; at < ordered.length; at++) {
      const launch = work.launch[ordered[at]];
      if (launch === NONE) continue;
      const thread = calls!.thread[launch];
      if (perThread[1 + thread]++ === 0) threads.push(thread);
    }
    const [thread = NONE] = threads.sort((a, b) => perThread[1 + b] - perThread[1 + a]);
    const at = order ? Float64Array.from(order, place => moments[place]) : moments;
    return { process, thread, work: ordered, at };
  });
}
