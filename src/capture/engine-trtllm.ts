/**
 * TensorRT-LLM: everything goes through variables, read in the executor's process
 * (tensorrt_llm/_torch/pyexecutor/py_executor.py, tensorrt_llm/_utils.py, tensorrt_llm/llmapi/mpi_session.py).
 */

import { type trtllmRoutingMethods, unplannedMethods } from '../catalog/engine-switches.js';
import { reportStem } from '../catalog/file-formats.js';
import type { IterationSpan } from './capture-plan.js';
import { type EnginePart, type EngineQuestion, PartBuilder } from './engine-part.js';
import { endRule, startStopValue } from './iterations.js';
import { textOf } from './launchers.js';
import { isAtLeast, type VersionNumbers } from './versions.js';
import { demandOf, goalWords, loadShape } from './window-goal.js';

/** trtllm-bench sends this many requests before it measures, unless told otherwise. */
const DEFAULT_WARMUP = 2;

export function planTrtllm(question: EngineQuestion): EnginePart {
  const { options, facts, program, launch } = question;
  const part = new PartBuilder();
  const cpp =
    options.command.some(word => /^--engine_dir(=|$)/.test(word)) || backend(options.command) === 'tensorrt';
  if (options.iterations) planRange(part, question, options.iterations, cpp);
  if (program.server) planServer(part, question, cpp);
  if (options.gc) part.variable('TLLM_PROFILE_RECORD_GC', '1', 'marks Python garbage collections as ranges');
  if (options.nvtxDebug)
    part.variable(
      'TLLM_LLMAPI_ENABLE_NVTX',
      '1',
      'more ranges: requests, responses, tokenizing, layers (same as TLLM_NVTX_DEBUG)',
    );
  if (options.nvtxDebug && !cpp)
    part.warn(
      'note',
      'layer-ranges-by-config',
      'TensorRT-LLM marks every module only if its configuration says so, and not in CUDA graph replays.',
      'For one range per module: enable_layerwise_nvtx_marker: true in the YAML of --config (--extra_llm_api_options before 1.2), with cuda_graph_config: null.',
    );
  if (options.torchTrace !== undefined) planTorch(part, question, options.torchTrace, cpp);
  if (options.perfectRouter) {
    part.variable(
      'ENABLE_PERFECT_ROUTER',
      '1',
      'balanced expert routing; model output is wrong, use only the timing',
    );
    routingMethods(part, facts.engineVersion);
    part.warn(
      launch.kind === 'none' && (options.ranks ?? 1) > 1 ? 'warning' : 'note',
      'router-variable',
      'ENABLE_PERFECT_ROUTER is not among the variables (TLLM*, TRTLLM*) that TensorRT-LLM passes to its worker processes; models without support ignore it.',
      'Look for "Precomputing perfect router logits" in the output; if it is missing, start with mpirun -x ENABLE_PERFECT_ROUTER … trtllm-llmapi-launch.',
    );
  }
  if (cpp && options.nvtx !== false)
    part.warn(
      'note',
      'cpp-ranges',
      'The TensorRT engine backend emits NVTX ranges only if it was built with them.',
      'Build the wheel with scripts/build_wheel.py --nvtx, or use --backend pytorch.',
    );
  if (launch.kind !== 'none' && !options.command.some(word => /trtllm-llmapi-launch$/.test(word)))
    part.warn(
      'warning',
      'llmapi-launch',
      `Under ${launch.kind} every rank would start its own ${program.preset}.`,
      `Put trtllm-llmapi-launch in front: ${launch.kind} … trtllm-llmapi-launch ${program.preset} …`,
    );
  return part.done();
}

/** Up to 1.2 two models ask for balanced logits themselves; from 1.3 on every MoE layer does, if its routing has a planner. */
function routingMethods(part: PartBuilder, version: VersionNumbers | undefined): void {
  const named = (methods: typeof trtllmRoutingMethods) =>
    methods.map(({ method, models }) => `${method} (${models})`).join(', ');
  if (version !== undefined && !isAtLeast(version, 1, 3))
    part.warn(
      'note',
      'router-models',
      'TensorRT-LLM before 1.3 balances only GPT-OSS and DeepSeek-V3/R1: every other model keeps its learned router, without a message.',
      'Upgrade to 1.3, or measure another engine with --agent.',
    );
  else
    part.warn(
      'note',
      'router-models',
      `TensorRT-LLM from 1.3 on balances every MoE layer whose routing has a planner. Models with ${named(unplannedMethods)} do not start with it, and hash-routed layers of DeepSeek-V4 keep their routing.`,
      'Check the routing method of the model: *MoeRoutingMethod in its file under tensorrt_llm/_torch/models.',
    );
}

function planRange(
  part: PartBuilder,
  question: EngineQuestion,
  spans: readonly IterationSpan[],
  cpp: boolean,
): void {
  const { options, facts, program } = question;
  const rule = endRule(facts.engineVersion, cpp);
  const value = startStopValue(spans, rule);
  const meaning = {
    included: 'this version includes the end',
    'left-out': 'this version excludes the end, so the value is one higher',
    unknown: 'version unknown',
  }[rule];
  part.variable('TLLM_PROFILE_START_STOP', value, `opens the capture range at these iterations (${meaning})`);
  part.opensRange = true;
  part.ranges = spans.length;
  if (rule === 'unknown')
    part.warn(
      'note',
      'end-of-range',
      'TensorRT-LLM up to 1.2 includes the last iteration, 1.3 and later exclude it: the capture may contain one step fewer.',
      'Give --engine-version, or check the captured iterations with stepscope steps.',
    );
  if (program.preset === 'trtllm-bench') {
    const warmup = Number(textOf(options.command, ['--warmup']) ?? DEFAULT_WARMUP);
    if (warmup > 0)
      part.warn(
        'warning',
        'warm-up-counts',
        `trtllm-bench sends ${warmup} warm-up requests first, and their iterations count: iteration ${spans[0].first} may be part of the warm-up.`,
        'Add --warmup 0 to trtllm-bench, or start at a later iteration.',
      );
  }
}

