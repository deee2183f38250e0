/**
 * The figures of a benchmark that are compared, and the settings that must be equal for that. Definitions are in
 * docs/metrics.md#benchmarks; where tools define a figure differently, docs/bench-formats.md says how.
 */
import type { BenchRun, LatencyName } from '../model/bench-run.js';

export interface BenchMetric {
  readonly id: string;
  readonly header: string;
  readonly about: string;
  /** `rate`: per second, or joules where `better` is lower; `ns`: nanoseconds. */
  readonly kind: 'rate' | 'ns';
  readonly better: 'higher' | 'lower';
  /** Of its column: see TableColumn. */
  readonly priority?: number;
  of(run: BenchRun): number | undefined;
}

const rate = (
  id: string,
  header: string,
  about: string,
  of: BenchMetric['of'],
  priority?: number,
): BenchMetric => ({
  id,
  header,
  about,
  kind: 'rate',
  better: 'higher',
  priority,
  of,
});

const joules = (id: string, header: string, about: string, of: BenchMetric['of']): BenchMetric => ({
  ...rate(id, header, about, of, -1),
  better: 'lower',
});

/** The total has more digits than a printed ratio. */
function joulesPerOutputToken({ energy, counts, throughput, durationNs }: BenchRun): number | undefined {
  const tokens =
    counts.outputTokens ??
    (throughput.outputTokens === undefined || durationNs === undefined
      ? undefined
      : (throughput.outputTokens * durationNs) / 1e9);
  if (energy?.totalJoules !== undefined && tokens) return energy.totalJoules / tokens;
  return energy?.outputTokensPerSecondPerWatt ? 1 / energy.outputTokensPerSecondPerWatt : undefined;
}

/** Not over requests that failed: what they took cannot be separated, so there is no figure then. */
function joulesPerRequest({ energy, counts, load }: BenchRun): number | undefined {
  const requests = counts.completed ?? load.requests;
  if (energy?.totalJoules === undefined || !requests || counts.errors) return undefined;
  return energy.totalJoules / requests;
}

const latencyWords: Readonly<Record<LatencyName, readonly [header: string, about: string]>> = {
  e2e: ['E2E', 'end-to-end latency of a request'],
  ttft: ['TTFT', 'time to first token'],
  tpot: ['TPOT', 'time per output token after the first, per request'],
  itl: ['ITL', 'inter-token latency: gap between two streamed chunks'],
};

const latency = (name: LatencyName): BenchMetric[] => {
  const [header, about] = latencyWords[name];
  const metric = (stat: string, of: BenchMetric['of'], priority?: number): BenchMetric => ({
    id: `${name}${stat[0].toUpperCase()}${stat.slice(1)}Ns`,
    header: `${header} ${stat}`,
    about: `${about}: ${stat === 'mean' ? 'mean' : `percentile ${stat.slice(1)}`}`,
    kind: 'ns',
    better: 'lower',
    priority,
    of,
  });
  return [
    metric('mean', run => run.latency[name]?.meanNs),
    metric('p50', run => run.latency[name]?.percentilesNs['50'], -5),
    metric('p99', run => run.latency[name]?.percentilesNs['99'], -2),
  ];
};

