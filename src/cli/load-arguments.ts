/** The options of `stepscope load`, and the plan they make. What can be wrong is said before anything is sent. */
import { randomInt } from 'node:crypto';
import { UserError } from '../base/user-error.js';
import { DatasetPrompts } from '../load/dataset-prompts.js';
import { lengthsText, readLengths } from '../load/lengths.js';
import { readLevels } from '../load/level.js';
import type { LoadPlan } from '../load/run-load.js';
import { type Prefix, SyntheticPrompts } from '../load/synthetic-prompts.js';
import { apis, readTarget } from '../load/target.js';
import { readArguments } from './arguments.js';
import { readHeaders } from './load-headers.js';
import { version } from './version.js';

const loadOptions = {
  api: { type: 'string' },
  model: { type: 'string' },
  'no-stream': { type: 'boolean' },
  'api-key-env': { type: 'string' },
  header: { type: 'string', multiple: true },
  'no-keep-alive': { type: 'boolean' },
  insecure: { type: 'boolean' },
  body: { type: 'string' },
  'allow-eos': { type: 'boolean' },
  level: { type: 'string', multiple: true },
  levels: { type: 'string' },
  requests: { type: 'string' },
  duration: { type: 'string' },
  warmup: { type: 'string' },
  ramp: { type: 'string' },
  arrivals: { type: 'string' },
  'max-in-flight': { type: 'string' },
  timeout: { type: 'string' },
  'input-tokens': { type: 'string' },
  'output-tokens': { type: 'string' },
  prefix: { type: 'string' },
  dataset: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
  output: { type: 'string', short: 'o' },
  force: { type: 'boolean' },
} as const;

/** Node's timers end at 24 days; nobody waits longer for an answer. */
const MOST_SECONDS = 7 * 24 * 3600;

export function readLoadArguments(args: readonly string[], env: NodeJS.ProcessEnv) {
  const { values, positionals } = readArguments('load', args, loadOptions);
  if (positionals.length !== 1)
    throw new UserError(
      'usage',
      positionals.length === 0 ? 'No address was given.' : 'More than one address was given.',
      'For example: stepscope load http://localhost:8000 --levels single,concurrent:16',
    );
  const api = values.api === undefined ? undefined : oneOf('--api', values.api, apis);
  const target = readTarget(positionals[0], api);
  const levels = readLevels([...(values.level ?? []), ...(values.levels ? [values.levels] : [])]);
  const seed = whole('--seed', values.seed, 0, 2 ** 32 - 1) ?? 1;
  const input = readLengths('--input-tokens', values['input-tokens'] ?? '512');
  const output = readLengths('--output-tokens', values['output-tokens'] ?? '128');
  const prefix = readPrefix(values.prefix ?? 'unique');
  if (values.dataset !== undefined && (values['input-tokens'] ?? values.prefix) !== undefined)
    throw new UserError(
      'usage',
      'A dataset has its own prompts: --input-tokens and --prefix do not go with it.',
      'Leave them out, or leave out --dataset.',
    );
  const { headers, secrets } = readHeaders(values.header ?? [], values['api-key-env'], env);
  const prompts =
    values.dataset === undefined
      ? new SyntheticPrompts({ input, output, seed, prefix, nonce: randomInt(2 ** 32) })
      : new DatasetPrompts(values.dataset, output, seed);
  if (target.api === 'chat' && prompts instanceof DatasetPrompts && prompts.hasTokenIds)
    throw new UserError(
      'usage',
      'The dataset holds token ids, and a chat takes text only.',
      'Use --api completions, or a dataset with prompts.',
    );
  const plan: LoadPlan = {
    version: version(),
    target,
    model: values.model,
    stream: !values['no-stream'],
    exactLength: !values['allow-eos'],
    extra: readBody(values.body),
    headers,
    secrets,
    keepAlive: !values['no-keep-alive'],
    insecure: values.insecure ?? false,
    timeoutNs: seconds('--timeout', values.timeout) ?? 600e9,
    levels: levels.length > 0 ? levels : readLevels(['single']),
    requests: whole('--requests', values.requests, 1, 1e7),
    durationNs: seconds('--duration', values.duration),
    warmup: whole('--warmup', values.warmup, 0, 1e6) ?? 2,
    rampNs: seconds('--ramp', values.ramp) ?? 0,
    arrivals: oneOf('--arrivals', values.arrivals ?? 'poisson', ['poisson', 'constant']),
    seed,
    mostInFlight: whole('--max-in-flight', values['max-in-flight'], 1, 1e5) ?? 4096,
    prompts,
    lengths: {
      ...(values.dataset === undefined
        ? { inputTokens: lengthsText(input), prefix: values.prefix ?? 'unique' }
        : {}),
      outputTokens: lengthsText(output),
    },
  };
  return { plan, values };
}

function readPrefix(text: string): Prefix {
  if (text === 'unique' || text === 'seeded') return { kind: text };
  const shared = /^shared:(\d{1,7})$/.exec(text);
  if (shared) return { kind: 'shared', tokens: Number(shared[1]) };
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is no way for prompts to begin.`,
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
    'The value of --body is no JSON object.',
    `For example: --body '{"temperature":0}'`,
  );
}

function oneOf<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const known = choices.find(choice => choice === text);
  if (known) return known;
  throw new UserError(
    'usage',
    `${option} has no ${JSON.stringify(text)}.`,
    `Use one of: ${choices.join(', ')}`,
  );
}

function whole(option: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is no number for ${option}.`,
    `Give a whole number from ${least} to ${most}.`,
  );
}

/** `60s`, `500ms`, `2min`; bare numbers are seconds. In nanoseconds. */
function seconds(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|min|h)?$/.exec(text);
  const unit = { ms: 0.001, s: 1, min: 60, h: 3600 }[match?.[2] ?? 's']!;
  const value = match ? Number(match[1]) * unit : Number.NaN;
  if (value > 0 && value <= MOST_SECONDS) return value * 1e9;
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is no time for ${option}.`,
    `For example: ${option} 60s, ${option} 500ms or ${option} 2min`,
  );
}
