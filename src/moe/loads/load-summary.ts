/** What is kept of expert loads once all iterations have gone by: bounded, whatever the length of the run. */
import type { Note } from '../../base/notes.js';
import type { LoadPhase, LoadSource } from '../../model/expert-load.js';

export interface LoadSummary {
  readonly source: LoadSource;
  /** Layers that got tokens, by the engine's numbers; dense layers are left out. */
  readonly layers: readonly number[];
  /** All layers of the file, dense ones among them: maps for engines need a row for each. */
  readonly recordedLayers: readonly number[];
  readonly experts: number;
  readonly topK?: number;
  readonly ranks?: number;
  readonly iterations: number;
  /** First and last number of an iteration. */
  readonly span: readonly [number, number];
  /** Token-expert pairs by layer and expert, of the whole run. */
  readonly totals: Float64Array;
  /** The run in stretches of as many iterations, in order. */
  readonly segments: readonly LoadSegment[];
  /** Iterations kept in full, drawn evenly; all of them where they are few. */
  readonly samples: readonly LoadSample[];
  readonly series: BalanceSeries;
  /** Sums by phase, where phases are known. */
  readonly phases: readonly PhaseLoad[];
  readonly notes: readonly Note[];
}

export interface LoadSegment {
  /** Positions of its first iteration and of the one after its last. */
  readonly from: number;
  readonly to: number;
  readonly totals: Float64Array;
}

export interface LoadSample {
  /** Position in the run, from 0. */
  readonly position: number;
  readonly iteration: number;
  readonly phase?: LoadPhase;
  readonly counts: Float64Array;
}

/** Balance of every `stride`th iteration and layer. */
export interface BalanceSeries {
  readonly stride: number;
  readonly length: number;
  readonly iterations: Float64Array;
  /** Token-expert pairs of the iteration, all layers together. */
  readonly pairs: Float64Array;
  /** Iteration after iteration, a number per layer; NaN where a layer got nothing. */
  readonly maxOverMean: Float32Array;
  readonly variation: Float32Array;
  readonly idleShare: Float32Array;
}

export interface PhaseLoad {
  readonly phase: LoadPhase;
  readonly iterations: number;
  readonly totals: Float64Array;
  /** Mean over its iterations and layers. */
  readonly maxOverMean: number;
}

/** A row of a matrix of layers and experts. */
export const rowOf = (matrix: Float64Array, layer: number, experts: number): Float64Array =>
  matrix.subarray(layer * experts, (layer + 1) * experts);

/** The sum of segments that lie in a part of the run, for example [0, 1/3]. */
export function totalsBetween(summary: LoadSummary, from: number, to: number): Float64Array {
  const sum = new Float64Array(summary.totals.length);
  for (const segment of summary.segments) {
    const middle = (segment.from + segment.to) / 2 / summary.iterations;
    if (middle < from || middle >= to) continue;
    for (let i = 0; i < sum.length; i++) sum[i] += segment.totals[i];
  }
  return sum;
}
