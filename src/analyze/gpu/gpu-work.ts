/** Everything that ran on GPUs (kernels, copies, memsets, graph replays recorded as blocks) in one list by start. */
import { allocate, allocateBelow, type NarrowCells, NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import { asRows, type Rows, tableNamed } from '../../model/rows.js';
import type { Derived } from '../analysis.js';

export const WorkKind = { kernel: 0, copy: 1, memset: 2, graphBlock: 3 } as const;

/** Where and when work ran, measured or predicted; in order of start. */
export type PlacedWork = Pick<
  GpuWork,
  'length' | 'start' | 'end' | 'ownStart' | 'device' | 'kind' | 'devices'
>;

export interface GpuWork {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /**
   * When it has its stream to itself. A stream works in order: a kernel that starts before the one in front of it has
   * ended (programmatic dependent launch) waits for it, and the moment belongs to the earlier one.
   *
   *   all-reduce  ████████
   *   norm        .....░░░███      on the same stream: ░ spins, █ is its own
   *
   * One that also ends before is a parallel branch of a graph, which nsys puts on one stream; it keeps its time.
   */
  readonly ownStart: Float64Array;
  /** Row of Profile.gpus. */
  readonly device: NarrowCells;
  readonly stream: NarrowCells;
  /** The API call that launched it, or NONE. */
  readonly launch: Rows<'apiCalls'>;
  /** See WorkKind. */
  readonly kind: Uint8Array;
  /** Row in the table of its kind. */
  readonly row: Rows<WorkTable>;
  /** Devices with work, in order. */
  readonly devices: readonly number[];
}

const sources = [
  ['kernels', WorkKind.kernel],
  ['copies', WorkKind.copy],
  ['memsets', WorkKind.memset],
  ['graphLaunches', WorkKind.graphBlock],
] as const;
type WorkTable = (typeof sources)[number][0];

export const gpuWork: Derived<GpuWork> = {
  id: 'gpu-work',
  reads: { kernels: [], copies: [], memsets: [], graphLaunches: [] },
  uses: [],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  compute({ profile }) {
    const tables = sources.flatMap(([name, kind]) => {
      const table = tableNamed(profile, name);
      return table ? [{ table, kind }] : [];
    });
    const most = tables.reduce((sum, { table }) => sum + table.length, 0);
    const merged = columns(most, profile);
    /** Absent as long as all of it is the start: in most captures it stays so. */
    let ownStarts: Float64Array | undefined;
    const deviceOfStream = Int32Array.from(profile.streams, stream => stream.gpu);
    const next = tables.map(() => 0 as Row<WorkTable>);
    const busyUntil = new Float64Array(profile.streams.length).fill(-Infinity);
    const devices = new Set<number>();
    let device: number = NONE;
    let length = 0;
    // Every table is in order of start already: take the earliest each time, and those after it that still are.
    for (let taken = 0; taken < most; ) {
      let first = 0;
      let earliest = Infinity;
      for (let t = 0; t < tables.length; t++) {
        const { table } = tables[t];
        if (next[t] < table.length && !(table.start[next[t]] >= earliest)) {
          first = t;
          earliest = table.start[next[t]];
        }
      }
      const from = next[first];
      next[first] = endOfRun(first);
      taken += next[first] - from;
      addRows(tables[first], from, next[first]);
    }
    const cut = Object.entries(merged).map(([name, column]) => [name, column.subarray(0, length)]);
    const work = Object.fromEntries(cut) as typeof merged;
    return {
      length,
      ...work,
      ownStart: ownStarts?.subarray(0, length) ?? work.start,
      launch: asRows(work.launch),
      row: asRows(work.row),
      devices: [...devices].sort((a, b) => a - b),
    };

    /** The row behind the next of a table and those that come before the next of all others; of equals the first table's. */
    function endOfRun(of: number): Row<WorkTable> {
      let before = Infinity;
      let notAfter = Infinity;
      tables.forEach(({ table }, t) => {
        if (t === of || next[t] >= table.length) return;
        const start = table.start[next[t]];
        if (t < of) before = Math.min(before, start);
        else notAfter = Math.min(notAfter, start);
      });
      const { start, length } = tables[of].table;
      let row = next[of];
      row++;
      while (row < length && start[row] < before && start[row] <= notAfter) row++;
      return row;
    }

    function addRows({ table, kind }: (typeof tables)[number], from: Row<WorkTable>, to: number): void {
      const { start, end, stream: streams, launch } = table;
      for (let row = from; row < to; row++) {
        const stream = streams[row];
        // Work without a stream has no place on a device's timeline.
        if (stream === NONE || !(end[row] >= start[row])) continue;
        const follows = end[row] > busyUntil[stream];
        const ownStart = follows ? Math.max(start[row], busyUntil[stream]) : start[row];
        if (ownStart !== start[row]) ownStarts ??= copyOf(merged.start, length);
        if (ownStarts) ownStarts[length] = ownStart;
        if (follows) busyUntil[stream] = end[row];
        merged.start[length] = start[row];
        merged.end[length] = end[row];
        merged.stream[length] = stream;
        merged.device[length] = deviceOfStream[stream];
        merged.launch[length] = launch[row];
        merged.kind[length] = kind;
        merged.row[length++] = row;
        if (deviceOfStream[stream] !== device || devices.size === 0) {
          device = deviceOfStream[stream];
          devices.add(device);
        }
      }
    }
  },
};

/** Shared with threads that help. */
function columns(length: number, { gpus, streams }: Profile) {
  const floats = () => allocate('f64', length, true) as Float64Array;
  const ints = () => allocate('i32', length, true) as Int32Array;
  return {
    start: floats(),
    end: floats(),
    device: allocateBelow(gpus.length, length, true),
    stream: allocateBelow(streams.length, length, true),
    launch: ints(),
    kind: allocate('u8', length, true) as Uint8Array,
    row: ints(),
  };
}

/** With room for as many, the first `length` of them. */
function copyOf(cells: Float64Array, length: number): Float64Array {
  const copy = allocate('f64', cells.length, true) as Float64Array;
  copy.set(cells.subarray(0, length));
  return copy;
}
