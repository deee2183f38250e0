/**
 * Calls of framework operators as trees, and which of them launched each piece of GPU work: the innermost one open on
 * the launching thread.
 *
 *   linear      ████████████████
 *     addmm       ██████████        parent: linear
 *       launch      ▒▒              its kernel belongs to addmm, and through it to linear
 */
import { NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { Innermost } from '../../base/innermost.js';
import { markedOperator } from '../../catalog/operator-ranges.js';
import type { Profile, Row } from '../../model/profile.js';
import { asRows } from '../../model/rows.js';
import { OpKind, RangeKind } from '../../model/schema.js';
import { type Derived, notRecorded } from '../analysis.js';
import type { OperatorKind } from '../captured-graph.js';
import { type GpuWork, gpuWork, WorkKind } from '../gpu/gpu-work.js';

export interface OpCalls {
  readonly length: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly thread: Int32Array;
  /** Index into `kinds`. */
  readonly kind: Int32Array;
  readonly kinds: readonly OperatorKind[];
  /** The call that made it, or NONE. Callers come before the calls they make. */
  readonly parent: Int32Array;
  /** Per piece of GPU work: the innermost call that launched it, or NONE. */
  readonly ofWork: Int32Array;
  /** Per API call: the innermost operator it was made by, or NONE. */
  readonly ofApiCall: Int32Array;
}

const NO_WORK: Pick<GpuWork, 'length' | 'launch' | 'kind' | 'row'> = {
  ...{
    length: 0,
    launch: asRows(new Int32Array(0)),
    kind: new Uint8Array(0),
    row: asRows(new Int32Array(0)),
  },
};

/** A profile without operators, where another file tells what its graphs run. */
export const noOpCalls = (workLength: number, apiLength: number): OpCalls => ({
  ...{ length: 0, start: new Float64Array(0), end: new Float64Array(0), thread: new Int32Array(0) },
  ...{ kind: new Int32Array(0), kinds: [], parent: new Int32Array(0) },
  ofWork: new Int32Array(workLength).fill(NONE),
  ofApiCall: new Int32Array(apiLength).fill(NONE),
});

interface Call {
  readonly start: number;
  readonly end: number;
  readonly kind: number;
  /** Row of ops, or NONE for a range. */
  readonly row: number;
}

export const opCalls: Derived<OpCalls> = {
  id: 'op-calls',
  reads: { ops: ['shapes', 'types'], ranges: [], kernels: ['op'], apiCalls: ['op'] },
  uses: [gpuWork],
  compute({ profile, useIfRecorded }) {
    const kinds: OperatorKind[] = [];
    const byThread = collect(profile, kinds);
    if (byThread.size === 0) throw notRecorded(profile, ['ops']);
    const columns = {
      ...{ start: new GrowingColumn('f64'), end: new GrowingColumn('f64') },
      ...{
        thread: new GrowingColumn('i32'),
        kind: new GrowingColumn('i32'),
        parent: new GrowingColumn('i32'),
      },
    };
    const callOfRow = new Int32Array(profile.tables.ops?.length ?? 0).fill(NONE);
    const firstOf = new Map<number, number>();
    for (const [thread, calls] of byThread) {
      calls.sort((a, b) => a.start - b.start || b.end - a.end);
      const first = columns.start.length;
      firstOf.set(thread, first);
      const open: number[] = [];
      calls.forEach((call, i) => {
        while (open.length > 0 && calls[open[open.length - 1]].end < call.end) open.pop();
        columns.start.push(call.start);
        columns.end.push(call.end);
        columns.thread.push(thread);
        columns.kind.push(call.kind);
        columns.parent.push(open.length > 0 ? first + open[open.length - 1] : NONE);
        if (call.row !== NONE) callOfRow[call.row] = first + i;
        open.push(i);
      });
    }
    const ofApiCall = callsOfApi(profile, byThread, firstOf, callOfRow);
    // A trace of graph captures has operators and launches, but nothing runs.
    const work = useIfRecorded(gpuWork) ?? NO_WORK;
    const opOfKernel = profile.tables.kernels?.op;
    const ofWork = new Int32Array(work.length).fill(NONE);
    for (let i = 0; i < work.length; i++) {
      const launch = work.launch[i];
      const linked = work.kind[i] === WorkKind.kernel ? (opOfKernel?.[work.row[i]] ?? NONE) : NONE;
      if (linked !== NONE) ofWork[i] = callOfRow[linked];
      if (ofWork[i] === NONE && launch !== NONE) ofWork[i] = ofApiCall[launch];
    }
    const { length } = columns.start;
    const finished = Object.entries(columns).map(([name, column]) => [name, column.finishAll()]);
    return {
      length,
      ...(Object.fromEntries(finished) as Pick<OpCalls, 'start' | 'end' | 'thread' | 'kind' | 'parent'>),
      ...{ kinds, ofWork, ofApiCall },
    };
  },
};

function collect({ tables, strings }: Profile, kinds: OperatorKind[]): Map<number, Call[]> {
  const byThread = new Map<number, Call[]>();
  const kindOf = new Map<string, number>();
  const add = (
    thread: number,
    key: string,
    kind: () => OperatorKind | undefined,
    call: Omit<Call, 'kind'>,
  ) => {
    let index = kindOf.get(key);
    if (index === undefined) {
      // Ranges number their calls: names that differ may be one operator.
      const found = kind();
      const same = found && `${found.name}\n${found.shapes}\n${found.types}`;
      index = same === undefined ? NONE : (kindOf.get(same) ?? kinds.push(found!) - 1);
      if (same !== undefined) kindOf.set(same, index);
      kindOf.set(key, index);
    }
    if (index === NONE) return;
    const list = byThread.get(thread);
    if (list) list.push({ ...call, kind: index });
    else byThread.set(thread, [{ ...call, kind: index }]);
  };
  const { ops, ranges } = tables;
  const text = (id: number | undefined) => (id === undefined || id === NONE ? '' : strings.text(id));
  for (let row = 0 as Row<'ops'>; row < (ops?.length ?? 0); row++) {
    if (ops!.thread[row] === NONE || ops!.kind[row] !== OpKind.framework) continue;
    const [name, shapes, types] = [ops!.name[row], ops!.shapes?.[row], ops!.types?.[row]];
    add(
      ops!.thread[row],
      `${name}/${shapes}/${types}`,
      () => ({ name: text(name), shapes: text(shapes), types: text(types) }),
      { start: ops!.start[row], end: ops!.end[row], row },
    );
  }
  // A trace of PyTorch has them as operators already.
  for (let row = 0 as Row<'ranges'>; !ops && row < (ranges?.length ?? 0); row++) {
    const name = ranges!.name[row];
    if (ranges!.kind[row] !== RangeKind.pushPop || name === NONE || ranges!.thread[row] === NONE) continue;
    if (!(ranges!.end[row] >= ranges!.start[row])) continue;
    const marked = () => {
      const found = markedOperator(strings.text(name));
      return found && { ...found, types: '' };
    };
    add(ranges!.thread[row], `${name}`, marked, {
      start: ranges!.start[row],
      end: ranges!.end[row],
      row: NONE,
    });
  }
  return byThread;
}

/** Calls are in order of time: each thread's operators are walked once. */
function callsOfApi(
  { tables: { apiCalls }, threads }: Profile,
  byThread: ReadonlyMap<number, Call[]>,
  firstOf: ReadonlyMap<number, number>,
  callOfRow: Int32Array,
): Int32Array {
  const found = new Int32Array(apiCalls?.length ?? 0).fill(NONE);
  const lookups = threads.map((_, thread) => {
    const calls = byThread.get(thread);
    return calls && new Innermost(calls);
  });
  for (let row = 0 as Row<'apiCalls'>; row < found.length; row++) {
    const linked = apiCalls!.op?.[row] ?? NONE;
    if (linked !== NONE) found[row] = callOfRow[linked];
    const thread = apiCalls!.thread[row];
    if (found[row] !== NONE || thread === NONE) continue;
    const place = lookups[thread]?.at(apiCalls!.start[row]) ?? NONE;
    if (place !== NONE) found[row] = firstOf.get(thread)! + place;
  }
  return found;
}
