/**
 * Variables with which engines record more about themselves: what each does, since when, and what it costs. Read in the
 * engines' sources; a variable that stands in a pasted command is explained with these words, and questioned where it
 * has no effect or changes what is measured.
 */
import { type Engine, engines } from './engines.js';

interface EngineSwitch {
  readonly name: string;
  readonly engine: Engine;
  /** First release that reads it; absent where it has always been there. */
  readonly since?: readonly number[];
  /** To follow "it": what it adds. */
  readonly does: string;
  /** What it changes in the run that is measured; absent where it costs next to nothing. */
  readonly costs?: string;
}

export const engineSwitches: readonly EngineSwitch[] = [
  {
    // tensorrt_llm/_torch/pyexecutor/py_executor.py (TensorRT-LLM#12263)
    name: 'TLLM_PROFILE_LOG_RANKS',
    engine: engines.trtllm,
    since: [1, 3],
    does: 'prints the iteration log of these ranks (all, or 0,1,3), with print_iter_log: true',
  },
  {
    // py_executor.py, _flush_iter_stats_synced
    name: 'TLLM_METRICS_ALL_RANKS',
    engine: engines.trtllm,
    since: [1, 3],
    does: 'collects the iteration statistics of all ranks for /metrics',
    costs: 'it adds a collective to every iteration',
  },
  {
    // tensorrt_llm/tools/profiler/host_profile_tools/host_profiler.py
    name: 'TLLM_LINE_PROFILER_PATH',
    engine: engines.trtllm,
    since: [1, 3],
    does: 'times lines of the executor with line_profiler and writes them to this file when the executor ends',
    costs: 'every timed line of the executor takes longer',
  },
  {
    name: 'TLLM_LINE_PROFILER_FUNCTIONS',
    engine: engines.trtllm,
    since: [1, 3],
    does: 'names further functions for TLLM_LINE_PROFILER_PATH',
  },
  {
    // tensorrt_llm/_torch/pyexecutor/perf_metrics_manager.py (TensorRT-LLM#16900)
    name: 'TRTLLM_PERF_TIME_EVENTS_PATH',
    engine: engines.trtllm,
    since: [1, 3],
    does: 'writes the events of every request, from arrival to last token, into this folder, one file per rank',
  },
  {
    name: 'TLLM_TORCH_PROFILER_DIR',
    engine: engines.trtllm,
    since: [1, 3],
    does: 'is the folder for the traces of /start_profile (otherwise /tmp)',
  },
  {
    // tensorrt_llm/_torch/visual_gen/profiler.py
    name: 'TLLM_PROFILE_VISUAL_GEN_START_STOP',
    engine: engines.trtllm,
    since: [1, 3],
    does: 'opens the capture range at these denoise steps of every request, both ends included, or at predenoise, postdenoise or all',
  },
  {
    name: 'TRTLLM_ENABLE_DUMMY_ALLREDUCE',
    engine: engines.trtllm,
    does: 'adds an all-reduce to MoE layers so that ranks start together',
    costs: 'it adds a collective that the model does not need',
  },
  {
    // sglang/srt/utils/nvtx_utils.py
    name: 'SGLANG_ENABLE_NVTX_SCHEDULER',
    engine: engines.sglang,
    since: [0, 5, 15],
    does: 'marks the stages of the scheduler as ranges, if the Python package nvtx is installed',
  },
  {
    name: 'SGLANG_ENABLE_NVTX_OPERATIONS',
    engine: engines.sglang,
    since: [0, 5, 15],
    does: 'marks the operations of overlapping batches as ranges, if the Python package nvtx is installed',
  },
  {
    // vllm/envs.py; dense models use the new runner by default from 0.25 on
    name: 'VLLM_USE_V2_MODEL_RUNNER',
    engine: engines.vllm,
    since: [0, 24],
    does: 'chooses the model runner: 0 is the first one, which emits layer ranges and traces graph captures',
    costs: 'the other runner has other host code and other CUDA graphs',
  },
];

/** Dynamo starts an engine inside: its own ranges are off by default (lib/runtime/src/nvtx.rs, dynamo/common/utils/nvtx_utils.py). */
export const DYNAMO_RANGES: Readonly<Record<string, string>> = { DYN_ENABLE_RUST_NVTX: '1', DYN_NVTX: '1' };

/** TensorRT-LLM's, and our agent's in other engines. */
export const ROUTER_VARIABLE = 'ENABLE_PERFECT_ROUTER';

/** How a model's tokens find their experts, and who plans balanced logits for it in TensorRT-LLM. */
interface RoutingMethod {
  /** As the class is called, without its ending. */
  readonly method: string;
  readonly models: string;
  readonly planned: boolean;
}

/**
 * tensorrt_llm/_torch/moe/fused_moe/routing.py (PERFECT_ROUTER_PLANNERS), as of 1.3: a method without a planner raises
 * an error when the model is built. DeepSeek-V4 counts as DeepSeek-V3 there, MiniMax-M3 and SqrtSoftplus as MiniMax-M2.
 */
export const trtllmRoutingMethods: readonly RoutingMethod[] = [
  { method: 'Default', models: 'softmax, then top-k', planned: true },
  { method: 'Renormalize', models: 'GPT-OSS, Mixtral', planned: true },
  { method: 'RenormalizeNaive', models: 'Qwen3', planned: true },
  { method: 'Llama4Renormalize', models: 'Llama 4', planned: true },
  { method: 'DeepSeekV3', models: 'DeepSeek-V3 and R1', planned: true },
  {
    method: 'DeepSeekV4',
    models: 'DeepSeek-V4, except its first layers, which route by token id',
    planned: true,
  },
  { method: 'MiniMaxM2', models: 'MiniMax-M2', planned: true },
  { method: 'MiniMaxM3', models: 'MiniMax-M3', planned: true },
  { method: 'SqrtSoftplus', models: 'checkpoints trained with sqrt-softplus', planned: true },
  { method: 'SigmoidRenorm', models: 'sigmoid, then top-k, without a bias', planned: false },
  { method: 'SparseMixer', models: 'Phi-3.5-MoE', planned: false },
];

export const unplannedMethods = trtllmRoutingMethods.filter(({ planned }) => !planned);
