/**
 * vLLM (docs/contributing/profiling.md, vllm/config/profiler.py). The capture range is opened by POST /start_profile
 * where the CUDA profiler is chosen: VLLM_TORCH_CUDA_PROFILE from 0.11.1 (vllm#27841), --profiler-config from 0.13,
 * the variables gone after 0.15 (vllm#33536). Before 0.11.1 only the PyTorch profiler listens there. Layer ranges
 * (vllm#29990) exist from 0.13 on, graph captures are traced from 0.26 on (vllm/config/profiler.py), and neither by the
 * second model runner (vllm/v1/worker/gpu/model_runner.py, looked through up to 0.32).
 */
import { type EnginePart, type EngineQuestion, PartBuilder } from './engine-part.js';
import { countIterations, delayToSkip } from './iterations.js';
import { isAtLeast } from './versions.js';
import { DEFAULT_STEPS, demandOf, goalWords, requestShape } from './window-goal.js';

export function planVllm(question: EngineQuestion): EnginePart {
  const { options, facts, program } = question;
  const part = new PartBuilder();
  const version = facts.engineVersion;
  const byConfig = isAtLeast(version, 0, 13);
  const torch = options.torchTrace;
  const spans = options.iterations;
  const canLimit = isAtLeast(version, 0, 12);
  const demand = demandOf(options);
  part.torchInstead = torch !== undefined;
  const timed = options.durationS !== undefined || options.delayS !== undefined;
  const wanted =
    torch !== undefined || spans !== undefined || demand !== undefined || (program.server && !timed);

  if (wanted && torch === undefined && !isAtLeast(version, 0, 11, 1)) {
    part.warn(
      'error',
      'never-opens-range',
      'vLLM before 0.11.1 never calls cudaProfilerStart: the capture range would never open and the report would be empty.',
      'Give --delay and --duration instead of --iterations, use --torch-trace DIR, or upgrade to 0.13.',
    );
  } else if (wanted) {
    const limits: Record<string, number> = {};
    if (spans && canLimit) {
      limits.delay_iterations = delayToSkip(spans[0].first);
      limits.max_iterations = countIterations(spans.slice(0, 1));
    } else if (demand && canLimit) limits.max_iterations = demand.steps;
    if (byConfig) {
      const config = {
        profiler: torch === undefined ? 'cuda' : 'torch',
        ...torchSettings(question),
        ...limits,
      };
      part.argument(
        ['--profiler-config', JSON.stringify(config)],
        torch === undefined
          ? '/start_profile opens the capture range of nsys'
          : '/start_profile starts the PyTorch profiler',
      );
    } else {
      if (torch === undefined)
        part.variable('VLLM_TORCH_CUDA_PROFILE', '1', '/start_profile opens the capture range of nsys');
      else
        part.variable('VLLM_TORCH_PROFILER_DIR', torch, 'folder where /start_profile writes PyTorch traces');
      if (limits.max_iterations) {
        if (limits.delay_iterations !== undefined)
          part.variable(
            'VLLM_PROFILER_DELAY_ITERS',
            String(limits.delay_iterations),
            'recording starts before this iteration, counted from 1',
          );
        part.variable('VLLM_PROFILER_MAX_ITERS', String(limits.max_iterations), 'iterations to record');
      }
    }
    part.opensRange = torch === undefined;
    part.ranges = 1;
    if (!program.server) part.argument(['--profile'], 'the benchmark opens and closes the range');
    iterationTraps(part, question, canLimit);
    if (torch !== undefined) {
      part.outputs.push({
        kind: 'torch-trace',
        pattern: `${torch.replace(/\/+$/, '')}/*.json.gz`,
        note: 'one per rank',
      });
      if (options.torchShapes && hasTracedCaptures(version)) {
        part.outputs.push({
          kind: 'torch-trace',
          pattern: `${torch.replace(/\/+$/, '')}/capture_traces/*`,
          note: 'the capture of the CUDA graphs, for analyze --graph-capture',
        });
        secondRunner(part, options.env, version, 'trace the capture of its CUDA graphs');
      }
      if (!byConfig)
        part.variable('VLLM_RPC_TIMEOUT', '1800000', 'stopping writes the traces, which can take minutes');
    }
    part.byRequest = program.server;
    if (program.server) serverSteps(part, question, canLimit);
  }
  if (torch === undefined) {
    part.variable(
      'VLLM_WORKER_MULTIPROC_METHOD',
      'spawn',
      'starts workers as new processes: nsys loses track of forked workers',
    );
    if (options.nvtx !== false)
      part.variableWith(
        'nvtx',
        facts.nvtxModule,
        ['VLLM_NVTX_SCOPES_FOR_PROFILING', '1'],
        'ranges around preprocess, forward, sample …',
      );
  }
  if (options.nvtxDebug) planLayers(part, question);
  if (options.gc)
    part.variable('VLLM_GC_DEBUG', '1', 'logs garbage collections (vLLM emits no ranges for them)');
  return part.done();
}

