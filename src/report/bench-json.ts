/** The JSON Schema of `stepscope bench --json`, and the version of its form. */
import {
  distribution,
  fieldsOf,
  type JsonSchema,
  list,
  note,
  number,
  sparse as object,
  text,
} from '../base/json-schema.js';

export const BENCH_SCHEMA = 'stepscope-bench/1';
const BY_PERCENT = 'nanoseconds by percent';

const load = object({
  dataset: text('name or path as printed'),
  requestRate: {
    oneOf: [{ type: 'number' }, { const: 'unlimited' }],
    description: 'requests sent per second',
  },
  ...fieldsOf(number, {
    inputTokens: 'mean prompt length (tokens)',
    outputTokens: 'mean answer length (tokens)',
    maxConcurrency: 'requests at the same time that the client allowed itself',
    meanConcurrency: 'requests in flight on average, as measured',
    requests: 'requests the run was asked to make',
    batchSize: 'sequences run together, where the tool fixes it',
    maxBatchSize: "limit of the engine's batch (sequences)",
    maxBatchTokens: "limit of the engine's batch (tokens)",
    tensorParallel: 'ranks',
    pipelineParallel: 'ranks',
    expertParallel: 'ranks',
    dataParallel: 'ranks',
    gpus: 'GPUs of the engine',
  }),
});

const iteration = object(
  {
    timestamp: text('as printed'),
    ...fieldsOf(number, {
      iteration: 'number of the pass',
      rank: 'rank in its group',
      globalRank: 'rank in the world',
      hostStepNs: 'wall time of the pass on the host (nanoseconds)',
      previousDeviceStepNs: 'GPU time of the pass before (nanoseconds)',
      gpuForwardNs: 'GPU time of this pass (nanoseconds)',
      iterationLatencyNs: 'about two passes when the engine overlaps them (nanoseconds)',
      scheduledRequests: 'requests in the batch',
      activeRequests: 'requests in the engine',
      queuedRequests: 'requests waiting',
      contextRequests: 'requests in prefill',
      contextTokens: 'prompt tokens of the pass',
      generationRequests: 'requests in decode',
      generationTokens: 'tokens in decode, drafts included',
      kvCacheShare: 'KV cache in use (0 to 1)',
    }),
  },
  ['iteration'],
);

const request = object({
  failed: { const: true },
  ...fieldsOf(number, {
    id: 'as the tool numbers it',
    inputTokens: 'prompt tokens',
    outputTokens: 'answer tokens',
    startNs: 'on the clock of the tool (nanoseconds)',
    e2eNs: 'end-to-end time (nanoseconds)',
    ttftNs: 'time to first token (nanoseconds)',
    tpotNs: 'time per token after the first (nanoseconds)',
  }),
});

const run = object(
  {
    name: text('unique in this document'),
    source: object(
      { file: text('file name'), format: text('id of the format'), line: number('where it begins') },
      ['file', 'format'],
    ),
    ...fieldsOf(text, {
      label: 'what the author called it',
      tool: 'program that measured',
      framework: 'what was measured',
      frameworkVersion: 'its version',
      model: 'as printed',
      dtype: 'data type of the weights',
      kvCacheDtype: 'data type of the KV cache',
      quantization: 'algorithm',
      gpu: 'name of the GPU',
    }),
    load,
    throughput: object(
      fieldsOf(number, {
        requests: 'requests per second',
        goodRequests: 'requests per second that met the goals',
        inputTokens: 'prompt tokens per second',
        outputTokens: 'answer tokens per second',
        totalTokens: 'prompt and answer tokens per second',
        outputTokensPerUser: 'mean over requests of answer tokens per second of end-to-end time',
        generationSpeedPerUser: 'mean over requests of answer tokens per second after the first token',
        outputTokensPerGpu: 'answer tokens per second and GPU',
      }),
    ),
    latency: object({
      e2e: distribution('request sent to answer complete', BY_PERCENT),
      ttft: distribution('request sent to first token', BY_PERCENT),
      tpot: distribution('per request, time per token after the first', BY_PERCENT),
      itl: distribution('gaps between pieces of answers', BY_PERCENT),
    }),
    counts: object(
      fieldsOf(number, {
        completed: 'requests answered',
        errors: 'requests that failed',
        inputTokens: 'prompt tokens of answered requests',
        outputTokens: 'answer tokens',
      }),
    ),
    energy: object(
      fieldsOf(number, {
        totalJoules: 'of the GPUs while the run lasted (joules)',
        gpuPowerWatts: 'of all GPUs together, on average (watts)',
        outputTokensPerSecondPerWatt: 'answer tokens per second for each watt',
      }),
    ),
    durationNs: number('first request sent to last one answered (nanoseconds)'),
    iterations: list(iteration, 'passes of the engine, where the file has them'),
    requests: list(request, 'requests, where the file has them'),
    notes: list(note(), 'what was lost or odd'),
  },
  ['name', 'source', 'tool', 'load', 'throughput', 'latency', 'counts', 'notes'],
);

const sample = object(
  { mean: number('over the runs'), runs: number('runs that printed it'), stddev: number('of the runs') },
  ['mean', 'runs'],
);

const difference = object(
  {
    run: text('name of the run beside the first'),
    comparable: { type: 'boolean', description: 'no setting differs that prevents a comparison' },
    settings: list(
      object(
        {
          id: text('setting'),
          label: text('in words'),
          effect: { enum: ['prevents', 'explains', 'unstated'] },
          before: text('of the first'),
          after: text('of this run'),
        },
        ['id', 'label', 'effect'],
      ),
      'settings that differ or are not stated',
    ),
    metrics: list(
      object(
        {
          id: text('metric'),
          header: text('as in the table'),
          kind: { enum: ['rate', 'ns'] },
          better: { enum: ['higher', 'lower'] },
          before: sample,
          after: sample,
          change: number('after / before − 1'),
          noise: number('share of before that repeats differ by'),
          verdict: { enum: ['better', 'worse', 'within-noise', 'unproven'] },
        },
        ['id', 'header', 'kind', 'better', 'before', 'after', 'change', 'verdict'],
      ),
      'figures that both have',
    ),
    warnings: list(
      object({ code: text('kind'), text: text('sentence') }, ['code', 'text']),
      'what speaks against it',
    ),
  },
  ['run', 'comparable', 'settings', 'metrics', 'warnings'],
);

export const benchSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'stepscope-bench-1',
  title: 'Benchmarks',
  description: 'Results of benchmarks as their tools printed them. A figure that was not printed is absent.',
  ...(object(
    {
      schema: { const: BENCH_SCHEMA },
      files: list(text('path'), 'as given'),
      runs: list(run, 'in the order of the files'),
      besideFirst: list(difference, 'each run but the first, beside the first'),
    },
    ['schema', 'files', 'runs', 'besideFirst'],
  ) as object),
};
