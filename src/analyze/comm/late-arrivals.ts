/**
 * Why the last rank of a collective came last. Ranks leave one collective together and meet again in the next; what the
 * last one did more in between, by the median of the others, is the cause:
 *
 *   rank 0   ███▄▄▄▄▒▒▒▒███       compute: kernels take longer, and which of them
 *   rank 1   ███▄▄▄▄▄▄▄▄███       idle: the GPU had nothing to do, and why (idle-causes.ts)
 *   rank 2   ███▄▄▄▄▒▒▒▒███       communication: other transfers; carried: it left the one before later
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { forEachGap, lengthWithin } from '../../base/intervals.js';
import { type IdleCause, idleCauses } from '../../catalog/idle-causes.js';
import { medianOf } from '../../stats/summary.js';
import type { Derived } from '../analysis.js';
import { type DeviceTimeline, deviceTimelines } from '../gpu/device-timeline.js';
import { type GpuWork, gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { familyIndex, workFamilies } from '../gpu/work-families.js';
import { gapJudge } from '../inference/idle-causes.js';
import { layerOfWork } from '../inference/layer-of-work.js';
import { selection } from '../inference/selection.js';
import { stepWork } from '../inference/step-work.js';
import { type Collective, type CollectiveWaits, collectiveWaits } from './collective-waits.js';

export type LateCause = 'compute' | 'communication' | 'carried' | 'first' | 'unknown' | IdleCause;

export interface LateArrival {
  readonly collective: Collective;
  /** Index into CollectiveCalls.ranks. */
  readonly rank: number;
  /** Index into Steps.steps, or NONE. */
  readonly step: number;
  /** Layer of the collective, or NONE. */
  readonly layer: number;
  /** Mean over the other ranks. */
  readonly waitedNs: number;
  /** Per call of the collective, when its rank left the collective before, on its own clock; NaN: none was recorded. */
  readonly left: readonly number[];
  /** No collective of the last rank was recorded before: when profilers began is part of this wait. */
  readonly first: boolean;
  /** What all would save had the last come with the one before it. */
  readonly aloneNs: number;
  readonly cause: LateCause;
  /** String id of the kernel that took most longer on the last rank; NONE: not compute. */
  readonly kernel: number;
}

interface LateArrivals {
  readonly waits: CollectiveWaits;
  /** Of the selected steps, in order of time. */
  readonly arrivals: readonly LateArrival[];
}

/** Undefined where ranks could not be matched. */
export const lateArrivals: Derived<LateArrivals | undefined> = {
  id: 'late-arrivals',
  followsSelection: true,
  reads: { kernels: [] },
  uses: [collectiveWaits, gpuWork, workFamilies, deviceTimelines, gapJudge, layerOfWork, stepWork, selection],
  compute({ profile, use, useIfRecorded }) {
    const waits = use(collectiveWaits);
    if (!waits) return undefined;
    const work = useIfRecorded(gpuWork);
    const owned = useIfRecorded(stepWork);
    const chosen = useIfRecorded(selection);
    const layers = work && useIfRecorded(layerOfWork);
    const stepOf = (call: number) => {
      const run = owned && waits.calls.work[call] !== NONE ? owned.runOfWork[waits.calls.work[call]] : NONE;
      return run === NONE ? NONE : owned!.deviceRuns[run].step;
    };
    const isSelected = (step: number) =>
      !chosen || chosen.whole || chosen.steps.length === 0 || (step !== NONE && chosen.steps[step] === 1);
    const segments = work && new Segments(work, use(workFamilies).family, use(deviceTimelines), nameOf);
    const { judge } = work ? use(gapJudge) : { judge: undefined };
    /** Per rank, the own end of the collective before. */
    const left = waits.calls.ranks.map(() => Number.NaN);
    const arrivals: LateArrival[] = [];
    for (const collective of waits.collectives) {
      const step = stepOf(collective.calls[0]);
      if (isSelected(step)) arrivals.push(arrivalOf(collective, step));
      for (const call of collective.calls) left[waits.calls.rank[call]] = waits.calls.end[call];
    }
    return { waits, arrivals };

    function nameOf(i: number): number {
      return work!.kind[i] === WorkKind.kernel ? profile.tables.kernels!.name[work!.row[i]] : NONE;
    }

    function arrivalOf(collective: Collective, step: number): LateArrival {
      const { calls } = waits!;
      const others = collective.calls.filter(call => calls.rank[call] !== collective.lastRank);
      const last = collective.calls.find(call => calls.rank[call] === collective.lastRank)!;
      const piece = calls.work[last];
      return {
        collective,
        rank: collective.lastRank,
        step,
        left: collective.calls.map(call => left[calls.rank[call]]),
        first: Number.isNaN(left[collective.lastRank]),
        layer: layers && piece !== NONE ? layers.layer[piece] : NONE,
        waitedNs: others.reduce((sum, call) => sum + waits!.waitingNs[call], 0) / others.length,
        aloneNs: collective.lastArrival - collective.secondArrival,
        ...causeOf(last, others),
      };
    }

    function causeOf(last: number, others: readonly number[]): Pick<LateArrival, 'cause' | 'kernel'> {
      const { calls, alignment } = waits!;
      const known = [last, ...others].filter(call => !Number.isNaN(left[calls.rank[call]]));
      if (known[0] !== last) return { cause: 'first', kernel: NONE };
      if (known.length < 2) return { cause: 'unknown', kernel: NONE };
      const parts = known.map(call => {
        const rank = calls.rank[call];
        const { device } = calls.ranks[rank];
        const from = left[rank];
        return { device, from, to: calls.start[call], left: alignment.toCommon(rank, from) };
      });
      const more = (of: (index: number) => number) =>
        of(0) - medianOf(Float64Array.from(parts.slice(1), (_, i) => of(i + 1)));
      if (!segments || parts.some(({ device }) => device === NONE)) {
        // Collectives of hosts: what lies between two of them is the program.
        const longer = more(i => parts[i].to - parts[i].from);
        const carried = more(i => parts[i].left);
        const cause =
          Math.max(longer, carried) <= 0 ? 'unknown' : longer >= carried ? 'host-code' : 'carried';
        return { cause, kernel: NONE };
      }
      const split = parts.map(({ device, from, to }) => segments.split(device, from, to));
      const extras: readonly (readonly [cause: LateCause | 'idle', ns: number])[] = [
        ['compute', more(i => split[i].computeNs)],
        ['idle', more(i => split[i].idleNs)],
        ['communication', more(i => split[i].otherNs)],
        ['carried', more(i => parts[i].left)],
      ];
      const [cause, ns] = extras.reduce((most, extra) => (extra[1] > most[1] ? extra : most));
      if (!(ns > 0)) return { cause: 'unknown', kernel: NONE };
      if (cause === 'idle') return { cause: idleCause(parts), kernel: NONE };
      if (cause !== 'compute') return { cause, kernel: NONE };
      return { cause, kernel: segments.longerKernel(parts) };
    }

    /** The cause that the last rank's GPU stood still for longer than those of the others. */
    function idleCause(parts: readonly Segment[]): LateCause {
      const sums = parts.map(({ device, from, to }) => {
        const perCause = new Float64Array(idleCauses.length);
        const { busy, opener } = segments!.timeline(device);
        forEachGap(busy, from, to, (start, end, next) => {
          judge!(perCause, start, end, next < busy.length ? opener[next] : NONE, NONE);
        });
        return perCause;
      });
      let best = 0;
      let most = -Infinity;
      idleCauses.forEach((_, c) => {
        const extra = sums[0][c] - medianOf(Float64Array.from(sums.slice(1), own => own[c]));
        if (extra > most) [best, most] = [c, extra];
      });
      return idleCauses[best].id;
    }
  },
};

