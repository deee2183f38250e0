/** Runs a launch graph from its beginning: when every item and every piece of work begins and ends. */
import { NONE } from '../../base/column.js';
import type { ReplayModel } from './replay-model.js';

export interface ReplayTimes {
  readonly itemBegin: Float64Array;
  readonly itemEnd: Float64Array;
  readonly opStart: Float64Array;
  readonly opEnd: Float64Array;
  /** Where each step ends; the first begins at its recorded window. */
  readonly stepEnd: Float64Array;
}

/** Undefined where the dependencies contradict each other, so that something waits for itself. */
export function replay(model: ReplayModel): ReplayTimes | undefined {
  const { items, ops, threads, streams, beginNs } = model;
  const times = {
    itemBegin: new Float64Array(items.length).fill(Number.NaN),
    itemEnd: new Float64Array(items.length).fill(Number.NaN),
    opStart: new Float64Array(ops.length).fill(Number.NaN),
    opEnd: new Float64Array(ops.length).fill(Number.NaN),
  };
  const { itemBegin, itemEnd, opStart, opEnd } = times;
  const queues = [
    ...threads.map(({ items: own }) => ({ list: own, at: 0, advance: advanceItem })),
    ...streams.map(({ ops: own }) => ({ list: own, at: 0, advance: advanceOp })),
  ];
  let left = queues.reduce((sum, { list }) => sum + list.length, 0);
  for (let moved = true; moved && left > 0; ) {
    moved = false;
    for (const queue of queues)
      while (queue.at < queue.list.length) {
        const before = queue.at > 0 ? queue.list[queue.at - 1] : NONE;
        if (!queue.advance(queue.list[queue.at], before)) break;
        queue.at++;
        left--;
        moved = true;
      }
  }
  return left === 0 ? { ...times, stepEnd: stepEnds(model, times) } : undefined;

  function advanceItem(i: number, before: number): boolean {
    const item = items[i];
    if (Number.isNaN(itemBegin[i])) {
      let begin = before === NONE ? beginNs : itemEnd[before];
      if (item.follows) {
        const other = itemEnd[item.follows.item];
        if (Number.isNaN(other)) return false;
        begin = Math.max(begin, other + item.follows.ns);
      }
      itemBegin[i] = begin;
    }
    const done = item.awaits === NONE ? -Infinity : opEnd[item.awaits];
    if (Number.isNaN(done)) return false;
    itemEnd[i] = Math.max(itemBegin[i], done) + item.ns;
    return true;
  }

  function advanceOp(j: number, before: number): boolean {
    const op = ops[j];
    let start = -Infinity;
    if (op.launch !== NONE) {
      const begin = itemBegin[op.launch];
      if (Number.isNaN(begin)) return false;
      const from = op.latencyFrom === 'end' ? begin + items[op.launch].ns : begin;
      start = Math.max(begin, from + op.latencyNs);
    }
    if (before !== NONE) start = Math.max(start, opEnd[before] + op.gapNs, opStart[before]);
    if (op.after) {
      const other = opEnd[op.after.op];
      if (Number.isNaN(other)) return false;
      start = Math.max(start, other + op.after.ns);
    }
    if (start === -Infinity) start = op.recordedStart;
    opStart[j] = start;
    opEnd[j] = start + op.ns;
    return true;
  }
}

function stepEnds({ steps, ops }: ReplayModel, { itemEnd, opEnd }: Omit<ReplayTimes, 'stepEnd'>) {
  const gpuEnd = new Float64Array(steps.length).fill(-Infinity);
  ops.forEach(({ step }, j) => {
    if (step !== NONE && opEnd[j] > gpuEnd[step]) gpuEnd[step] = opEnd[j];
  });
  return Float64Array.from(
    steps,
    ({ endMark, endOffsetNs }, k) => Math.max(itemEnd[endMark], gpuEnd[k]) + endOffsetNs,
  );
}

/** How long each step takes in a replay. */
export function stepLengths({ steps }: ReplayModel, { stepEnd }: ReplayTimes): Float64Array {
  return stepEnd.map((end, k) => end - (k === 0 ? steps[0].windowStart : stepEnd[k - 1]));
}
