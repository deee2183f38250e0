/** The figures of a profile that questions about experts need, and the imbalance its ranks let on. */
import type { Static } from '../../base/document.js';
import { medianOf } from '../../stats/summary.js';
import type { inferredSchema } from '../moe-schema.js';
import type { StepExperts } from './expert-work.js';

export interface MeasuredExperts {
  readonly steps: number;
  readonly devices: number;
  /** Per step, mean over steps of the slowest device. */
  readonly expertNs: number;
  readonly stepNs: number;
  /** Experts by step. */
  readonly expertShare: number;
  /** Part of the step nothing ran on the device. */
  readonly idleShare: number;
  readonly communicationNs: number;
  readonly inferred?: InferredImbalance;
}

type InferredImbalance = Static<typeof inferredSchema>;

export function measureExperts(rows: readonly StepExperts[]): MeasuredExperts {
  const byStep = new Map<number, StepExperts[]>();
  for (const row of rows) byStep.set(row.iteration, [...(byStep.get(row.iteration) ?? []), row]);
  const steps = [...byStep.values()].filter(own => own.some(row => row.expertNs > 0));
  const devices = new Set(rows.map(row => row.device)).size;
  const mean = (of: (own: readonly StepExperts[]) => number) =>
    steps.reduce((sum, own) => sum + of(own), 0) / Math.max(1, steps.length);
  const most = (own: readonly StepExperts[], of: (row: StepExperts) => number) => Math.max(...own.map(of));
  const stepNs = mean(own => most(own, row => row.stepNs));
  const expertNs = mean(own => most(own, row => row.expertNs));
  return {
    steps: steps.length,
    devices,
    expertNs,
    stepNs,
    expertShare: expertNs / stepNs,
    idleShare: 1 - mean(own => most(own, row => row.busyNs / row.stepNs)),
    communicationNs: mean(own => most(own, row => row.communicationNs)),
    ...(devices > 1 ? { inferred: infer(steps) } : {}),
  };
}

function infer(steps: readonly (readonly StepExperts[])[]): InferredImbalance {
  const whole = steps.filter(own => own.length > 1);
  const per = new Map<
    number,
    { rank: number | null; expertNs: number; waitNs: number; slowest: number; seen: number }
  >();
  const ratios: number[] = [];
  let waits = 0;
  let waiting = 0;
  for (const own of whole) {
    const longest = Math.max(...own.map(row => row.expertNs));
    const least = Math.min(...own.map(row => row.communicationNs + row.combineNs));
    ratios.push((longest * own.length) / own.reduce((sum, row) => sum + row.expertNs, 0));
    for (const row of own) {
      const known = per.get(row.device) ?? { rank: row.rank, expertNs: 0, waitNs: 0, slowest: 0, seen: 0 };
      per.set(row.device, known);
      const wait = row.communicationNs + row.combineNs - least;
      known.expertNs += row.expertNs;
      known.waitNs += wait;
      if (row.expertNs === longest) known.slowest++;
      known.seen++;
      waits += wait;
      waiting++;
    }
  }
  return {
    kind: 'inferred',
    maxOverMean: medianOf(Float64Array.from(ratios)),
    waitNs: waits / Math.max(1, waiting),
    devices: [...per].map(([device, { rank, expertNs, waitNs, slowest, seen }]) => ({
      device,
      rank,
      expertNs: expertNs / seen,
      waitNs: waitNs / seen,
      slowestShare: slowest / seen,
    })),
  };
}
