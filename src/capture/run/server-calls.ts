/** Talking to a server under the profiler: is it up, start and stop profiling, a few requests to warm it up. */
import { UserError } from '../../base/user-error.js';
import { engineNamed } from '../../catalog/engines.js';
import { cannotStartProfile } from '../../catalog/how-to-record.js';
import type { RequestShape } from '../capture-plan.js';
import { sleep } from './marked-processes.js';

/** Where requests come from. `stepscope load` fills it; a warm-up of a few requests stands in for it. */
export interface LoadLevels {
  run(url: string, context: LoadContext): Promise<void>;
  /**
   * Sends requests until the signal ends it. Gives the most frequent failure in words. Absent where the user decides how
   * many are sent.
   */
  readonly drive?: (
    url: string,
    shape: RequestShape,
    context: LoadContext & {
      onProgress(answered: number, failed: number): void;
      /** Of every request whose first token arrived: its prompt has been processed. */
      onBegun(): void;
    },
  ) => Promise<string | undefined>;
  /** Nothing is sent from here: others send. */
  readonly isOthers?: true;
}

interface LoadContext {
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

const ASK_MS = 10_000;
const BETWEEN_MS = 500;
const LISTENING_MS = 2000;

/** Up when its health address, or else its list of models, answers. */
export async function waitForServer(
  url: string,
  timeoutMs: number,
  context: { readonly signal: AbortSignal; readonly lastLine: () => string },
): Promise<void> {
  const until = Date.now() + timeoutMs;
  const places = /\/(health|v1\/models)$/.test(new URL(url).pathname)
    ? [url]
    : ['/health', '/v1/models'].map(place => addressOf(url, place));
  for (;;) {
    if (context.signal.aborted)
      throw new UserError(
        'capture-failed',
        'Stopped while waiting for the server.',
        'Nothing was recorded yet.',
      );
    for (const place of places) if (await answers(place, context.signal)) return;
    if (Date.now() >= until) break;
    await sleep(BETWEEN_MS);
  }
  const said = context.lastLine();
  throw new UserError(
    'capture-failed',
    `The server did not respond at ${shown(url)} within ${Math.round(timeoutMs / 1000)} s${said ? `; its last output: ${said.slice(0, 200)}` : ''}`,
    'Check address and port, or wait longer: --health-timeout SECONDS',
  );
}

/** A moment is enough to know whether something listens there. */
export const isAnswering = (url: string): Promise<boolean> => answers(url, AbortSignal.timeout(LISTENING_MS));

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

export async function callServer(url: string, body: unknown, signal: AbortSignal): Promise<void> {
  let answer: Response;
  try {
    answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Stopping waits until traces are written, which takes minutes.
      signal: AbortSignal.any([signal, AbortSignal.timeout(600_000)]),
    });
    await answer.body?.cancel();
  } catch (error) {
    throw new UserError(
      'unreachable',
      `${shown(url)} does not respond: ${(error as Error).message}.`,
      'Check that the server is still running.',
    );
  }
  if (answer.ok) return;
  const missing = answer.status === 404 || answer.status === 405;
  throw new UserError(
    'capture-failed',
    `${shown(url)} returned HTTP ${answer.status}.`,
    missing ? cannotStartProfile : 'Check the server log for the reason.',
  );
}

/** A few short requests, one after the other. */
export const warmUp = (requests: number): LoadLevels => ({
  async run(url, { signal, onNotice }) {
    const model = await modelOf(url, signal);
    onNotice(`${requests} requests to ${shown(url)}`);
    for (let i = 0; i < requests && !signal.aborted; i++)
      await callServer(
        addressOf(url, '/v1/completions'),
        { model, prompt: `Count from ${i} to ten: `, max_tokens: 16 },
        signal,
      );
  },
});

const modelOf = async (url: string, signal: AbortSignal): Promise<string> =>
  String((await firstModel(url, signal))?.id ?? 'default');

/** The label of the engine that owns the model a server lists first; undefined where the server does not say. */
export const engineOf = async (url: string, signal: AbortSignal): Promise<string | undefined> =>
  engineNamed((await firstModel(url, signal))?.owned_by);

/** What vLLM, SGLang and TensorRT-LLM answer at /version; undefined where a server does not. */
export async function versionOf(url: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await fetch(addressOf(url, '/version'), {
      signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]),
    });
    const { version } = (await answer.json()) as { version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

async function firstModel(
  url: string,
  signal: AbortSignal,
): Promise<{ readonly id?: unknown; readonly owned_by?: unknown } | undefined> {
  try {
    const answer = await fetch(addressOf(url, '/v1/models'), {
      signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]),
    });
    const list = (await answer.json()) as { data?: { id?: unknown; owned_by?: unknown }[] };
    return list.data?.[0] ?? undefined;
  } catch {
    return undefined;
  }
}

const addressOf = (url: string, place: string): string => new URL(place, url).href;

/** Addresses may carry keys. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
