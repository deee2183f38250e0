/**
 * The contract between what to capture and doing it. A plan is plain data: `plan-capture.ts` makes it from options and
 * facts without touching anything, it is printed, written as a script or as JSON, and whoever runs it follows `steps`.
 */

import type { Static } from '../base/document.js';
import type { PresetName } from '../catalog/engine-programs.js';
import type { planSchema } from './capture-schema.js';
import type { NsysWord } from './nsys-words.js';
import type { VersionNumbers } from './versions.js';
import type { WindowCondition } from './window-condition.js';

/** Both ends belong to it, as everywhere in Stepscope. */
export interface IterationSpan {
  readonly first: number;
  readonly last: number;
}

/** What the user asked for. Absent means "as the plan sees fit". */
export interface CaptureOptions {
  /** What would have been run without a profiler, launcher included. */
  readonly command: readonly string[];
  /** Variables the user has put in front of it. */
  readonly env?: Readonly<Record<string, string>>;
  /** The nsys to run, where a path names it. */
  readonly nsys?: string;
  readonly preset?: PresetName;
  readonly output?: string;
  readonly force?: boolean;
  readonly iterations?: readonly IterationSpan[];
  /** Instead of numbers: open the window when the engine's counters fulfill this condition. */
  readonly when?: WindowCondition;
  /** Instead of numbers: record only steps of one phase. */
  readonly phase?: 'decode' | 'prefill';
  /** How many steps to record from there; alone, from a full batch on. */
  readonly steps?: number;
  /** What the user says about the requests to send. */
  readonly load?: { readonly users?: number; readonly inputTokens?: number; readonly outputTokens?: number };
  readonly durationS?: number;
  readonly delayS?: number;
  readonly nvtx?: boolean;
  readonly nvtxDebug?: boolean;
  readonly gc?: boolean;
  readonly gil?: boolean;
  readonly osrt?: boolean;
  readonly cublas?: boolean;
  readonly cudaMemory?: boolean;
  readonly backtrace?: boolean;
  readonly sample?: boolean;
  readonly gpuMetrics?: boolean;
  /** As nsys takes them: `0,1`, `all`, `cuda-visible`. */
  readonly gpuMetricsDevices?: string;
  /** Further event types for `--trace`. */
  readonly traces?: readonly string[];
  /** What opens the capture range if the engine does not: `cudaProfilerApi`, `nvtx`. */
  readonly range?: string;
  /** `repeat:3`, `none`. */
  readonly rangeEnd?: string;
  /** Options of nsys that have no other place here. They replace ours of the same name. */
  readonly nsysArgs?: readonly NsysWord[];
  readonly graphTrace?: 'node' | 'graph';
  readonly traceFork?: boolean;
  /** A file for TensorRT-LLM, a folder for vLLM and SGLang. */
  readonly torchTrace?: string;
  readonly torchShapes?: boolean;
  readonly torchStack?: boolean;
  readonly torchMemory?: boolean;
  readonly perfectRouter?: boolean;
  /** The folder of our agent on the machine that runs the program: it finds steps and opens the range. */
  readonly agent?: string;
  /** Run the same steps a second time, without a profiler. */
  readonly calibrate?: boolean;
  readonly ranks?: number;
  /** Of the launcher; the others run without nsys. */
  readonly onlyRanks?: readonly IterationSpan[];
  /** Of the model; taken from the command where it names a known one. */
  readonly layers?: number;
  readonly kernelsPerLayer?: number;
  /** Where a server is reached, when the command does not tell. */
  readonly serverUrl?: string;
}

/** What is known of the machine and the engine. Absent means unknown, never "no". */
export interface PlanFacts {
  /** What to call nsys; `nsys` when it is in PATH. */
  readonly nsys?: string;
  readonly nsysVersion?: VersionNumbers;
  /** Was looked for here and not found. */
  readonly nsysMissing?: boolean;
  readonly engineVersion?: VersionNumbers;
  readonly agent?: AgentFacts;
  /** Can the Python that runs the program import `nvtx`? */
  readonly nvtxModule?: boolean;
  /** The program runs on this machine, where a file can be put next to the output. */
  readonly runsHere?: boolean;
  /** In the folder of the output. */
  readonly freeBytes?: number;
  readonly temporaryFreeBytes?: number;
  readonly perfEventParanoid?: number;
  readonly root?: boolean;
  /** GPU counters are for administrators only. */
  readonly adminOnlyCounters?: boolean;
}

export interface AgentFacts {
  /** Of the agent in `CaptureOptions.agent`. */
  readonly ours: string;
  /** Of the one in the Python that will run the program; absent where there is none. */
  readonly installed?: string;
}

export type CapturePlan = Static<typeof planSchema>;
export type PlanWarning = CapturePlan['warnings'][number];
/** Why an argument or a variable is there, or what was found there already. */
export type PlanReason = CapturePlan['why'][number];
/** A file or folder the capture leaves. `pattern` may hold what nsys fills in: %q{VAR}, %h. */
export type PlanOutput = CapturePlan['outputs'][number];
/** The second run, without a profiler. */
export type PlanCalibration = NonNullable<CapturePlan['calibration']>;
/** A small file that the engine reads. */
export type PlanFile = NonNullable<CapturePlan['files']>[number];
export type PlanStep = CapturePlan['steps'][number];
export type PlanEstimate = CapturePlan['estimate'];
type LoadStep = Extract<PlanStep, { do: 'load' }>;
export type WindowGoal = NonNullable<LoadStep['until']>;
/** What to send, unless the user says otherwise. */
export type RequestShape = NonNullable<LoadStep['shape']>;
