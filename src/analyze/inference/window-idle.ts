/**
 * Idle time of the selected windows by cause, and the part of it inside forward passes: both from one look at the gaps,
 * because there may be millions of them.
 *
 * Overlapping steps hides what the host does between forward passes (inputs, sampling, scheduling) and does nothing about
 * gaps between the layers of one.
 *
 *   gpu   copy .. layers . layers . layers .. sampling ...... copy .. layers
 *                 └───── forward pass ────┘
 */
import { allocate, NONE } from '../../base/column.js';
import { GrowingColumn } from '../../base/growing-column.js';
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import { causeIndex, idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import type { IdlePieces } from '../host/idle-pieces.js';
import { forwardSpans } from './forward-spans.js';
import { causesAsObject, gapJudge } from './idle-causes.js';
import { selection } from './selection.js';
import { stepsOf } from './steps.js';

/** Summed over the selected windows of a phase. */
export interface ForwardIdle {
  /** Nanoseconds by cause. */
  readonly byCause: Readonly<Record<string, number>>;
  /** What host work takes of each gap it has a part in. */
  readonly hostGapsNs: Float64Array;
}

interface WindowIdle {
  /** By selected window: nanoseconds by cause. */
  readonly perCause: readonly Float64Array[];
  readonly inForward: ReadonlyMap<Phase, ForwardIdle>;
}

export const windowIdle: Derived<WindowIdle> = {
  id: 'window-idle',
  reads: {},
  uses: [selection, deviceTimelines, gapJudge, stepsOf, forwardSpans],
  compute({ use }) {
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { explainAll } = use(gapJudge);
    const { steps = [], lanes = [] } = use(stepsOf) ?? {};
    const spans = use(forwardSpans);
    const sums = new Map<Phase, ForwardSums>();
    const perCause = use(selection).windows.map(({ device, lane, step, deviceRun, start, end }) => {
      const fallback = lane === NONE ? NONE : lanes[lane].thread;
      const idle = explainAll(timelines.get(device)!, start, end, fallback);
      if (deviceRun !== NONE) {
        const { phase } = steps[step].facts;
        const own = sums.get(phase) ?? new ForwardSums();
        sums.set(phase, own);
        own.add(idle, spans.start[deviceRun], spans.end[deviceRun]);
      }
      return totalsOf(idle);
    });
    return { perCause, inForward: new Map([...sums].map(([phase, own]) => [phase, own.finish()])) };
  },
};

function totalsOf({ length, cause, start, end }: IdlePieces): Float64Array {
  const totals = new Float64Array(idleCauses.length);
  for (let i = 0; i < length; i++) totals[cause[i]] += end[i] - start[i];
  return totals;
}

const hostCauses = HOST_CAUSES.map(causeIndex);
const isHost = Uint8Array.from(idleCauses, (_, cause) => Number(hostCauses.includes(cause)));

class ForwardSums {
  private readonly perCause = new Float64Array(idleCauses.length);
  private readonly hostGapsNs = new GrowingColumn('f64');
  private readonly gap = new Float64Array(idleCauses.length);

  /** Forward passes begin and end with GPU work: no gap lies across. */
  add(idle: IdlePieces, from: number, to: number): void {
    const { cause, start, end, gaps } = idle;
    const { gap, perCause } = this;
    for (let i = 0; i < gaps; i++) {
      const first = idle.firstOf(i);
      const after = idle.firstOf(i + 1);
      if (!(start[first] >= from && end[after - 1] <= to)) continue;
      if (after === first + 1) {
        const ns = end[first] - start[first];
        perCause[cause[first]] += ns;
        if (isHost[cause[first]] === 1 && ns > 0) this.hostGapsNs.push(ns);
        continue;
      }
      // The host before a launch and the launch itself, as in most gaps: summed without a look at all causes.
      if (after === first + 2) {
        const one = end[first] - start[first];
        const other = end[first + 1] - start[first + 1];
        if (cause[first] === cause[first + 1]) perCause[cause[first]] += one + other;
        else {
          perCause[cause[first]] += one;
          perCause[cause[first + 1]] += other;
        }
        const ns = (isHost[cause[first]] === 1 ? one : 0) + (isHost[cause[first + 1]] === 1 ? other : 0);
        if (ns > 0) this.hostGapsNs.push(ns);
        continue;
      }
      gap.fill(0);
      for (let piece = first; piece < after; piece++) gap[cause[piece]] += end[piece] - start[piece];
      for (let of = 0; of < gap.length; of++) perCause[of] += gap[of];
      let hostNs = 0;
      for (let of = 0; of < hostCauses.length; of++) hostNs += gap[hostCauses[of]];
      if (hostNs > 0) this.hostGapsNs.push(hostNs);
    }
  }

  finish(): ForwardIdle {
    // Shared: it may come from a thread that helps.
    const hostGapsNs = allocate('f64', this.hostGapsNs.length, true) as Float64Array;
    hostGapsNs.set(this.hostGapsNs.finishAll());
    return { byCause: causesAsObject(this.perCause), hostGapsNs };
  }
}
