/**
 * Finds the API call behind each piece of GPU work: same correlation id, same process.
 *
 *   cpu  [cudaGraphLaunch #7]
 *   gpu        [kernel #7][kernel #7][memset #7]      all three link to that one call
 */
import { NONE } from '../base/column.js';
import type { Profile } from './profile.js';
import { asRows, type Rows } from './rows.js';

const linked = ['kernels', 'copies', 'memsets', 'graphLaunches', 'syncs'] as const;

/** Fills the `launch` columns in place. Only the builder and merge call it, before the Profile is handed out. */
export function linkLaunches(profile: Profile): void {
  const calls = profile.tables.apiCalls as unknown as
    | { length: number; correlation: Uint32Array; thread: Int32Array }
    | undefined;
  const work = linked.flatMap(name => {
    const table = profile.tables[name] as unknown as
      | { length: number; correlation: Uint32Array; stream: Int32Array; launch: Int32Array }
      | undefined;
    return table ? [table] : [];
  });
  if (work.length === 0) return;
  for (const table of work) table.launch.fill(NONE);
  if (!calls) return;

  const processOfThread = Int32Array.from(profile.threads, thread => thread.process);
  const processOfStream = Int32Array.from(profile.streams, stream => stream.process);
  const find = indexCalls(calls.correlation, calls.thread, processOfThread);
  for (const table of work) {
    for (let row = 0; row < table.length; row++) {
      const correlation = table.correlation[row];
      if (correlation === 0 || table.stream[row] === NONE) continue;
      table.launch[row] = find(correlation, processOfStream[table.stream[row]]);
    }
  }
}

/** One process with dense ids (the usual case) becomes an array lookup; otherwise a chained hash of id and process. */
function indexCalls(correlation: Uint32Array, thread: Int32Array, processOfThread: Int32Array) {
  let lowest = 0xffffffff;
  let highest = 0;
  for (let row = 0; row < correlation.length; row++) {
    const id = correlation[row];
    if (id === 0) continue;
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  const [process = NONE] = processOfThread;
  const oneProcess = processOfThread.every(owner => owner === process);
  if (highest === 0) return () => NONE;
  const span = highest - lowest + 1;
  if (oneProcess && span <= correlation.length * 8 + 1024) {
    const rowOf = new Int32Array(span).fill(NONE);
    for (let row = correlation.length - 1; row >= 0; row--) {
      if (correlation[row] !== 0) rowOf[correlation[row] - lowest] = row;
    }
    return (id: number, owner: number) =>
      owner === process && id >= lowest && id <= highest ? rowOf[id - lowest] : NONE;
  }
  let size = 1024;
  while (size < correlation.length * 2) size *= 2;
  const heads = new Int32Array(size).fill(NONE);
  const next = new Int32Array(correlation.length).fill(NONE);
  const slotOf = (id: number, owner: number) =>
    (Math.imul(id, 0x9e3779b1) ^ Math.imul(owner, 0x85ebca6b)) & (size - 1);
  for (let row = correlation.length - 1; row >= 0; row--) {
    if (correlation[row] === 0 || thread[row] === NONE) continue;
    const slot = slotOf(correlation[row], processOfThread[thread[row]]);
    next[row] = heads[slot];
    heads[slot] = row;
  }
  return (id: number, owner: number) => {
    for (let row = heads[slotOf(id, owner)]; row !== NONE; row = next[row]) {
      if (correlation[row] === id && processOfThread[thread[row]] === owner) return row;
    }
    return NONE;
  };
}

/**
 * Some captures hold a call twice (a library's and the runtime's record of one launch, same id). For each API row:
 * the next row with the same correlation id and process, or NONE. Undefined when no call has a twin.
 */
export function callTwins(profile: Profile): Rows<'apiCalls'> | undefined {
  const calls = profile.tables.apiCalls as unknown as
    | { correlation: Uint32Array; thread: Int32Array }
    | undefined;
  if (!calls) return undefined;
  const processOfThread = Int32Array.from(profile.threads, thread => thread.process);
  const find = indexCalls(calls.correlation, calls.thread, processOfThread);
  const twins = new Int32Array(calls.correlation.length).fill(NONE);
  const lastOf = new Map<number, number>();
  for (let row = 0; row < twins.length; row++) {
    if (calls.correlation[row] === 0 || calls.thread[row] === NONE) continue;
    const first = find(calls.correlation[row], processOfThread[calls.thread[row]]);
    if (first === row || first === NONE) continue;
    twins[lastOf.get(first) ?? first] = row;
    lastOf.set(first, row);
  }
  return lastOf.size > 0 ? asRows(twins) : undefined;
}
