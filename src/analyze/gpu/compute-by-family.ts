/**
 * Whose each moment of compute is: where kernels overlap, the one that started first keeps the moment until it ends, so
 * that families sum to the union of all compute.
 *
 *   gemm       ████████....
 *   attention  .....██████.      gemm 8, attention 3, together 11
 */
import { upperBound } from '../../base/bisect.js';
import { families } from '../../catalog/kernels/families.js';
import type { Derived } from '../analysis.js';
import { gpuWork, WorkKind } from './gpu-work.js';
import { familyIndex, HIDDEN, workFamilies } from './work-families.js';

/** After the families: graph replays recorded as blocks. */
export const BLOCKS = families.length;

export interface ComputeByFamily {
  /** Nanoseconds per family, and BLOCKS, of a device's compute between two moments. */
  within(device: number, from: number, to: number): Float64Array;
}

export const computeByFamily: Derived<ComputeByFamily> = {
  id: 'compute-by-family',
  reads: {},
  uses: [gpuWork, workFamilies],
  compute({ use }) {
    const work = use(gpuWork);
    const { family } = use(workFamilies);
    const communication = familyIndex('communication');
    const isCompute = (i: number) =>
      work.kind[i] !== WorkKind.copy && work.kind[i] !== WorkKind.memset && family[i] !== communication;
    const devices = new Map(
      work.devices.map(device => {
        const rows: number[] = [];
        for (let i = 0; i < work.length; i++) if (work.device[i] === device && isCompute(i)) rows.push(i);
        // The latest end so far never decreases, so the first piece that reaches into a window can be searched for.
        const latest = new Float64Array(rows.length);
        rows.forEach((i, at) => {
          latest[at] = Math.max(work.end[i], at > 0 ? latest[at - 1] : -Infinity);
        });
        return [device, { rows, latest }];
      }),
    );
    return {
      within(device, from, to) {
        const spent = new Float64Array(families.length + 1);
        const own = devices.get(device);
        if (!own) return spent;
        let at = from;
        for (let k = upperBound(own.latest, from); k < own.rows.length; k++) {
          const i = own.rows[k];
          if (work.start[i] >= to) break;
          const begin = Math.max(work.start[i], at);
          const end = Math.min(work.end[i], to);
          if (end <= begin) continue;
          spent[family[i] === HIDDEN ? BLOCKS : family[i]] += end - begin;
          at = end;
        }
        return spent;
      },
    };
  },
};
