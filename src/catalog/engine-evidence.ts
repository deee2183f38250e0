/**
 * What betrays an engine besides its step markers, and what shows that its scheduler prepares a step while the GPU
 * still runs the one before it. Each entry names where it was read.
 */
import { type Engine, engines } from './engines.js';

interface EngineEvidence {
  readonly engine: Engine;
  /** Names of its processes and threads. Linux keeps 15 characters of a thread's name. */
  readonly programs: RegExp;
  /** Python files of its package, as frames of the stack name them. */
  readonly frames: RegExp;
  /** Functions that run only where steps overlap. */
  readonly overlapping: RegExp;
  /** From this release on steps overlap unless that is turned off. */
  readonly overlapsFrom?: readonly [major: number, minor: number];
  /** Options that turn it on or off; `default`: it is on where a known command has neither. */
  readonly overlapFlags?: { readonly on?: string; readonly off: string; readonly default?: true };
  readonly source: string;
}

export const engineEvidence: readonly EngineEvidence[] = [
  {
    engine: engines.vllm,
    programs: /^VLLM::/,
    frames: /(?:^|\/)vllm\/(?:v1|engine|worker|entrypoints|model_executor)\//,
    overlapping: /(?:^|[ .])(?:step_with_batch_queue|_async_output_busy_loop)$/,
    overlapsFrom: [0, 14],
    overlapFlags: { on: '--async-scheduling', off: '--no-async-scheduling' },
    source:
      'vllm/v1/engine/core.py and utils/system_utils.py; release notes of 0.14: async scheduling by default',
  },
  {
    engine: engines.sglang,
    programs: /^sglang::/,
    frames: /(?:^|\/)sglang\/srt\//,
    overlapping: /(?:^|[ .])event_loop_overlap\w*$/,
    overlapFlags: { off: '--disable-overlap-schedule', default: true },
    source: 'sglang/srt/managers/scheduler.py, setproctitle of its processes',
  },
  {
    engine: engines.trtllm,
    programs: /^trtllm-|^mpi4py.*tensorrt_llm/,
    frames: /(?:^|\/)tensorrt_llm\/(?:_torch|executor|llmapi|commands)\//,
    overlapping: /(?:^|[ .])_executor_loop_overlap$/,
    source: 'tensorrt_llm/_torch/pyexecutor/py_executor.py; its commands trtllm-serve and trtllm-bench',
  },
];

/** `0.25.1`, `0.14.0rc2.dev3+cu130`: at or after a release. A text that is no version is not. */
export function isFrom(version: string, [major, minor]: readonly [number, number]): boolean {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  if (!match) return false;
  const own = [Number(match[1]), Number(match[2])];
  return own[0] > major || (own[0] === major && own[1] >= minor);
}
