/** One result of a benchmark, declared; bench-run.ts says how to read it. */
import {
  either,
  fieldsOf,
  list,
  mapOf,
  note,
  number,
  object,
  only,
  optional,
  sparse,
  string,
} from '../base/document.js';

export const distribution = (description: string, byPercent = 'nanoseconds by percent') =>
  object(
    {
      meanNs: optional(number('mean (nanoseconds)')),
      stddevNs: optional(number('standard deviation (nanoseconds)')),
      minNs: optional(number('least (nanoseconds)')),
      maxNs: optional(number('most (nanoseconds)')),
      // `50` is the median, `99.9` may occur.
      percentilesNs: mapOf(number(), byPercent),
    },
    description,
  );

/** Where all are sent at once, it is unlimited. */
export const requestRate = (description: string) => either([number(), only('unlimited')], description);

const load = sparse({
  dataset: string('name or path as printed'),
  requestRate: requestRate('requests sent per second'),
  ...fieldsOf(number, {
    // Where only totals are printed, total over completed requests.
    inputTokens: 'mean prompt length (tokens)',
    outputTokens: 'mean answer length (tokens)',
    maxConcurrency: 'requests at the same time that the client allowed itself',
    // It follows from speed, so it is no setting.
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

const throughput = sparse(
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
);

const latency = sparse({
  e2e: distribution('request sent to answer complete'),
  ttft: distribution('request sent to first token'),
  tpot: distribution('per request, time per token after the first'),
  itl: distribution('gaps between pieces of answers'),
});

/** As the engine measured them, not the client. */
export const engineLatency = sparse({
  queue: distribution('arrival in the engine to first step'),
  prefill: distribution('first step to first token'),
  kvTransfer: distribution('transfer of the KV cache between servers'),
});

const counts = sparse(
  fieldsOf(number, {
    completed: 'requests answered',
    errors: 'requests that failed',
    inputTokens: 'prompt tokens of answered requests',
    outputTokens: 'answer tokens',
  }),
);

export const energy = sparse(
  fieldsOf(number, {
    totalJoules: 'of the GPUs while the run lasted (joules)',
    gpuPowerWatts: 'of all GPUs together, on average (watts)',
    outputTokensPerSecondPerWatt: 'answer tokens per second for each watt',
  }),
);

/** One pass of the engine's loop. */
const iteration = object({
  iteration: number('number of the pass'),
  ...sparse({
    // Logs do not name a time zone.
    timestamp: string('as printed'),
    ...fieldsOf(number, {
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
  }).properties,
});

/** The engine at one moment. */
const engineState = sparse(
  fieldsOf(number, {
    atNs: 'on the clock of the requests (nanoseconds)',
    iteration: 'the engine’s number of its last step, or how many it ran',
    running: 'requests in the engine',
    waiting: 'requests in its queue',
    kvShare: 'KV cache in use (0 to 1)',
  }),
);

/** One request. Prompts and answers are not kept. */
const request = sparse({
  failed: only(true),
  serverId: string('hash of the id in the answer, as the agent writes it for each step'),
  ...fieldsOf(number, {
    id: 'as the tool numbers it',
    inputTokens: 'prompt tokens',
    outputTokens: 'answer tokens',
    startNs: 'on the clock of the tool (nanoseconds)',
    e2eNs: 'end-to-end time (nanoseconds)',
    ttftNs: 'time to first token (nanoseconds)',
    tpotNs: 'time per token after the first (nanoseconds)',
    queueNs: 'as the engine measured it: arrival in the engine to first step (nanoseconds)',
    prefillNs: 'as the engine measured it: first step to first token (nanoseconds)',
    kvTransferNs: 'as the engine measured it: transfer of the KV cache between servers (nanoseconds)',
    firstIteration: 'the engine’s number of the first step with it',
    lastIteration: 'the engine’s number of the last step with it',
  }),
});

export const benchRun = object({
  source: object({
    file: string('file name'),
    format: string('id of the format'),
    // For documents one after the other, which one.
    line: optional(number('where it begins')),
  }),
  tool: string('program that measured'),
  ...sparse(
    fieldsOf(string, {
      label: 'what the author called it',
      framework: 'what was measured',
      frameworkVersion: 'its version',
      model: 'as printed',
      dtype: 'data type of the weights',
      kvCacheDtype: 'data type of the KV cache',
      quantization: 'algorithm',
      gpu: 'name of the GPU',
    }),
  ).properties,
  load,
  throughput,
  latency,
  engineLatency: optional(engineLatency),
  counts,
  energy: optional(energy),
  durationNs: optional(number('first request sent to last one answered (nanoseconds)')),
  iterations: optional(list(iteration, 'passes of the engine, where the file has them')),
  requests: optional(list(request, 'requests, where the file has them')),
  engineStates: optional(list(engineState, 'what the engine reported about itself meanwhile')),
  clock: optional(
    sparse({
      requestsBefore: number('requests that the client sent between notBeforeNs and the first of these'),
      ...fieldsOf(string, {
        // Strings: nanoseconds since 1970 exceed what JSON readers keep exactly.
        utcNs: 'wall clock of the client at 0 of the requests’ startNs (nanoseconds since 1970)',
        monotonicNs: 'monotonic clock of the client at the same moment (nanoseconds)',
        notBeforeNs: 'where neither is known: the run began after this moment (nanoseconds since 1970)',
        machine: 'names the machine of the client and its boot',
      }),
    }),
  ),
  notes: list(note, 'what was lost or odd'),
});