function planLayers(part: PartBuilder, { options, facts }: EngineQuestion): void {
  if (!isAtLeast(facts.engineVersion, 0, 13)) {
    part.warn(
      'note',
      'nvtx-debug-too-new',
      'vLLM before 0.13 has no layer ranges: --nvtx-debug has no effect.',
      'Upgrade, or mark layers with --agent.',
    );
    return;
  }
  part.argument(['--enable-layerwise-nvtx-tracing'], 'one range per module');
  if (!options.command.includes('--enforce-eager'))
    part.warn(
      'warning',
      'no-ranges-in-graphs',
      'CUDA graph replay and compiled code do not emit layer ranges.',
      'Add --enforce-eager for this capture: it shows layers, but its timings are not representative.',
    );
  secondRunner(part, options.env, facts.engineVersion, 'emit layer ranges');
}

/** The second runner is the default of some dense models from 0.24 on, and of all from 0.25 on. */
function secondRunner(
  part: PartBuilder,
  env: EngineQuestion['options']['env'],
  version: EngineQuestion['facts']['engineVersion'],
  what: string,
): void {
  if (env?.VLLM_USE_V2_MODEL_RUNNER === '0' || !isAtLeast(version, 0, 24)) return;
  part.warn(
    'note',
    'second-model-runner',
    `The second model runner of vLLM (default for dense models from 0.25 on) does not ${what}.`,
    'Start with VLLM_USE_V2_MODEL_RUNNER=0: the first runner does, but its host code and its CUDA graphs are not those of your runs.',
  );
}

/** Only a version that is known to have the field is given it: the configuration rejects unknown ones. */
const hasTracedCaptures = (version: EngineQuestion['facts']['engineVersion']): boolean =>
  version !== undefined && isAtLeast(version, 0, 26);

function torchSettings({ options, facts }: EngineQuestion): Record<string, unknown> {
  if (options.torchTrace === undefined) return {};
  const traced = hasTracedCaptures(facts.engineVersion);
  return {
    torch_profiler_dir: options.torchTrace,
    // vLLM's default is true; stacks are most of a trace's size.
    torch_profiler_with_stack: options.torchStack ?? false,
    ...(options.torchShapes ? { torch_profiler_record_shapes: true } : {}),
    ...(options.torchMemory ? { torch_profiler_with_memory: true } : {}),
    // Names the operators of kernels in CUDA graphs, for analyze --graph-capture.
    ...(options.torchShapes && traced ? { capture_torch_profiler: true } : {}),
    // Adds the lengths of the sequences to the name of every step.
    ...(traced ? { detailed_trace_annotation: true } : {}),
    ...(options.iterations ? { ignore_frontend: true } : {}),
  };
}

function iterationTraps(part: PartBuilder, { options }: EngineQuestion, canLimit: boolean): void {
  if (demandOf(options) && !canLimit)
    part.warn(
      'note',
      'iterations-not-counted',
      'vLLM before 0.12 cannot count iterations: the window is closed by /stop_profile after about as many steps.',
      'Upgrade for an exact number.',
    );
  if (!options.iterations) return;
  if (!canLimit)
    part.warn(
      'warning',
      'iterations-not-counted',
      'vLLM before 0.12 cannot count iterations: the window lasts from /start_profile to /stop_profile.',
      'Keep the load short, or upgrade.',
    );
  else
    part.warn(
      'note',
      'iterations-from-start',
      'vLLM counts iterations from /start_profile, not from server start.',
      'Send /start_profile once the load is steady; 0-49 are then the next 50 steps.',
    );
  if (options.iterations.length > 1)
    part.warn(
      'error',
      'one-range',
      'vLLM records one range per /start_profile: this plan uses the first.',
      'Give one range, or run one capture per range.',
    );
}

function serverSteps(part: PartBuilder, { options, url }: EngineQuestion, canLimit: boolean): void {
  const demand = demandOf(options);
  const [span] = options.iterations ?? [];
  const shape = requestShape(options);
  const counted = canLimit && (span ?? demand) !== undefined;
  const goal = demand?.goal ?? { full: true };
  part.load(goal, shape, goalWords(goal));
  part.post(`${url}/start_profile`, 'opens the window');
  const steps = span ? span.last + 1 : (demand?.steps ?? DEFAULT_STEPS);
  part.load({ steps }, shape, counted ? 'until these steps are done' : `for about ${steps} steps more`);
  part.post(
    `${url}/stop_profile`,
    counted ? 'closes the window if the iteration count did not' : 'closes the window',
  );
}
