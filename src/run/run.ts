/**
 * A run as a value: what it was, what was measured of it, and what its steps did; of a profile, of a benchmark, or of
 * both. It holds no part of the profile, so that one profile can be let go before the next is read.
 */
import type { Static } from '../base/document.js';
import type { Note } from '../base/notes.js';
import type { FamilyId } from '../catalog/kernels/families.js';
import type { Phase } from '../catalog/phases.js';
import type { BenchRun } from '../model/bench-run.js';
import type { Estimate } from '../stats/resample.js';
import type { runFactsSchema } from './document.js';

/** Everything but `profile` and `bench` may be kept in a file: no host names, paths, environments or command lines. */
export interface Run {
  /** Base names. */
  readonly files: readonly string[];
  readonly facts: RunFacts;
  /** Of the registry in metrics.ts: by phase, and of the whole run. Empty where nobody asked for them. */
  readonly figures: { readonly [Name in Scope]?: Figures };
  /** Wall times of the steps in order, at most some hundreds of each phase. */
  readonly steps: { readonly [Name in Phase]?: readonly number[] };
  /** What only an open profile tells. */
  readonly profile?: ProfileParts;
  readonly bench?: BenchRun;
  /** What compare shows beside its equation; nobody else collects it. */
  readonly sideBySide?: readonly SideFigure[];
}

/** A phase, or `run` for what is about the whole run. */
export type Scope = Phase | 'run';
export type Figures = { readonly [metric: string]: Estimate };

/** What a run was, as far as that decides whether it may be held against another. null: it does not say. */
export type RunFacts = Static<typeof runFactsSchema>;
export type LoadFacts = NonNullable<RunFacts['load']>;
export type ModelFacts = NonNullable<RunFacts['model']>;
export type PhaseFacts = NonNullable<RunFacts['phases'][Phase]>;

export type ProfiledRun = Run & { readonly profile: ProfileParts };

export interface ProfileParts {
  readonly notes: readonly Note[];
  readonly capture: RecordingFacts;
  /** By part name. */
  readonly kernels: ReadonlyMap<string, KernelFacts>;
  readonly cells: readonly CellFacts[];
}

/** How it was recorded, and what of it is judged but not kept. */
export interface RecordingFacts {
  readonly settings: Readonly<Record<string, string>>;
  /** The newest CUDA the driver speaks. */
  readonly cuda: string | null;
  readonly clockHz: number | null;
  readonly steps: number;
  readonly selectedSteps: number;
  readonly steadySteps: number;
  /** Ranks of the job, where the capture says how many there are. */
  readonly worldSize: number;
  /** Time share per number type of GEMM kernels. */
  readonly gemmTypes: Readonly<Record<string, number>>;
  /** What the profiler wrote down on the host, per step and process, about. */
  readonly hostEventsPerStep: number;
  readonly broken: string | null;
}

/** A kernel under the one spelling of its name. */
export interface KernelFacts {
  /** As the profiler wrote it. */
  readonly name: string;
  readonly shortName: string;
  readonly family: FamilyId;
  readonly variant: string;
  readonly dtype: string;
}

export interface PartAmount {
  /** Moments that are its own; these sum to the wall time over all parts. */
  ns: number;
  /** Launches, by the step that launched them. */
  count: number;
  /** Plain sum of durations of those launches. */
  spentNs: number;
}

export interface LayerAmount {
  kernels: number;
  spentNs: number;
}

/** One kernel of the typical step. */
export interface SequenceItem {
  /** Name of the kernel's part. */
  readonly part: string;
  readonly ns: number;
  /** The layer's part, such as `mlp`; empty where not known. */
  readonly place: string;
  /** Thread blocks it was launched with; 0 where not recorded. */
  readonly blocks: number;
}

/** Steps of one phase and batch mix. */
export interface CellFacts {
  /** null: the whole trace, or what lies outside steps. */
  readonly phase: Phase | null;
  readonly mix: string;
  /** Steps times devices. */
  readonly windows: number;
  /** Sum over the windows. */
  readonly wallNs: number;
  /** Per step in order of time: sum over its devices, and how many those are. */
  readonly stepNs: readonly number[];
  readonly stepWindows: readonly number[];
  readonly graphLaunches: number;
  readonly contextTokens: number;
  readonly kvTokens: number;
  /** Made or read, once per step and device; 0 where markers do not say. */
  readonly tokens: number;
  /** By part: `kernel:NAME`, `replay:`, `comm:NAME`, `wait:ranks`, `copy:KIND`, `idle:CAUSE`. */
  readonly amounts: ReadonlyMap<string, PartAmount>;
  readonly sequence: readonly SequenceItem[];
  /** By `layer/part`. */
  readonly layers: ReadonlyMap<string, LayerAmount>;
}

/** Shown side by side and part of no sum. */
export interface SideFigure {
  readonly id: string;
  readonly label: string;
  readonly phase: Phase | null;
  readonly unit: 'ns' | 'count' | 'share' | 'bytes' | 'percent' | 'hertz';
  readonly value: number;
}

/** Waiting in collectives for the last rank; a run has this part where its ranks were matched, and only there. */
export const RANK_WAIT = 'wait:ranks';
/** Exposed communication, waiting included. */
export const isCommunication = (part: string): boolean => part.startsWith('comm:') || part === RANK_WAIT;

export const REPLAY = 'replay:';

/** One way to run the workload, captured once or several times. */
export interface Configuration {
  readonly name: string;
  readonly runs: readonly ProfiledRun[];
}

/** The phase that takes most time. */
export function mainPhase({ phases }: RunFacts): Phase | undefined {
  const order = Object.entries(phases) as [Phase, PhaseFacts][];
  return order.sort((a, b) => b[1].timeShare - a[1].timeShare)[0]?.[0];
}
