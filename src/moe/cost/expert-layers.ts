/**
 * Expert work from the timeline, layer by layer: what each rank computes in grouped GEMMs between two collectives
 * (dispatch and combine, or any two that all ranks join), and how long the others wait for the slowest.
 *
 *   rank 0   dispatch ███  experts ▄▄▄▄      combine ▒▒▒▒███
 *   rank 1   dispatch ███  experts ▄▄▄▄▄▄▄▄  combine ███          the layer takes as long as its slowest rank
 */
import type { Derived } from '../../analyze/analysis.js';
import { lateArrivals } from '../../analyze/comm/late-arrivals.js';
import { gpuWork, WorkKind } from '../../analyze/gpu/gpu-work.js';
import { workFamilies } from '../../analyze/gpu/work-families.js';
import { stepsOf } from '../../analyze/inference/steps.js';
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';

export interface ExpertLayer {
  readonly iteration: number;
  /** NONE: not known. */
  readonly layer: number;
  readonly ranks: readonly {
    readonly rank: number | null;
    /** Time of its grouped GEMMs. */
    readonly expertNs: number;
    /** Until the last rank arrived at the collective behind them. */
    readonly waitNs: number;
  }[];
  /** How much earlier the last rank would arrive if every rank took the mean time for its experts. */
  readonly savedNs: number;
}

/** Of the selected steps, in order of time; empty where ranks could not be matched. */
export const expertLayers: Derived<readonly ExpertLayer[]> = {
  id: 'expert-layers',
  followsSelection: true,
  reads: { kernels: [] },
  uses: [lateArrivals, gpuWork, workFamilies, stepsOf],
  compute({ profile, use, useIfRecorded }) {
    const late = use(lateArrivals);
    if (!late) return [];
    const { waits } = late;
    const steps = useIfRecorded(stepsOf)?.steps ?? [];
    const experts = groupedByDevice();
    return late.arrivals.flatMap(({ collective, left, step, layer }): ExpertLayer[] => {
      if (step === NONE || left.some(Number.isNaN)) return [];
      const ranks = collective.calls.map((call, i) => {
        const { rank, device } = waits.calls.ranks[waits.calls.rank[call]];
        return {
          rank,
          expertNs: timeBetween(device, left[i], waits.calls.start[call]),
          waitNs: waits.waitingNs[call],
          arrival: waits.alignment.toCommon(waits.calls.rank[call], waits.calls.start[call]),
        };
      });
      const mean = ranks.reduce((sum, { expertNs }) => sum + expertNs, 0) / ranks.length;
      if (mean === 0) return [];
      const balanced = ranks.reduce(
        (last, { arrival, expertNs }) => Math.max(last, arrival - expertNs + mean),
        -Infinity,
      );
      return [
        {
          iteration: steps[step].iteration,
          layer,
          ranks: ranks.map(({ rank, expertNs, waitNs }) => ({ rank, expertNs, waitNs })),
          savedNs: Math.max(0, collective.lastArrival - balanced),
        },
      ];
    });

    /** Grouped GEMMs of each device, in order of start. */
    function groupedByDevice() {
      const work = use(gpuWork);
      const { classOf } = use(workFamilies);
      const names = profile.tables.kernels!.name;
      const rows = new Map<number, number[]>();
      for (let i = 0; i < work.length; i++) {
        if (work.kind[i] !== WorkKind.kernel || classOf(names[work.row[i]]).variant !== 'grouped') continue;
        const own = rows.get(work.device[i]);
        if (own) own.push(i);
        else rows.set(work.device[i], [i]);
      }
      return new Map(
        [...rows].map(([device, own]) => [
          device,
          {
            starts: Float64Array.from(own, i => work.start[i]),
            ns: Float64Array.from(own, i => work.end[i] - work.ownStart[i]),
          },
        ]),
      );
    }

    function timeBetween(device: number, from: number, to: number): number {
      const own = experts.get(device);
      if (!own) return 0;
      let sum = 0;
      for (let k = lowerBound(own.starts, from); k < own.starts.length && own.starts[k] < to; k++)
        sum += own.ns[k];
      return sum;
    }
  },
};
