/**
 * The steps that an engine's process noted about itself, whether a profiler recorded them or not: when each began, and
 * its batch. Unlike the table `quietSteps` it is a sequence without holes for idle time, so that any moment of it can be
 * asked for the step that ran.
 */

export interface NotedStep {
  readonly iteration: number;
  /** On the log's monotonic clock, relative to its origin. */
  readonly startNs: number;
  /** Host time of the call. */
  readonly hostNs: number;
  readonly contextRequests: number;
  readonly contextTokens: number;
  readonly generationRequests: number;
  readonly generationTokens: number;
  /** In a window that a profiler recorded. */
  readonly profiled?: true;
  /** Hashed ids of the requests in prefill and in decode; absent where they were not noted. */
  readonly contextIds?: readonly string[];
  readonly generationIds?: readonly string[];
}

/** Of the thread that ran the steps, added up over them. */
export interface HostCounter {
  readonly window: number;
  /** The steps of a window, or those after it, which no profiler records. */
  readonly part: 'window' | 'after';
  readonly tid: number;
  /** Iterations from this one on, so many. */
  readonly first: number;
  readonly steps: number;
  readonly userNs: number;
  readonly systemNs: number;
  /** With and without reading from a disk; the latter alone. */
  readonly pageFaults: number;
  readonly majorFaults: number;
  /** It asked to wait, or was preempted. */
  readonly voluntarySwitches: number;
  readonly involuntarySwitches: number;
}

/** Where the process may run. */
export interface HostPlacement {
  readonly cpus: number;
  /** NUMA nodes of these CPUs, and the one its GPU is attached to, where they are known. */
  readonly cpuNodes: readonly number[];
  readonly gpuNode?: number;
}

export interface StepLog {
  readonly file: string;
  readonly rank: number;
  /** The moment `startNs` counts from, on both clocks of the machine. */
  readonly originNs: bigint;
  readonly originMonotonicNs?: bigint;
  /** By how much the wall clock moved against the monotonic one while steps were noted. */
  readonly wallDriftNs: number;
  /** Names the machine and its boot, so that monotonic clocks of two files can be compared. */
  readonly machine?: string;
  /** In order of their start. */
  readonly steps: readonly NotedStep[];
  /** Of a server that was not captured: the other half of a disaggregated deployment. */
  readonly isOfOtherServer?: true;
  readonly hostCounters?: readonly HostCounter[];
  readonly placement?: HostPlacement;
}