/** In the order of the table; the first one a run has stands for its speed. */
export const benchMetrics: readonly BenchMetric[] = [
  rate('requestsPerSecond', 'Req/s', 'requests completed per second', run => run.throughput.requests),
  rate(
    'outputTokensPerSecond',
    'Output tok/s',
    'output tokens per second',
    run => run.throughput.outputTokens,
  ),
  rate(
    'totalTokensPerSecond',
    'Total tok/s',
    'input and output tokens per second',
    run => run.throughput.totalTokens,
  ),
  ...latency('e2e'),
  ...latency('ttft'),
  ...latency('tpot'),
  ...latency('itl'),
  rate(
    'outputTokensPerSecondPerUser',
    'tok/s/user',
    'mean over requests of output tokens divided by end-to-end latency',
    run => run.throughput.outputTokensPerUser,
  ),
  rate(
    'generationTokensPerSecondPerUser',
    'Gen tok/s/user',
    'mean over requests of output tokens divided by the time after the first token',
    run => run.throughput.generationSpeedPerUser,
    -4,
  ),
  rate(
    'outputTokensPerSecondPerGpu',
    'tok/s/GPU',
    'output tokens per second per GPU',
    run => run.throughput.outputTokensPerGpu,
  ),
  rate(
    'outputTokensPerSecondPerWatt',
    'tok/s/W',
    'output tokens per second per watt of GPU power, which is output tokens per joule',
    run => run.energy?.outputTokensPerSecondPerWatt,
    -1,
  ),
  joules(
    'joulesPerOutputToken',
    'J/tok',
    'energy of the GPUs divided by output tokens',
    joulesPerOutputToken,
  ),
  joules('joulesPerRequest', 'J/req', 'energy of the GPUs divided by completed requests', joulesPerRequest),
  {
    id: 'queueMeanNs',
    header: 'Queue mean',
    about:
      'mean time from the arrival of a request in the engine to its first step, as the engine measured it',
    kind: 'ns',
    better: 'lower',
    priority: -3,
    of: run => run.engineLatency?.queue?.meanNs,
  },
  {
    id: 'durationNs',
    header: 'Run time',
    about: 'time from the first request sent to the last response completed',
    kind: 'ns',
    better: 'lower',
    priority: -4,
    of: run => run.durationNs,
  },
];

export interface BenchSetting {
  readonly id: string;
  readonly label: string;
  /** `prevents`: runs that differ here answer different questions. `explains`: it may be what is being compared. */
  readonly difference: 'prevents' | 'explains';
  /** Relative difference that still counts as equal: lengths are drawn at random. */
  readonly tolerance?: number;
  of(run: BenchRun): string | number | undefined;
}

const setting = (
  id: string,
  label: string,
  difference: BenchSetting['difference'],
  of: BenchSetting['of'],
  tolerance?: number,
): BenchSetting => ({ id, label, difference, of, ...(tolerance === undefined ? {} : { tolerance }) });

export const benchSettings: readonly BenchSetting[] = [
  setting('model', 'model', 'prevents', run => run.model && modelName(run.model)),
  setting('inputTokens', 'input length', 'prevents', run => run.load.inputTokens, 0.01),
  setting('outputTokens', 'output length', 'prevents', run => run.load.outputTokens, 0.01),
  setting('maxConcurrency', 'concurrency', 'prevents', run => run.load.maxConcurrency),
  setting('requestRate', 'request rate', 'prevents', run => run.load.requestRate),
  setting('requests', 'number of requests', 'prevents', run => run.load.requests),
  setting('batchSize', 'batch size', 'prevents', run => run.load.batchSize),
  setting('tool', 'benchmark', 'explains', run => run.tool),
  setting('framework', 'framework', 'explains', run => run.framework),
  setting('frameworkVersion', 'version', 'explains', run => run.frameworkVersion),
  setting('dataset', 'dataset', 'explains', run => run.load.dataset),
  setting('dtype', 'dtype', 'explains', run => run.dtype),
  setting('kvCacheDtype', 'KV cache dtype', 'explains', run => run.kvCacheDtype),
  setting('quantization', 'quantization', 'explains', run => run.quantization),
  setting('gpu', 'GPU', 'explains', run => run.gpu),
  setting('gpus', 'GPUs', 'explains', run => run.load.gpus),
  setting('tensorParallel', 'tensor parallel', 'explains', run => run.load.tensorParallel),
  setting('pipelineParallel', 'pipeline parallel', 'explains', run => run.load.pipelineParallel),
  setting('expertParallel', 'expert parallel', 'explains', run => run.load.expertParallel),
  setting('dataParallel', 'data parallel', 'explains', run => run.load.dataParallel),
  setting('maxBatchSize', 'max batch size', 'explains', run => run.load.maxBatchSize),
  setting('maxBatchTokens', 'max batch tokens', 'explains', run => run.load.maxBatchTokens),
];

/** The name of a model given as a hub name, a path, or a path into the hub's cache. */
export function modelName(model: string): string {
  const cached = /models--([^/\\]{1,100})--([^/\\]{1,200})/.exec(model);
  if (cached) return cached[2];
  return (
    model
      .replace(/[/\\]+$/, '')
      .split(/[/\\]/)
      .pop() || model
  );
}
