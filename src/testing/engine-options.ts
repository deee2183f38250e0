/** In which ways the drawn engine can be sick. */
import type { DrawnCounters } from './drawn-log.js';
import type { OffCpuReason } from './drawn-switches.js';

export interface EngineOptions {
  readonly steps?: number;
  readonly gpu?: string;
  readonly clockHz?: number;
  /** The marker of a step; empty for none. */
  readonly marker?: (step: number) => string;
  readonly stepNs?: (step: number) => number;
  /** Names of the kernels of a step, in turn. */
  readonly kernels?: readonly string[];
  /** Kernels are launched one by one, this many per step, instead of by a graph. */
  readonly eager?: number;
  /** Of the time between two such launches, what the kernel runs; a tenth unless said. */
  readonly eagerBusy?: number;
  /** Steps that are launched kernel by kernel although the others replay a graph. */
  readonly graphless?: (step: number) => boolean;
  /** Share of the kernels that are launched beside the graph, ahead of time. */
  readonly besideGraph?: number;
  /** Kernels launched after the graph, as sampling is. */
  readonly afterGraph?: readonly string[];
  /** The graph comes in this many pieces, with host code of this length between two. */
  readonly pieces?: { readonly count: number; readonly gapNs: number };
  /** A graph launch lasts as long as its replay, and leaves this much between nodes. */
  readonly feeding?: { readonly nodeGapNs: number };
  /** The first launch call of one step takes this long. */
  readonly stall?: { readonly step: number; readonly ns: number };
  /** Host code in the middle of the launches of a step takes this long. */
  readonly insideNs?: number;
  /** The host waits for each kernel that it launches one by one. */
  readonly waits?: true;
  /** What API calls return: cudaStreamQuery, one per step, this; all others 0. */
  readonly queryResult?: number;
  /** Bytes that each step allocates and keeps. */
  readonly keepsBytes?: number;
  /** Python calls per step that the profiler wrote down, named as frames are. */
  readonly frames?: { readonly perStep: number; readonly name: string };
  /** Names of the process and of its thread, and versions as the agent writes them. */
  readonly program?: {
    readonly process?: string;
    readonly thread?: string;
    readonly versions?: Readonly<Record<string, string>>;
  };
  /** The host begins a step this much before the GPU has done the one before it. */
  readonly aheadNs?: number;
  /** Before the launch the host spends this long in a range or call of this name, or in neither. */
  readonly before?: {
    readonly ns: number;
    readonly range?: string;
    readonly call?: string;
    readonly overhead?: true;
    readonly only?: number;
    /** Without a CPU: taken by another thread, moved to another one, or waiting for a lock. Switches are recorded. */
    readonly offCpu?: OffCpuReason;
  };
  /** `largeBytes`: the size of every second one. */
  readonly copies?: {
    readonly count: number;
    readonly bytes: number;
    readonly largeBytes?: number;
    readonly pageable?: true;
    /** How long each takes. */
    readonly ns?: number;
  };
  /** Sampled counters, by their nsys names. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** A second rank whose host starts this much later. */
  readonly secondRankLateNs?: number;
  /** Both ranks on one GPU. */
  readonly oneGpu?: boolean;
  readonly worldSize?: number;
  /** What was not recorded, or only as a block. */
  readonly without?: 'gpu' | 'gpu-activities' | 'launches' | 'graph-nodes';
  /** The program captures a graph: launches run nothing. */
  readonly capturing?: true;
  /** Code of a loss that the reader noted. */
  readonly loss?: string;
  /** What the agent counted, and where the process ran. */
  readonly counted?: DrawnCounters;
  /** A range around far more than the steps. */
  readonly recordedNs?: number;
}
