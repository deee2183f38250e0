/**
 * The file of `stepscope load`, declared. Times are nanoseconds, rates per second. What was not measured is absent. It
 * holds no key, no header's value, no prompt and no answer.
 */
import {
  choice,
  document,
  either,
  fieldsOf,
  flag,
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
import { distribution, energy, engineLatency, requestRate } from '../model/bench-run-schema.js';

const figure = (description: string) => distribution(description, 'nanoseconds by percent, interpolated');

const target = object({
  url: string('address, without credentials and query'),
  api: choice(['completions', 'chat']),
  model: string('as asked for, or the first the server lists'),
  framework: optional(string('as the server says in its list of models')),
  frameworkVersion: optional(string('as the server says')),
});

const settings = object({
  stream: flag('answers were asked for as streams'),
  seed: number('of lengths, words and arrivals'),
  prompts: string('synthetic, or the file name of the dataset'),
  inputTokens: optional(string('distribution of prompt lengths, of synthetic prompts')),
  outputTokens: string('distribution of answer lengths'),
  prefix: optional(string('unique, seeded or shared:N; of synthetic prompts')),
  arrivals: choice(['poisson', 'constant']),
  warmup: number('requests before each level that were not counted'),
  rampNs: optional(number('time of growing load before each level, not counted')),
  timeoutNs: number('for one request'),
  mostInFlight: optional(number('requests of an open loop at the same time')),
  exactLength: flag('ignore_eos and min_tokens were sent'),
  sampling: optional(mapOf(either([number(), flag()]), 'settings of sampling that were added to the body')),
  otherFields: optional(list(string(), 'names of further fields of the body')),
  headers: optional(list(string(), 'names of headers that were added')),
});

const load = sparse({
  dataset: string('synthetic, or the file name of the dataset'),
  requestRate: requestRate('requests per second of an open loop; unlimited in a closed one'),
  ...fieldsOf(number, {
    inputTokens: 'mean prompt length (tokens)',
    outputTokens: 'mean answer length (tokens)',
    maxConcurrency: 'users of a closed loop',
    meanConcurrency: 'requests in flight on average, as measured',
    requests: 'counted requests asked for',
  }),
});

const counts = object({
  ...fieldsOf(number, {
    completed: 'requests answered',
    errors: 'requests that failed',
    // Neither answered nor failed.
    unfinished: 'requests under way when the level was ended',
  }),
  inputTokens: optional(number('tokens of all prompts answered')),
  outputTokens: optional(number('tokens of all answers')),
});

const throughput = sparse(
  fieldsOf(number, {
    requests: 'requests answered per second',
    inputTokens: 'prompt tokens per second',
    outputTokens: 'answer tokens per second',
    totalTokens: 'both per second',
    outputTokensPerUser: 'mean over requests of answer tokens by E2E',
    generationSpeedPerUser: 'mean over requests of 1 by TPOT',
  }),
);

const latency = sparse({
  e2e: figure('due to be sent to answer complete'),
  ttft: figure('due to be sent to first token'),
  tpot: figure('per request, time per token after the first'),
  itl: figure('each gap between two pieces of an answer'),
});

/** What is not the engine's. Latencies contain the delay of sending. */
const timing = object({
  firstByte: optional(figure('due to be sent to first bytes of the answer')),
  connect: optional(figure('resolving and connecting, of requests that needed a new connection')),
  dns: optional(figure('resolving the name, of the same')),
  newConnections: number('requests that needed one'),
  sendDelay: optional(figure('of an open loop: due to be sent to sent')),
  clientLagNs: number('how late this program came to its connections, percentile 99'),
});

const request = object({
  id: number('number in the level'),
  startNs: number('when it was due, from the begin of the level'),
  ...sparse({
    failed: only(true),
    error: string('kind of failure, or interrupted'),
    serverId: string('hash of the id in the answer, as the agent writes it for each step'),
    ...fieldsOf(number, {
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
  }).properties,
});

const level = object({
  level: string('as asked for'),
  interrupted: optional(only(true, 'ended by Ctrl-C')),
  begin: optional(
    object(
      {
        utcNs: string('wall clock, nanoseconds since 1970'),
        monotonicNs: string('CLOCK_MONOTONIC of the machine, nanoseconds'),
      },
      'when the first counted request was due: the zero of startNs',
    ),
  ),
  load,
  counts,
  durationNs: optional(number('first request due to last one answered')),
  throughput,
  latency,
  engineLatency: optional(engineLatency),
  energy: optional(energy),
  timing,
  // Who counted: the server, or nobody, so words or pieces stand for tokens.
  tokens: object({
    input: choice(['usage', 'words', 'ids', 'unknown']),
    output: choice(['usage', 'pieces', 'unknown']),
    perPiece: optional(number('tokens in a piece on average')),
  }),
  errors: list(
    object({ kind: string('kind'), count: number('how often'), example: string('what one of them said') }),
    'failures by kind, most first',
  ),
  engineStates: optional(
    list(
      object({
        atNs: number('from the begin of the level'),
        ...sparse(
          fieldsOf(number, {
            iteration: 'the engine’s number of its last step, or how many it ran',
            running: 'requests in the engine',
            waiting: 'requests in its queue',
            kvShare: 'of the KV cache in use, 0 to 1',
          }),
        ).properties,
      }),
      'read from the server’s /metrics meanwhile; not in --json',
    ),
  ),
  requests: optional(list(request, 'counted requests in the order of their ends; not in --json')),
  notes: list(note, 'what to know before trusting the figures'),
});

export const loadSchema = document(
  'stepscope-load/1',
  'Load',
  'What stepscope load measured. Times are nanoseconds. What was not measured is absent.',
  {
    version: string('of Stepscope'),
    date: string('when it began'),
    machine: optional(string('hash of the boot id: files of one machine have the same')),
    target,
    settings,
    levels: list(level, 'in the order they were run'),
  },
);

/** What `--json` prints: the same without each request. */
export const loadSummarySchema = document(
  'stepscope-load-summary/1',
  'Load, in short',
  'stepscope load --json: what stepscope load -o writes, without each request.',
  (({ schema: _, ...fields }) => fields)(loadSchema.properties),
);
