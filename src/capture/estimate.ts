/**
 * How large a capture gets and how much it slows the run, before it is taken.
 *
 * Bytes per row of the SQLite export: pages of the table divided by its rows (SQLite's dbstat) over the captures in
 * test/fixtures/captures before they were redacted; `test/capture-estimate.test.ts` computes them again from the
 * redacted copies. A report is 0.29 of its export: 66 kB for 230 kB a step of `eager`, when it was taken. Slowing
 * down was measured on one H200 with nsys 2025.3.1 and PyTorch 2.11, a thousand kernels of 2 µs a step, 60 steps:
 * 2.09 ms a step as graph replay, 3.47 ms with nodes traced, 2.39 ms with graphs as blocks; 9.1 ms launched one by
 * one, 15.5 ms traced. Such kernels are the worst case.
 */
import { formatCount } from '../base/units.js';
import { findModel } from '../catalog/models.js';
import type { CaptureOptions, PlanEstimate } from './capture-plan.js';
import { countIterations } from './iterations.js';
import type { Program } from './read-command.js';

export const bytesPerRow = {
  CUPTI_ACTIVITY_KIND_KERNEL: 78,
  CUPTI_ACTIVITY_KIND_RUNTIME: 36,
  NVTX_EVENTS: 55,
  GPU_METRICS: 30,
  CUDA_GPU_MEMORY_USAGE_EVENTS: 80,
  OSRT_API: 36,
} as const;

/** An export without events: names, processes, the machine. */
export const EMPTY_EXPORT_BYTES = 250e3;
const REPORT_SHARE = 66 / 230;
/**
 * The raw stream nsys writes first, with 60 kernels in it: 1.75 MB; with CPU samples, thread switches or OS calls
 * 2.03 GB, because the symbols of every library of PyTorch go along.
 */
const RAW_STREAM_BYTES = 1.75e6;
const RAW_STREAM_WITH_SYMBOLS_BYTES = 2.03e9;

/** PyTorch run op by op: `eager` has 22 layers × 46 kernels + 4. */
const EAGER_KERNELS_PER_LAYER = 46;
/** Engines with fused kernels: norm, qkv, rope and cache, attention, out, norm, MLP in three, and what joins them. */
const FUSED_KERNELS_PER_LAYER = 14;
const DEFAULT_LAYERS = 32;
/** `eager`: 10,747 calls for 5,080 kernels. */
const CALLS_PER_LAUNCH = 2.1;
/** Calls of a step that replays one graph. */
const CALLS_PER_REPLAY = 40;
/** `eager-decode`: GIL ranges per CUDA call. */
const GIL_RANGES_PER_CALL = 1.2;
/** A step as ranges: the executor's phases (engine), or two per layer where layers are marked. */
const RANGES_PER_STEP = 20;
const METRIC_ROWS_PER_SECOND = 220e3;
const OS_CALLS_PER_SECOND = 20e3;
const ASSUMED_STEP_S = 0.02;

/** Added per kernel, and what a kernel takes without: the worst case above. */
const slowing = {
  node: 1.38 / 2.09,
  graph: 0.3 / 2.09,
  launches: 6.4 / 9.1,
} as const;
/** Added to a step launched op by op beside that, of its untraced time. */
const extras = { gil: 0.5, osrt: 0.25, memory: 0.4, metrics: 0.1, sample: 0.3, backtrace: 1 } as const;

interface EstimateQuestion {
  readonly options: CaptureOptions;
  readonly program: Program;
  readonly ranks: number;
  /** How many nsys run at once. */
  readonly reports: number;
  readonly graphTrace: 'node' | 'graph';
  readonly cpuSampling: boolean;
}

