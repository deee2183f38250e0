/**
 * SGLang (docs/developer_guide/benchmark_and_profiling.md, srt/managers/scheduler_profiler_mixin.py). The activity
 * CUDA_PROFILER of POST /start_profile calls cudaProfilerStart; start_step counts forward passes since the server
 * began, its own warm-up included, and num_steps of them are recorded from that one on.
 */
import { type EnginePart, type EngineQuestion, PartBuilder } from './engine-part.js';
import { countIterations } from './iterations.js';

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
      '/start_profile writes PyTorch traces there (else to /tmp)',
    );
    part.outputs.push({
      kind: 'torch-trace',
      pattern: `${torch.replace(/\/+$/, '')}/*.trace.json.gz`,
      note: 'one per rank',
    });
  }
  if (options.nvtxDebug) {
    part.argument(['--enable-layerwise-nvtx-marker'], 'a range per layer');
    if (!options.command.includes('--disable-cuda-graph'))
      part.warn(
        'warning',
        'no-ranges-in-graphs',
        'Layer ranges are not emitted when a CUDA graph is replayed.',
        'Add --disable-cuda-graph for this capture: it shows layers, not true timings.',
      );
  }
  if (!program.server) {
    if (spans || torch !== undefined) offlineTraps(part, torch);
    return part.done();
  }
  if (timed && !spans && torch === undefined) return part.done();
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
      : {}),
  };
  if (spans) {
    part.post(`${url}/start_profile`, 'asks for these steps before the load begins', body);
    part.steps.push({
      do: 'load',
      why: 'until the last of these steps has passed; the window closes by itself',
    });
    part.warn(
      'note',
      'steps-from-server-start',
      'SGLang counts forward passes from the start of the server, its warm-up included; a start that has passed means "now".',
      'Begin at 20 or later, and ask before the load.',
    );
    if (spans.length > 1)
      part.warn(
        'error',
        'one-range',
        'SGLang records one range per /start_profile: the first is planned.',
        'Give one range, or capture again for each.',
      );
  } else {
    part.steps.push({ do: 'load', why: 'until the batch is steady, and keep them coming' });
    part.post(`${url}/start_profile`, 'opens the window', body);
    part.steps.push({ do: 'load', why: 'for a few seconds more' });
    part.post(`${url}/stop_profile`, 'closes the window');
  }
  return part.done();
}

function offlineTraps(part: PartBuilder, torch: string | undefined): void {
  if (torch !== undefined) part.argument(['--profile'], 'the benchmark runs the PyTorch profiler itself');
  else
    part.warn(
      'error',
      'never-opens-range',
      'SGLang’s offline benchmarks never call cudaProfilerStart: the range would stay closed and the report empty.',
      'Give --delay and --duration, or capture the server.',
    );
}
