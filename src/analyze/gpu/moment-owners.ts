/**
 * Whose each busy moment is, so that pieces of work sum to the unions of the budget. Where kernels overlap, the one
 * that started first keeps the moment until it ends; communication owns what no compute hides, copies what neither
 * hides.
 *
 *   gemm       ████████....
 *   attention  .....██████.      gemm 8, attention 3, together 11
 *   all-reduce .........████     exposed 2
 */
import { upperBound } from '../../base/bisect.js';
import { type Intervals, lengthWithin } from '../../base/intervals.js';
import type { Derived } from '../analysis.js';
import { type DeviceTimeline, deviceTimelines } from './device-timeline.js';
import { gpuWork, type PlacedWork, WorkKind } from './gpu-work.js';
import { familyIndex, workFamilies } from './work-families.js';

export type BusyKind = 'compute' | 'communication' | 'copies';

/** Told a piece of work and the nanoseconds that are its own. */
type VisitOwner = (work: number, ns: number) => void;

interface MomentOwners {
  /** Visits the pieces of one kind on a device between two moments; their nanoseconds sum to the budget's part. */
  visit(kind: BusyKind, device: number, from: number, to: number, visit: VisitOwner): void;
}

interface Pieces {
  readonly rows: Int32Array;
  /** The latest end so far never decreases, so the first piece that reaches into a window can be searched for. */
  readonly latest: Float64Array;
  /** Where the pieces count; undefined: everywhere. */
  readonly exposed?: Intervals;
}

export const momentOwners: Derived<MomentOwners> = {
  id: 'moment-owners',
  reads: {},
  uses: [gpuWork, workFamilies, deviceTimelines],
  compute({ use }) {
    return ownersOf(use(gpuWork), use(workFamilies).family, use(deviceTimelines));
  },
};

/** Of any list of work and its timelines, measured or predicted. */
export function ownersOf(
  work: PlacedWork,
  family: Uint8Array,
  timelines: readonly DeviceTimeline[],
): MomentOwners {
  const communication = familyIndex('communication');
  const kindOf = (i: number): BusyKind =>
    work.kind[i] === WorkKind.copy || work.kind[i] === WorkKind.memset
      ? 'copies'
      : family[i] === communication
        ? 'communication'
        : 'compute';
  const devices = new Map(
    timelines.map(({ device, communicationExposed, copiesExposed }) => {
      const pieces = (kind: BusyKind, exposed?: Intervals) =>
        collect(work, i => work.device[i] === device && kindOf(i) === kind, exposed);
      return [
        device,
        {
          compute: pieces('compute'),
          communication: pieces('communication', communicationExposed),
          copies: pieces('copies', copiesExposed),
        },
      ];
    }),
  );
  return {
    visit(kind, device, from, to, visit) {
      const own = devices.get(device)?.[kind];
      if (!own) return;
      let at = from;
      for (let k = upperBound(own.latest, from); k < own.rows.length; k++) {
        const i = own.rows[k];
        if (work.ownStart[i] >= to) break;
        const begin = Math.max(work.ownStart[i], at);
        const end = Math.min(work.end[i], to);
        if (end <= begin) continue;
        at = end;
        const ns = own.exposed ? lengthWithin(own.exposed, begin, end) : end - begin;
        if (ns > 0) visit(i, ns);
      }
    },
  };
}

function collect(work: PlacedWork, isOwn: (i: number) => boolean, exposed?: Intervals): Pieces {
  let count = 0;
  for (let i = 0; i < work.length; i++) if (isOwn(i)) count++;
  const rows = new Int32Array(count);
  let at = 0;
  let inOrder = true;
  for (let i = 0; i < work.length; i++) {
    if (!isOwn(i)) continue;
    if (at > 0 && work.ownStart[i] < work.ownStart[rows[at - 1]]) inOrder = false;
    rows[at++] = i;
  }
  if (!inOrder) rows.sort((a, b) => work.ownStart[a] - work.ownStart[b] || a - b);
  const latest = new Float64Array(count);
  let until = -Infinity;
  rows.forEach((i, k) => {
    until = Math.max(until, work.end[i]);
    latest[k] = until;
  });
  return { rows, latest, ...(exposed ? { exposed } : {}) };
}
