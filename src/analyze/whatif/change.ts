/** The contract of a change: edits a launch graph, or says why it does not. */
import type { Limits } from '../../catalog/gpus.js';
import type { Phase } from '../../catalog/phases.js';
import type { Policy } from '../../catalog/policy.js';
import type { GpuOp, ReplayModel } from './replay-model.js';

/** What the profile shows about a piece of work, beyond when it ran. */
export interface WorkFacts {
  /** It lies between the first layer and the end of the last. */
  readonly inForward: boolean;
  /** Type of the numbers a kernel works on; empty where its name does not say. */
  readonly dtype: string;
  /** A GEMM over the experts of an MoE layer. */
  readonly isExpert: boolean;
  /** Of a copy. */
  readonly bytes?: number;
  readonly fromPageable?: boolean;
  readonly toPageable?: boolean;
}

export interface ChangeInput {
  readonly phase: Phase;
  readonly policy: Policy;
  readonly limits: Limits;
  factsOf(op: GpuOp): WorkFacts;
  /** Requests of each step that generate; undefined where the markers do not say. */
  requestsOf(model: ReplayModel, step: number): number | undefined;
  /** Experts of each MoE layer and how many a token uses; absent: the model is not given, or has none. */
  readonly experts?: { readonly count: number; readonly perToken: number };
  /** Some GEMMs read weights of 4 bits. */
  readonly hasNarrowWeights: boolean;
  /** Collections were recorded, or would have been. */
  readonly gcWatched: boolean;
  /** Nanoseconds that recording one host event of a kind costs; absent: not known. */
  readonly tracingCost?: TracingCost;
  /** What balanced expert routing would save; absent: not known. */
  readonly routingGain?: RoutingGain;
}

/** What the profiler adds to each recorded host event, on the thread it happens on. */
export interface TracingCost {
  readonly apiCallNs: number;
  /** Per node, at the launch of a graph. */
  readonly graphNodeNs: number;
  readonly rangeNs: number;
  /** Framework ops. */
  readonly opNs: number;
  /** Python frames. */
  readonly frameNs: number;
  /** Where the figures come from, for the reader. */
  readonly source: string;
}

export interface RoutingGain {
  /** Share of the time of expert kernels. */
  readonly savedShare: number;
  readonly source: string;
}

export type ChangeOutcome =
  /** `did`: what the change does here, as a clause. */
  | { readonly status: 'applied'; readonly did: string }
  | { readonly status: 'does-not-apply'; readonly why: string }
  | { readonly status: 'cannot-tell'; readonly why: string };

export interface Change {
  readonly id: string;
  /** For people: `CUDA graphs`. */
  readonly label: string;
  /** Edits all models in place; a change that does not apply leaves them alone. */
  apply(models: readonly ReplayModel[], input: ChangeInput): ChangeOutcome;
}

export const applied = (did: string): ChangeOutcome => ({ status: 'applied', did });
export const doesNotApply = (why: string): ChangeOutcome => ({ status: 'does-not-apply', why });
export const cannotTell = (why: string): ChangeOutcome => ({ status: 'cannot-tell', why });

export const sumOver = <T>(list: readonly T[], of: (each: T) => number): number =>
  list.reduce((sum, each) => sum + of(each), 0);

export const stepsIn = (models: readonly ReplayModel[]): number =>
  sumOver(models, ({ steps }) => steps.length);
