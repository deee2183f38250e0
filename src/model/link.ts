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

interface Calls {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly correlation: Uint32Array;
  readonly thread: Int32Array;
}

/** A profiler that counts anew gives an id twice: the last call before the work is its launch. */
type Repeated = Map<string, number[]>;

/**
 * Fills the `launch` columns in place, and says how much work has an id that several calls of its process have. Only
 * the builder and slicing call it, before the Profile is handed out.
 */
export function linkLaunches(profile: Profile): number {
  const calls = profile.tables.apiCalls as unknown as Calls | undefined;
  const work = linked.flatMap(name => {
    const table = profile.tables[name] as unknown as
      | {
          length: number;
          start: Float64Array;
          correlation: Uint32Array;
          stream: Int32Array;
          launch: Int32Array;
        }
      | undefined;
    return table ? [table] : [];
  });
  if (work.length === 0) return 0;
  for (const table of work) table.launch.fill(NONE);
  if (!calls) return 0;

  const processOfThread = Int32Array.from(profile.threads, thread => thread.process);
  const processOfStream = Int32Array.from(profile.streams, stream => stream.process);
  const repeated: Repeated = new Map();
  const find = indexCalls(calls, processOfThread, repeated);
  let ambiguous = 0;
  for (const { length, ...table } of work) {
    const { correlation: ids, stream: streams, launch } = table;
    // Kernels of a graph come one after the other with the id of its launch.
    let [lastId, lastStream, lastLaunch]: number[] = [0, NONE, NONE];
    for (let row = 0; row < length; row++) {
      const correlation = ids[row];
      const stream = streams[row];
      if (correlation === 0 || stream === NONE) continue;
      if (correlation === lastId && stream === lastStream) {
        launch[row] = lastLaunch;
        continue;
      }
      const process = processOfStream[stream];
      launch[row] = find(correlation, process);
      const several = repeated.size > 0 ? repeated.get(`${process}/${correlation}`) : undefined;
      if (!several) {
        [lastId, lastStream, lastLaunch] = [correlation, stream, launch[row]];
        continue;
      }
      ambiguous++;
      launch[row] = several.findLast(call => calls.start[call] <= table.start[row]) ?? several[0];
    }
  }
  return ambiguous;
}

/** One process with dense ids (the usual case) becomes an array lookup; otherwise a chained hash of id and process. */
function indexCalls(calls: Calls, processOfThread: Int32Array, repeated: Repeated) {
  const { correlation, thread, start, end } = calls;
  /** A driver call inside the runtime call that made it has its id too: only calls apart from each other are several. */
  const noteRepeat = (row: number, later: number, owner: number) => {
    if (start[later] < end[row]) return;
    const key = `${owner}/${correlation[row]}`;
    const rows = repeated.get(key) ?? [later];
    rows.unshift(row);
    repeated.set(key, rows);
  };
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
      if (correlation[row] === 0) continue;
      const place = correlation[row] - lowest;
      if (rowOf[place] !== NONE) noteRepeat(row, rowOf[place], process);
      rowOf[place] = row;
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
    const owner = processOfThread[thread[row]];
    const later = find(correlation[row], owner);
    if (later !== NONE) noteRepeat(row, later, owner);
    const slot = slotOf(correlation[row], owner);
    next[row] = heads[slot];
    heads[slot] = row;
  }
  return find;

  function find(id: number, owner: number): number {
    for (let row = heads[slotOf(id, owner)]; row !== NONE; row = next[row]) {
      if (correlation[row] === id && processOfThread[thread[row]] === owner) return row;
    }
    return NONE;
  }
}

/**
 * Some captures hold a call twice (a library's and the runtime's record of one launch, same id). For each API row:
 * the next row with the same correlation id and process, or NONE. Undefined when no call has a twin.
 */
export function callTwins(profile: Profile): Rows<'apiCalls'> | undefined {
  const calls = profile.tables.apiCalls as unknown as Calls | undefined;
  if (!calls) return undefined;
  const processOfThread = Int32Array.from(profile.threads, thread => thread.process);
  const find = indexCalls(calls, processOfThread, new Map());
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
