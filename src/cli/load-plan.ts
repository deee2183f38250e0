/** The plan that options of `stepscope load` make. What can be wrong is said before anything is sent. */
import { randomInt } from 'node:crypto';
import { UserError } from '../base/user-error.js';
import { DatasetPrompts } from '../load/dataset-prompts.js';
import { readLevels } from '../load/level.js';
import { readHeaders } from '../load/read-headers.js';
import type { LoadPlan } from '../load/run-load.js';
import { type Prefix, SyntheticPrompts } from '../load/synthetic-prompts.js';
import { readTarget } from '../load/target.js';
import { type Lengths, lengthsText } from '../stats/lengths.js';
import type { Values } from './options.js';
import { version } from './version.js';

export const loadOptions = [
  ...(['levels', 'requests', 'duration', 'warmup', 'ramp', 'arrivals', 'maxInFlight'] as const),
  ...(['requestTimeout', 'inputTokens', 'outputTokens', 'prefix', 'dataset', 'seed'] as const),
  ...(['api', 'servedModel', 'noStream', 'noMetrics', 'allowEos', 'body', 'header', 'apiKeyEnv'] as const),
  ...(['noKeepAlive', 'insecure'] as const),
] as const;

const fixed = (tokens: number): Lengths => ({ kind: 'fixed', tokens });

export function loadPlan(
  given: readonly string[],
  values: Values<(typeof loadOptions)[number]>,
  env: NodeJS.ProcessEnv,
): LoadPlan {
  if (given.length !== 1)
    throw new UserError(
      'usage',
      given.length === 0 ? 'No address was given.' : 'More than one address was given.',
      'For example: stepscope load http://localhost:8000 --levels single,concurrent:16',
    );
  const target = readTarget(given[0], values.api);
  const levels = values.levels.flat();
  const { seed, dataset, inputTokens: input = fixed(512), outputTokens: output = fixed(128) } = values;
  const prefix = readPrefix(values.prefix ?? 'unique');
  if (dataset !== undefined && (values.inputTokens ?? values.prefix) !== undefined)
    throw new UserError(
      'usage',
      '--dataset provides the prompts: --input-tokens and --prefix cannot be combined with it.',
      'Remove --dataset, or remove the other options.',
    );
  const { headers, secrets } = readHeaders(values.header, values.apiKeyEnv, env);
  const prompts =
    dataset === undefined
      ? new SyntheticPrompts({ input, output, seed, prefix, nonce: randomInt(2 ** 32) })
      : new DatasetPrompts(dataset, output, seed);
  if (target.api === 'chat' && prompts instanceof DatasetPrompts && prompts.hasTokenIds)
    throw new UserError(
      'usage',
      'The dataset contains token IDs, but the chat API accepts only text.',
      'Use --api completions, or a dataset with prompts.',
    );
  const synthetic = { inputTokens: lengthsText(input), prefix: values.prefix ?? 'unique' };
  return {
    ...{ version: version(), target, model: values.servedModel, headers, secrets, seed, prompts },
    stream: !values.noStream,
    metrics: !values.noMetrics,
    exactLength: !values.allowEos,
    extra: readBody(values.body),
    keepAlive: !values.noKeepAlive,
    insecure: values.insecure,
    timeoutNs: values.requestTimeout,
    levels: levels.length > 0 ? levels : readLevels(['single']),
    requests: values.requests,
    durationNs: values.duration,
    warmup: values.warmup,
    rampNs: values.ramp ?? 0,
    arrivals: values.arrivals,
    mostInFlight: values.maxInFlight,
    lengths: { ...(dataset === undefined ? synthetic : {}), outputTokens: lengthsText(output) },
  };
}

function readPrefix(text: string): Prefix {
  if (text === 'unique' || text === 'seeded') return { kind: text };
  const shared = /^shared:(\d{1,7})$/.exec(text);
  if (shared) return { kind: 'shared', tokens: Number(shared[1]) };
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is not a valid --prefix.`,
    'Use --prefix unique (default), --prefix seeded, or --prefix shared:256',
  );
}

function readBody(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new UserError(
    'usage',
    'The value of --body is not a JSON object.',
    `For example: --body '{"temperature":0}'`,
  );
}
