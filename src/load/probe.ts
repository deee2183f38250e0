/**
 * Before the load: who is there, what is its model called, and which fields does it take? Asks for the list of models
 * and then tries one small request, with less and less of what not every server knows. A server that is not there, or
 * does not let us in, is said at once and not after thousands of failures.
 */
import { UserError } from '../base/user-error.js';
import { engineNamed } from '../catalog/engines.js';
import { NS_PER_SECOND } from './clock.js';
import type { Connection } from './connection.js';
import { failureWords, isUnreachable } from './failure.js';
import type { Prompt } from './prompt.js';
import { type BodySettings, type Extensions, requestBody } from './request-body.js';
import type { Target } from './target.js';
import { pause } from './waiting.js';

interface ServerFacts {
  readonly model: string;
  readonly framework?: string;
  readonly frameworkVersion?: string;
}

const MOST_NAME = 200;

export async function askServer(
  connection: Connection,
  target: Target,
  model: string | undefined,
): Promise<ServerFacts> {
  const list = (await connection.get(`${target.base}/models`)) as { data?: unknown } | undefined;
  const rows = Array.isArray(list?.data) ? (list.data as { id?: unknown; owned_by?: unknown }[]) : [];
  const first = rows.find(row => typeof row?.id === 'string');
  const row = rows.find(({ id }) => id === model) ?? first;
  const framework = engineNamed(String(row?.owned_by).toLowerCase());
  const version =
    framework === undefined
      ? undefined
      : await connection.get(`${target.base.replace(/\/v\d+$/, '')}/version`);
  const { version: number } = (version ?? {}) as { version?: unknown };
  return {
    model: model ?? (first === undefined ? '' : String(first.id).slice(0, MOST_NAME)),
    ...(framework === undefined ? {} : { framework }),
    ...(typeof number === 'string' ? { frameworkVersion: number.slice(0, MOST_NAME) } : {}),
  };
}

interface Trial {
  readonly extensions: Extensions;
  /** Status 400 or 422 made us leave something out. */
  readonly dropped: readonly string[];
}

const UNREACHED_TRIES = 3;
const UNREACHED_PAUSE_NS = 0.2 * NS_PER_SECOND;

export async function tryRequest(
  connection: Connection,
  body: Omit<BodySettings, 'extensions'>,
  prompt: Prompt,
  exactLength: boolean,
  signal: AbortSignal,
  scrub: (text: string) => string,
): Promise<Trial> {
  const ladder: Extensions[] = [
    { exactLength, usage: true },
    { exactLength: false, usage: true },
    { exactLength, usage: false },
    { exactLength: false, usage: false },
  ];
  const steps = ladder.filter((step, i) => exactLength === step.exactLength || (exactLength && i % 2 === 1));
  let unreached = 0;
  for (let i = 0; i < steps.length && !signal.aborted; ) {
    const extensions = steps[i];
    const { failure } = await connection.post(
      Buffer.from(requestBody({ ...body, extensions }, prompt)),
      body.stream,
    );
    if (failure && isUnreachable(failure.kind) && ++unreached < UNREACHED_TRIES) {
      await pause(UNREACHED_PAUSE_NS, signal);
      continue;
    }
    const isRefused = failure?.kind === 'http-400' || failure?.kind === 'http-422';
    if (isRefused && ++i < steps.length) continue;
    if (failure && (isRefused || isHopeless(failure.kind)))
      throw noAnswer(failure.kind, scrub(failure.detail));
    return { extensions, dropped: droppedWords(steps[0], extensions) };
  }
  // Ended by the user.
  return { extensions: steps[0], dropped: [] };
}

function droppedWords(asked: Extensions, taken: Extensions): string[] {
  return [
    ...(asked.exactLength && !taken.exactLength ? ['ignore_eos and min_tokens'] : []),
    ...(asked.usage && !taken.usage ? ['stream_options'] : []),
  ];
}

/** More of the same would fail the same way. */
const isHopeless = (kind: string) =>
  isUnreachable(kind) || kind === 'redirect' || /^http-(401|403|404|405)$/.test(kind);

/** Nothing worked at all. */
export function noAnswer(kind: string, detail: string): UserError {
  const hint = isUnreachable(kind)
    ? kind === 'tls'
      ? 'Check the address and its certificate; --insecure accepts any certificate.'
      : 'Check that the server is running, and its host and port.'
    : /^http-(401|403)$/.test(kind)
      ? 'Put the key in an environment variable and name it: --api-key-env NAME'
      : kind === 'redirect'
        ? 'Give the address it redirects to.'
        : /^http-4/.test(kind)
          ? 'Check the address, --api completions or chat, --model, and --input-tokens against the context length of the model.'
          : 'Check the server log; --timeout gives it more time.';
  return new UserError(
    'no-answer',
    `No request completed: ${failureWords(kind)}${detail ? ` (${detail})` : ''}.`,
    hint,
  );
}