/** Opened by POST /start_profile from May 2026 on (TensorRT-LLM#13872), before that by number alone. */
function planServer(part: PartBuilder, question: EngineQuestion, cpp: boolean): void {
  const { options, facts, url } = question;
  const demand = demandOf(options);
  const shape = loadShape(options);
  if (demand || options.iterations) logIterations(part, question, cpp);
  if (!demand) {
    const last = options.iterations?.at(-1)?.last;
    if (last !== undefined) part.load({ iteration: last }, shape, 'until the window has ended');
    return;
  }
  if (cpp || (facts.engineVersion && !isAtLeast(facts.engineVersion, 1, 3))) {
    part.warn(
      'error',
      'window-by-number',
      `${cpp ? 'The TensorRT engine backend' : 'TensorRT-LLM before 1.3'} opens windows only by number, so ${demand.words} is not possible.`,
      'Give --iterations A-B; with --levels concurrent:N the batch is full long before iteration 100.',
    );
    return;
  }
  part.byRequest = true;
  part.opensRange = true;
  part.ranges = 1;
  part.load(demand.goal, shape, goalWords(demand.goal));
  part.post(`${url}/start_profile`, 'opens the window (TensorRT-LLM from May 2026 on)', {
    activities: ['CUDA_PROFILER'],
    num_steps: demand.steps,
  });
  part.load({ steps: demand.steps }, shape, 'until these steps are done; the window closes automatically');
}

/** One line per iteration: it shows how far the engine is, and what a step takes without the profiler. */
function logIterations(part: PartBuilder, { options, facts, launch }: EngineQuestion, cpp: boolean): void {
  const own = textOf(options.command, ['--extra_llm_api_options', '--config']);
  // Unknown keys end older versions, and a launcher may start the program where the file is not.
  const canAdd =
    own === undefined &&
    !cpp &&
    facts.runsHere &&
    launch.kind === 'none' &&
    isAtLeast(facts.engineVersion, 1, 0);
  if (canAdd) {
    const path = `${reportStem(options.output ?? 'trace')}.engine.yaml`;
    part.files.push({ path, text: 'print_iter_log: true\n' });
    part.argument(['--extra_llm_api_options', path], 'logs every iteration: how far the engine is');
  } else if (!cpp)
    part.warn(
      'note',
      'no-iteration-log',
      `Iterations are counted in the log only with print_iter_log: true${own === undefined ? '' : ` in ${own}`}; without it, requests are sent until the report is written, and no progress is shown.`,
      'Add print_iter_log: true to the file of --extra_llm_api_options.',
    );
}

function planTorch(
  part: PartBuilder,
  { options, facts, launch }: EngineQuestion,
  file: string,
  cpp: boolean,
): void {
  part.variable('TLLM_TORCH_PROFILE_TRACE', file, 'writes a PyTorch trace of the same iterations');
  const suffixed = withRank(file, 'N');
  const old = facts.engineVersion !== undefined && !isAtLeast(facts.engineVersion, 1, 2);
  part.outputs.push({
    kind: 'torch-trace',
    pattern: old ? file : withRank(file, '*'),
    note: `newer versions write one ${suffixed} per rank; in older versions every rank writes ${file}`,
  });
  if (cpp)
    part.warn(
      'error',
      'torch-needs-pytorch',
      'The TensorRT engine backend does not write a PyTorch trace.',
      'Use --backend pytorch, or remove --torch-trace.',
    );
  if (!options.iterations)
    part.warn(
      'error',
      'torch-needs-range',
      'TLLM_TORCH_PROFILE_TRACE has no effect without TLLM_PROFILE_START_STOP.',
      'Give --iterations A-B.',
    );
  if ((options.iterations?.length ?? 0) > 1)
    part.warn(
      'error',
      'torch-one-range',
      'With several ranges, each PyTorch trace overwrites the previous one: only the last is kept.',
      'Give one range with --torch-trace.',
    );
  if (old && (options.ranks ?? launch.ranks ?? 1) > 1)
    part.warn(
      'error',
      'torch-one-file',
      `In this version, all ranks write to the same ${file}.`,
      'Record the trace on one rank, or upgrade to 1.2 or newer.',
    );
  part.warn(
    'warning',
    'two-profilers',
    'nsys and the PyTorch profiler both record CUDA activity: both slow the run, and one may miss events.',
    'For accurate timings, capture once with each.',
  );
}

/** `trace.json` → `trace-rank-0.json`; split at the last extension as TensorRT-LLM does: `t.json.gz` → `t.json-rank-0.gz`. */
function withRank(file: string, rank: string): string {
  const dot = file.lastIndexOf('.');
  return dot > file.lastIndexOf('/') + 1
    ? `${file.slice(0, dot)}-rank-${rank}${file.slice(dot)}`
    : `${file}-rank-${rank}`;
}

const backend = (command: readonly string[]): string | undefined => textOf(command, ['--backend']);
