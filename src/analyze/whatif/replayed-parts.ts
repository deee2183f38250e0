/**
 * Where the time of replayed steps goes, by the same rules as the measured budget: kernels by family, exposed
 * communication, exposed copies, idle by cause. Parts of a step sum to the step.
 */
import { idleCauses } from '../../catalog/idle-causes.js';
import { families } from '../../catalog/kernels/families.js';
import { timelinesOf } from '../gpu/device-timeline.js';
import type { PlacedWork } from '../gpu/gpu-work.js';
import { ownersOf } from '../gpu/moment-owners.js';
import { HIDDEN } from '../gpu/work-families.js';
import type { Line } from '../host/thread-activity.js';
import { judgeOf } from '../inference/idle-causes.js';
import type { ReplayTimes } from './replay.js';
import type { ReplayModel } from './replay-model.js';

/** `kernel:gemm`, `replay`, `communication`, `copies`, `idle:host-code` */
export type Parts = ReadonlyMap<string, number>;

/** One for each step that is counted, in order. */
export function replayedParts(
  model: ReplayModel,
  times: ReplayTimes,
  isCounted: (k: number) => boolean,
): Parts[] {
  const { work, family, launch } = placed(model, times);
  const [timeline] = timelinesOf(work, family);
  if (!timeline) return [];
  const owners = ownersOf(work, family, [timeline]);
  const lines = hostLines(model, times);
  const { explainAll } = judgeOf(
    launch,
    { start: times.itemBegin, end: times.itemEnd, thread: model.items.map(item => item.thread) },
    thread => lines.get(thread)!,
  );
  const [{ thread }] = model.threads;
  return model.steps.flatMap((step, k) => {
    if (!isCounted(k)) return [];
    const from = k === 0 ? step.windowStart : times.stepEnd[k - 1];
    const to = times.stepEnd[k];
    const parts = new Map<string, number>();
    const add = (part: string, ns: number) => parts.set(part, (parts.get(part) ?? 0) + ns);
    owners.visit('compute', model.device, from, to, (i, ns) =>
      add(family[i] === HIDDEN ? 'replay' : `kernel:${families[family[i]].id}`, ns),
    );
    owners.visit('communication', model.device, from, to, (_, ns) => add('communication', ns));
    owners.visit('copies', model.device, from, to, (_, ns) => add('copies', ns));
    const perCause = new Float64Array(idleCauses.length);
    const { length, cause, start, end } = explainAll(timeline, from, to, thread);
    for (let i = 0; i < length; i++) perCause[cause[i]] += end[i] - start[i];
    perCause.forEach((ns, cause) => {
      if (ns > 0) add(`idle:${idleCauses[cause].id}`, ns);
    });
    return [parts];
  });
}

/** Work in order of start, as the timelines want it. */
function placed({ ops, device }: ReplayModel, { opStart, opEnd }: ReplayTimes) {
  const order = [...ops.keys()].sort((a, b) => opStart[a] - opStart[b] || a - b);
  const streamEnd = new Map<number, number>();
  const ownStart = Float64Array.from(order, j => {
    const free = streamEnd.get(ops[j].stream) ?? -Infinity;
    if (opEnd[j] <= free) return opStart[j];
    streamEnd.set(ops[j].stream, opEnd[j]);
    return Math.max(opStart[j], free);
  });
  const work: PlacedWork = {
    length: order.length,
    start: Float64Array.from(order, j => opStart[j]),
    end: Float64Array.from(order, j => opEnd[j]),
    ownStart,
    device: new Int32Array(order.length).fill(device),
    kind: Uint8Array.from(order, j => ops[j].kind),
    devices: order.length > 0 ? [device] : [],
  };
  return {
    work,
    family: Uint8Array.from(order, j => ops[j].family),
    launch: Int32Array.from(order, j => ops[j].launch),
  };
}

/** What each thread does in the replay, as thread-activity has it for the recording. */
function hostLines({ items, threads }: ReplayModel, { itemBegin, itemEnd }: ReplayTimes): Map<number, Line> {
  return new Map(
    threads.map(({ thread, items: own }) => {
      const segments: { start: number; end: number; cause: number }[] = [];
      for (const i of own) {
        // A wait begins with its first nanosecond; its causes speak of what comes after.
        let at = itemEnd[i] - items[i].ns;
        if (at > itemBegin[i] && items[i].causes.length > 0)
          segments.push({ start: itemBegin[i], end: at, cause: items[i].causes[0].cause });
        for (const { cause, ns } of items[i].causes) {
          if (ns > 0) segments.push({ start: at, end: at + ns, cause });
          at += ns;
        }
      }
      const column = (of: (segment: (typeof segments)[number]) => number) => Float64Array.from(segments, of);
      return [
        thread,
        {
          start: column(({ start }) => start),
          end: column(({ end }) => end),
          cause: Uint8Array.from(segments, ({ cause }) => cause),
          at: 0,
        },
      ];
    }),
  );
}
