/** The JSON Schema of the file of `stepscope load`, which docs/schemas/load.schema.json repeats. */
import {
  distribution,
  fieldsOf,
  flag,
  type JsonSchema,
  list,
  note,
  number,
  sparse as object,
  text,
} from '../base/json-schema.js';
import { LOAD_SCHEMA } from './load-document.js';

const BY_PERCENT = 'nanoseconds by percent, interpolated';

const target = object(
  {
    url: text('address, without credentials and query'),
    api: { enum: ['completions', 'chat'] },
    model: text('as asked for, or the first the server lists'),
    framework: text('as the server says in its list of models'),
    frameworkVersion: text('as the server says'),
  },
  ['url', 'api', 'model'],
);

const settings = object(
  {
    stream: flag('answers were asked for as streams'),
    prompts: text('synthetic, or the file name of the dataset'),
    inputTokens: text('distribution of prompt lengths, of synthetic prompts'),
    outputTokens: text('distribution of answer lengths'),
    prefix: text('unique, seeded or shared:N; of synthetic prompts'),
    arrivals: { enum: ['poisson', 'constant'] },
    exactLength: flag('ignore_eos and min_tokens were sent'),
    sampling: {
      type: 'object',
      additionalProperties: { type: ['number', 'boolean'] },
      description: 'settings of sampling that were added to the body',
    },
    otherFields: list({ type: 'string' }, 'names of further fields of the body'),
    headers: list({ type: 'string' }, 'names of headers that were added'),
    ...fieldsOf(number, {
      seed: 'of lengths, words and arrivals',
      warmup: 'requests before each level that were not counted',
      rampNs: 'time of growing load before each level, not counted',
      timeoutNs: 'for one request',
      mostInFlight: 'requests of an open loop at the same time',
    }),
  },
  ['stream', 'seed', 'prompts', 'outputTokens', 'arrivals', 'warmup', 'timeoutNs', 'exactLength'],
);

const load = object({
  dataset: text('synthetic, or the file name of the dataset'),
  requestRate: {
    oneOf: [{ type: 'number' }, { const: 'unlimited' }],
    description: 'requests per second of an open loop; unlimited in a closed one',
  },
  ...fieldsOf(number, {
    inputTokens: 'mean prompt length (tokens)',
    outputTokens: 'mean answer length (tokens)',
    maxConcurrency: 'users of a closed loop',
    meanConcurrency: 'requests in flight on average, as measured',
    requests: 'counted requests asked for',
  }),
});

const counts = object(
  fieldsOf(number, {
    completed: 'requests answered',
    errors: 'requests that failed',
    unfinished: 'requests under way when the level was ended',
    inputTokens: 'tokens of all prompts answered',
    outputTokens: 'tokens of all answers',
  }),
  ['completed', 'errors', 'unfinished'],
);

const throughput = object(
  fieldsOf(number, {
    requests: 'requests answered per second',
    inputTokens: 'prompt tokens per second',
    outputTokens: 'answer tokens per second',
    totalTokens: 'both per second',
    outputTokensPerUser: 'mean over requests of answer tokens by E2E',
    generationSpeedPerUser: 'mean over requests of 1 by TPOT',
  }),
);

const latency = object({
  e2e: distribution('due to be sent to answer complete', BY_PERCENT),
  ttft: distribution('due to be sent to first token', BY_PERCENT),
  tpot: distribution('per request, time per token after the first', BY_PERCENT),
  itl: distribution('each gap between two pieces of an answer', BY_PERCENT),
});

const timing = object(
  {
    firstByte: distribution('due to be sent to first bytes of the answer', BY_PERCENT),
    connect: distribution('resolving and connecting, of requests that needed a new connection', BY_PERCENT),
    dns: distribution('resolving the name, of the same', BY_PERCENT),
    newConnections: number('requests that needed one'),
    sendDelay: distribution('of an open loop: due to be sent to sent', BY_PERCENT),
    clientLagNs: number('how late this program came to its connections, percentile 99'),
  },
  ['newConnections', 'clientLagNs'],
);

const request = object(
  {
    failed: { const: true },
    error: text('kind of failure, or interrupted'),
    ...fieldsOf(number, {
      id: 'number in the level',
      startNs: 'when it was due, from the begin of the level',
      sendDelayNs: 'from due to sent',
      connectNs: 'until the connection stood; absent where one was there',
      firstByteNs: 'from due to first bytes',
      ttftNs: 'from due to first token',
      tpotNs: 'per token after the first',
      e2eNs: 'from due to answer complete',
      inputTokens: 'of the prompt',
      outputTokens: 'of the answer',
      pieces: 'pieces with content',
      status: 'of HTTP',
    }),
  },
  ['id', 'startNs'],
);

const level = object(
  {
    level: text('as asked for'),
    interrupted: { const: true, description: 'ended by Ctrl-C' },
    load,
    counts,
    durationNs: number('first request due to last one answered'),
    throughput,
    latency,
    timing,
    tokens: object(
      {
        input: { enum: ['usage', 'words', 'ids', 'unknown'] },
        output: { enum: ['usage', 'pieces', 'unknown'] },
        perPiece: number('tokens in a piece on average'),
      },
      ['input', 'output'],
    ),
    errors: list(
      object({ kind: text('kind'), count: number('how often'), example: text('what one of them said') }, [
        'kind',
        'count',
        'example',
      ]),
      'failures by kind, most first',
    ),
    requests: list(request, 'counted requests in the order of their ends; not in --json'),
    notes: list(note(), 'what to know before trusting the figures'),
  },
  ['level', 'load', 'counts', 'throughput', 'latency', 'timing', 'tokens', 'errors', 'notes'],
);

export const loadSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'stepscope-load-1',
  title: 'Load',
  description: 'What stepscope load measured. Times are nanoseconds. What was not measured is absent.',
  ...object(
    {
      schema: { const: LOAD_SCHEMA },
      version: text('of Stepscope'),
      date: text('when it began'),
      target,
      settings,
      levels: list(level, 'in the order they were run'),
    },
    ['schema', 'version', 'date', 'target', 'settings', 'levels'],
  ),
};
