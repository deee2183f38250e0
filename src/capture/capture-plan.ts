/**
 * The contract between what to capture and doing it. A plan is plain data: `plan-capture.ts` makes it from options and
 * facts without touching anything, it is printed, written as a script or as JSON, and whoever runs it follows `steps`.
 */

import type { PresetName } from '../catalog/engine-programs.js';
import type { VersionNumbers } from './versions.js';

/** Both ends belong to it, as everywhere in Stepscope. */
export interface IterationSpan {
  readonly first: number;
  readonly last: number;
}

/** What the user asked for. Absent means "as the plan sees fit". */
export interface CaptureOptions {
  /** What would have been run without a profiler, launcher included. */
  readonly command: readonly string[];
  readonly preset?: PresetName;
  readonly output?: string;
  readonly force?: boolean;
  readonly iterations?: readonly IterationSpan[];
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
  readonly ranks?: number;
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

type PlanSeverity = 'error' | 'warning' | 'note';

export interface PlanWarning {
  readonly code: string;
  /** `error`: the capture will be empty, wrong or fail. `warning`: it will be worth less. `note`: good to know. */
  readonly severity: PlanSeverity;
  readonly text: string;
  readonly fix: string;
}

/** Why an argument or a variable is there. */
export interface PlanReason {
  /**
   * As it stands in the command or the environment: `--capture-range-end=stop`, `TLLM_PROFILE_RECORD_GC=1`; or what
   * was found there already.
   */
  readonly what: string;
  readonly why: string;
}

/** A file or folder the capture leaves. `pattern` may hold what nsys fills in: %q{VAR}, %h. */
export interface PlanOutput {
  readonly kind: 'nsys-report' | 'torch-trace' | 'agent-sidecar';
  readonly pattern: string;
  /** How many are expected; absent when that is not known beforehand. */
  readonly count?: number;
  readonly note?: string;
}

/**
 * What to do, in order. `start` runs `command` with `env` and goes on; `wait-exit` waits for it to end by itself;
 * `load` is where requests come from (the user, or a load generator); `stop` ends what `start` began, politely.
 */
export type PlanStep =
  | { readonly do: 'start' }
  | { readonly do: 'wait-http'; readonly url: string; readonly timeoutS: number }
  | {
      readonly do: 'http';
      readonly method: 'POST';
      readonly url: string;
      readonly body?: Readonly<Record<string, unknown>>;
      readonly why: string;
    }
  | { readonly do: 'load'; readonly why: string }
  | { readonly do: 'wait-reports'; readonly why: string }
  | { readonly do: 'wait-exit' }
  | { readonly do: 'stop'; readonly signal: 'SIGINT'; readonly why: string };

export interface PlanEstimate {
  /** Report and its SQLite export together, all ranks. */
  readonly bytes: number;
  readonly reportBytes: number;
  readonly sqliteBytes: number;
  /** What nsys needs beside that while it writes. */
  readonly temporaryBytes: number;
  /** Added to a step's time, at most, as a share of it. */
  readonly overheadShare: number;
  /** Where the numbers come from, a line each. */
  readonly how: readonly string[];
}

export interface CapturePlan {
  readonly preset: PresetName;
  readonly engine: string;
  /** `nsys`: the command is wrapped. `torch`: the engine's own PyTorch profiler alone. */
  readonly profiler: 'nsys' | 'torch';
  /** Does it serve until it is stopped? */
  readonly server: boolean;
  readonly command: readonly string[];
  /** Where in `command` nsys stands; -1 without. */
  readonly nsysAt: number;
  /** Where in `command` the profiled program begins. */
  readonly programAt: number;
  readonly env: Readonly<Record<string, string>>;
  /** How it ends when all went well: 143 where nsys ends the program after a duration. */
  readonly exitCodes: readonly number[];
  readonly outputs: readonly PlanOutput[];
  readonly steps: readonly PlanStep[];
  readonly why: readonly PlanReason[];
  readonly warnings: readonly PlanWarning[];
  readonly estimate: PlanEstimate;
}