export function estimateCapture({
  options,
  program,
  ranks,
  reports,
  graphTrace,
  cpuSampling,
}: EstimateQuestion): PlanEstimate {
  const { layers, from } = layersOf(options, program);
  const eager =
    program.preset === 'python' ||
    options.command.some(word => /^--(enforce-eager|disable-cuda-graph)$/.test(word));
  const perLayer = options.kernelsPerLayer ?? (eager ? EAGER_KERNELS_PER_LAYER : FUSED_KERNELS_PER_LAYER);
  const kernels = layers * perLayer;
  const window = windowOf(options);
  const blocks = !eager && graphTrace === 'graph';
  const calls = eager ? kernels * CALLS_PER_LAUNCH : CALLS_PER_REPLAY;
  const ranges =
    RANGES_PER_STEP + (options.nvtxDebug ? 2 * layers : 0) + (options.gil ? calls * GIL_RANGES_PER_CALL : 0);
  const perStep =
    (blocks ? 1 : kernels) * bytesPerRow.CUPTI_ACTIVITY_KIND_KERNEL +
    calls * bytesPerRow.CUPTI_ACTIVITY_KIND_RUNTIME +
    ranges * bytesPerRow.NVTX_EVENTS +
    (options.cudaMemory ? 0.3 * calls * bytesPerRow.CUDA_GPU_MEMORY_USAGE_EVENTS : 0);
  const perSecond =
    (options.gpuMetrics ? METRIC_ROWS_PER_SECOND * bytesPerRow.GPU_METRICS : 0) +
    (options.osrt ? OS_CALLS_PER_SECOND * bytesPerRow.OSRT_API : 0) +
    (cpuSampling ? 1e6 : 0);
  const sqliteBytes = round(
    ranks * (EMPTY_EXPORT_BYTES + window.steps * perStep + window.seconds * perSecond),
  );
  const reportBytes = round(sqliteBytes * REPORT_SHARE);
  const rawStream = cpuSampling || options.osrt ? RAW_STREAM_WITH_SYMBOLS_BYTES : RAW_STREAM_BYTES;
  const overheadShare = shareOf(options, eager, graphTrace, cpuSampling);
  return {
    bytes: sqliteBytes + reportBytes,
    reportBytes,
    sqliteBytes,
    temporaryBytes: round(reports * rawStream + sqliteBytes),
    overheadShare,
    how: [
      `${formatCount(kernels)} kernels per step: ${layers} layers (${from}) × ${perLayer}${options.kernelsPerLayer === undefined ? ` (${eager ? 'eager' : 'fused, assumed'})` : ''}`,
      `${formatCount(Math.round(window.steps))} steps (${window.how}), ${ranks === 1 ? '1 rank' : `${ranks} ranks`}`,
      blocks
        ? 'one row per CUDA graph'
        : `${Math.round(perStep)} bytes per step, with row sizes from the bundled captures`,
      `up to ${Math.round(overheadShare * 100)}% slower with 2 µs kernels, less with longer kernels`,
    ],
  };
}

function layersOf(options: CaptureOptions, program: Program): { layers: number; from: string } {
  if (options.layers !== undefined) return { layers: options.layers, from: 'as given' };
  const known = program.model === undefined ? undefined : findModel(program.model);
  const layers = known?.config.num_hidden_layers;
  if (known && typeof layers === 'number') return { layers, from: known.id };
  return { layers: DEFAULT_LAYERS, from: 'model unknown' };
}

function windowOf({ iterations, durationS }: CaptureOptions): {
  steps: number;
  seconds: number;
  how: string;
} {
  if (iterations) {
    const steps = countIterations(iterations);
    return { steps, seconds: steps * ASSUMED_STEP_S, how: 'as requested' };
  }
  const seconds = durationS ?? 60;
  return {
    steps: seconds / ASSUMED_STEP_S,
    seconds,
    how: `${durationS === undefined ? '1 min' : `${durationS} s`} at 20 ms per step`,
  };
}

function shareOf(
  options: CaptureOptions,
  eager: boolean,
  graphTrace: 'node' | 'graph',
  sampling: boolean,
): number {
  let share: number = eager ? slowing.launches : slowing[graphTrace];
  const host = eager ? 1 : 0.1;
  if (options.gil) share += extras.gil * host;
  if (options.osrt) share += extras.osrt * host;
  if (options.cudaMemory) share += extras.memory * host;
  if (options.gpuMetrics) share += extras.metrics * host;
  if (sampling) share += extras.sample * host;
  if (options.backtrace) share += extras.backtrace * host;
  return Math.round(share * 100) / 100;
}

/** Two digits: the third would be a guess. */
const round = (bytes: number): number => Number(bytes.toPrecision(2));
