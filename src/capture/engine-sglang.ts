/**
 * SGLang (docs/developer_guide/benchmark_and_profiling.md, srt/managers/scheduler_profiler_mixin.py). The activity
 * CUDA_PROFILER of POST /start_profile calls cudaProfilerStart; start_step counts forward passes since the server
 * began, its own warm-up included, and num_steps of them are recorded from that one on.
 */
import { type EnginePart, type EngineQuestion, PartBuilder } from './engine-part.js';
import { countIterations } from './iterations.js';
import { DEFAULT_STEPS, demandOf, goalWords, loadShape } from './window-goal.js';

export function planSglang({ options, program, url }: EngineQuestion): EnginePart {
  const part = new PartBuilder();
  const torch = options.torchTrace;
  const spans = options.iterations;
  part.torchInstead = torch !== undefined;
  const timed = options.durationS !== undefined || options.delayS !== undefined;
  if (torch !== undefined) {
    part.variable(
      'SGLANG_TORCH_PROFILER_DIR',
      torch,
      'folder where /start_profile writes PyTorch traces (otherwise /tmp)',
    );
    part.outputs.push({
      kind: 'torch-trace',
      pattern: `${torch.replace(/\/+$/, '')}/*.trace.json.gz`,
      note: 'one per rank',
    });
  }
  if (torch === undefined && options.nvtx !== false)
    part.variable(
      'SGLANG_ENABLE_NVTX_SCHEDULER',
      '1',
      'ranges around the stages of the scheduler (0.5.15 and newer, with the Python package nvtx)',
    );
  if (options.nvtxDebug) {
    part.argument(['--enable-layerwise-nvtx-marker'], 'one range per layer');
    if (!options.command.includes('--disable-cuda-graph'))
      part.warn(
        'warning',
        'no-ranges-in-graphs',
        'CUDA graph replay does not emit layer ranges.',
        'Add --disable-cuda-graph for this capture: it shows layers, but its timings are not representative.',
      );
  }
  if (!program.server) {
    if (spans || torch !== undefined) offlineTraps(part, torch);
    return part.done();
  }
  const demand = demandOf(options);
  if (timed && !spans && !demand && torch === undefined) return part.done();
  const shape = loadShape(options);
  part.byRequest = true;
  part.opensRange = torch === undefined;
  part.ranges = 1;
  const body = {
    activities: torch === undefined ? ['CUDA_PROFILER'] : ['CPU', 'GPU'],
    ...(torch === undefined ? {} : { output_dir: torch, with_stack: options.torchStack ?? false }),
    ...(options.torchShapes ? { record_shapes: true } : {}),
    // A start step of zero means none to SGLang.
    ...(spans
      ? {
          ...(spans[0].first > 0 ? { start_step: spans[0].first } : {}),
          num_steps: countIterations(spans.slice(0, 1)),
        }
      : demand
        ? { num_steps: demand.steps }
        : {}),
  };
  if (spans) {
    part.post(`${url}/start_profile`, 'requests these steps before the load starts', body);
    part.load(
      { iteration: spans[0].last },
      shape,
      'until the last of these steps is done; the window then closes automatically',
    );
    part.warn(
      'note',
      'steps-from-server-start',
      'SGLang counts forward passes from server start, including warm-up; if the first step has already passed, recording starts at once.',
      'Start at step 20 or later, and start profiling before the load.',
    );
    if (spans.length > 1)
      part.warn(
        'error',
        'one-range',
        'SGLang records one range per /start_profile: this plan uses the first.',
        'Give one range, or run one capture per range.',
      );
  } else {
    const goal = demand?.goal ?? { full: true };
    if (demand && !options.command.includes('--enable-metrics'))
      part.argument(['--enable-metrics'], 'reports running and waiting requests at /metrics');
    part.load(goal, shape, goalWords(goal));
    part.post(`${url}/start_profile`, 'opens the window', body);
    if (demand)
      part.load(
        { steps: demand.steps },
        shape,
        'until these steps are done; the window closes automatically',
      );
    else {
      part.load({ steps: DEFAULT_STEPS }, shape, `for about ${DEFAULT_STEPS} steps more`);
      part.post(`${url}/stop_profile`, 'closes the window');
    }
  }
  return part.done();
}

function offlineTraps(part: PartBuilder, torch: string | undefined): void {
  if (torch !== undefined) part.argument(['--profile'], 'the benchmark runs the PyTorch profiler');
  else
    part.warn(
      'error',
      'never-opens-range',
      'The offline benchmarks of SGLang never call cudaProfilerStart: the capture range would never open and the report would be empty.',
      'Give --delay and --duration, or capture the server.',
    );
}
