/** Everything that ran on GPUs (kernels, copies, memsets, graph replays recorded as blocks) in one list by start. */
import { NONE } from '../../base/column.js';
import { isSorted, orderBy } from '../../base/order.js';
import type { Derived } from '../analysis.js';
import { cells } from '../cells.js';

export const WorkKind = { kernel: 0, copy: 1, memset: 2, graphBlock: 3 } as const;

export interface GpuWork {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Row of Profile.gpus. */
  readonly device: Int32Array;
  readonly stream: Int32Array;
  /** The API call that launched it, or NONE. */
  readonly launch: Int32Array;
  /** See WorkKind. */
  readonly kind: Uint8Array;
  /** Row in the table of its kind. */
  readonly row: Int32Array;
  /** Devices with work, in order. */
  readonly devices: readonly number[];
}

const sources = [
  ['kernels', WorkKind.kernel],
  ['copies', WorkKind.copy],
  ['memsets', WorkKind.memset],
  ['graphLaunches', WorkKind.graphBlock],
] as const;

export const gpuWork: Derived<GpuWork> = {
  id: 'gpu-work',
  reads: { kernels: [], copies: [], memsets: [], graphLaunches: [] },
  uses: [],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  compute({ profile }) {
    const tables = sources.flatMap(([name, kind]) => {
      const table = cells(profile, name);
      return table ? [{ table, kind }] : [];
    });
    const most = tables.reduce((sum, { table }) => sum + table.length, 0);
    const unordered = columns(most);
    let length = 0;
    const deviceOfStream = Int32Array.from(profile.streams, stream => stream.gpu);
    for (const { table, kind } of tables) {
      for (let row = 0; row < table.length; row++) {
        // Work without a stream has no place on a device's timeline.
        if (table.stream[row] === NONE || !(table.end[row] >= table.start[row])) continue;
        unordered.start[length] = table.start[row];
        unordered.end[length] = table.end[row];
        unordered.stream[length] = table.stream[row];
        unordered.device[length] = deviceOfStream[table.stream[row]];
        unordered.launch[length] = table.launch[row];
        unordered.kind[length] = kind;
        unordered.row[length++] = row;
      }
    }
    const ordered = inOrder(unordered, length);
    const used = new Set<number>(ordered.device);
    return { length, ...ordered, devices: [...used].sort((a, b) => a - b) };
  },
};

function columns(length: number) {
  return {
    start: new Float64Array(length),
    end: new Float64Array(length),
    device: new Int32Array(length),
    stream: new Int32Array(length),
    launch: new Int32Array(length),
    kind: new Uint8Array(length),
    row: new Int32Array(length),
  };
}

function inOrder(unordered: ReturnType<typeof columns>, length: number): ReturnType<typeof columns> {
  const start = unordered.start.subarray(0, length);
  if (isSorted(start)) {
    const cut = Object.entries(unordered).map(([name, column]) => [name, column.subarray(0, length)]);
    return Object.fromEntries(cut) as ReturnType<typeof columns>;
  }
  const order = orderBy(start);
  const ordered = columns(length);
  for (const name of Object.keys(ordered) as (keyof typeof ordered)[]) {
    const from = unordered[name];
    const into = ordered[name];
    for (let i = 0; i < length; i++) into[i] = from[order[i]];
  }
  return ordered;
}
