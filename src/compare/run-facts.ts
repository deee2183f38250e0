/**
 * What a comparison keeps of one run: sums, counts, step times and one typical sequence of kernels per kind of step.
 * It holds no part of the profile, so that one profile can be let go before the next is read.
 */
import type { Note } from '../base/notes.js';
import type { FamilyId } from '../catalog/kernels/families.js';
import type { Phase } from '../catalog/phases.js';
import type { GraphMode, ProfilerKind } from '../model/profile.js';

/** A kernel under the one spelling of its name. */
export interface KernelFacts {
  /** As the profiler wrote it. */
  readonly name: string;
  readonly shortName: string;
  readonly family: FamilyId;
  readonly variant: string;
  readonly dtype: string;
}

export interface Amount {
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
  /** By part: `kernel:NAME`, `replay:`, `comm:NAME`, `copy:KIND`, `idle:CAUSE`. */
  readonly amounts: ReadonlyMap<string, Amount>;
  readonly sequence: readonly SequenceItem[];
  /** By `layer/part`. */
  readonly layers: ReadonlyMap<string, LayerAmount>;
}

/** Figures of the selected steps that are shown side by side and part of no sum. */
export interface RunFigure {
  readonly id: string;
  readonly label: string;
  readonly phase: Phase | null;
  readonly unit: 'ns' | 'count' | 'share' | 'bytes' | 'percent' | 'hertz';
  readonly value: number;
}

export interface RunTraits {
  readonly profiler: ProfilerKind;
  readonly profilerVersion: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly graphTracing: GraphMode | undefined;
  readonly graphMode: GraphMode;
  /** Names of the GPUs that did something. */
  readonly gpus: readonly string[];
  readonly clockHz: number | undefined;
  readonly engine: string;
  readonly foundBy: string | null;
  readonly steps: number;
  readonly selectedSteps: number;
  readonly layers: number | undefined;
  /** Time share per number type of GEMM kernels. */
  readonly gemmTypes: Readonly<Record<string, number>>;
  /** What the profiler wrote down on the host, per step and process, about. */
  readonly hostEventsPerStep: number;
  readonly hasGpuWork: boolean;
  readonly broken: string | undefined;
}

export interface RunFacts {
  readonly files: readonly string[];
  readonly notes: readonly Note[];
  readonly traits: RunTraits;
  /** By part name. */
  readonly kernels: ReadonlyMap<string, KernelFacts>;
  readonly cells: readonly CellFacts[];
  readonly figures: readonly RunFigure[];
}

export const REPLAY = 'replay:';