/** What a rank did between two collectives, on its own clock. */
interface Segment {
  readonly device: number;
  readonly from: number;
  readonly to: number;
}

class Segments {
  private readonly byDevice = new Map<number, { rows: Int32Array; starts: Float64Array }>();
  private readonly timelines: ReadonlyMap<number, DeviceTimeline>;

  constructor(
    private readonly work: GpuWork,
    family: Uint8Array,
    timelines: readonly DeviceTimeline[],
    private readonly nameOf: (work: number) => number,
  ) {
    this.timelines = new Map(timelines.map(timeline => [timeline.device, timeline]));
    const communication = familyIndex('communication');
    const counts = new Map<number, number>();
    const isCompute = (i: number) => work.kind[i] === WorkKind.kernel && family[i] !== communication;
    for (let i = 0; i < work.length; i++)
      if (isCompute(i)) counts.set(work.device[i], (counts.get(work.device[i]) ?? 0) + 1);
    for (const [device, count] of counts)
      this.byDevice.set(device, { rows: new Int32Array(count), starts: new Float64Array(count) });
    const filled = new Map<number, number>();
    for (let i = 0; i < work.length; i++) {
      if (!isCompute(i)) continue;
      const at = filled.get(work.device[i]) ?? 0;
      const { rows, starts } = this.byDevice.get(work.device[i])!;
      rows[at] = i;
      starts[at] = work.start[i];
      filled.set(work.device[i], at + 1);
    }
  }

  timeline(device: number): DeviceTimeline {
    return this.timelines.get(device)!;
  }

  split(device: number, from: number, to: number): { computeNs: number; idleNs: number; otherNs: number } {
    if (device === NONE || !(to > from))
      return { computeNs: 0, idleNs: Math.max(0, to - from) || 0, otherNs: 0 };
    const { compute, busy } = this.timeline(device);
    const computeNs = lengthWithin(compute, from, to);
    const busyNs = lengthWithin(busy, from, to);
    return { computeNs, idleNs: to - from - busyNs, otherNs: busyNs - computeNs };
  }

  /** The kernel whose time on the first exceeds the median of the others most. */
  longerKernel(parts: readonly Segment[]): number {
    const sums = parts.map(part => this.timeByName(part));
    let best: number = NONE;
    let most = 0;
    for (const [name, ns] of sums[0]) {
      const extra = ns - medianOf(Float64Array.from(sums.slice(1), own => own.get(name) ?? 0));
      if (extra > most) [best, most] = [name, extra];
    }
    return best;
  }

  private timeByName({ device, from, to }: Segment): Map<number, number> {
    const sums = new Map<number, number>();
    const own = this.byDevice.get(device);
    if (!own) return sums;
    for (let k = lowerBound(own.starts, from); k < own.rows.length && own.starts[k] < to; k++) {
      const i = own.rows[k];
      const name = this.nameOf(i);
      sums.set(name, (sums.get(name) ?? 0) + this.work.end[i] - this.work.ownStart[i]);
    }
    return sums;
  }
}
