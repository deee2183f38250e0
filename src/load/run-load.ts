/** A whole run: look at the server, then one level after the other. Leaves no connection and no timer behind. */
import { setMaxListeners } from 'node:events';
import { NoteCounter } from '../base/notes.js';
import { UserError } from '../base/user-error.js';
import { engines } from '../catalog/engines.js';
import type { ArrivalKind } from './arrivals.js';
import { Connection } from './connection.js';
import { DatasetPrompts } from './dataset-prompts.js';
import { EngineReport } from './engine-report.js';
import { EngineStates } from './engine-states.js';
import { defaultRequests, type Level } from './level.js';
import type { LevelResult, LoadDocument } from './load-document.js';
import { machineName } from './machine-name.js';
import { askServer, noAnswer, tryRequest } from './probe.js';
import type { Prompt, PromptSource } from './prompt.js';
import { type BodySettings, requestBody, shownFields } from './request-body.js';
import { recordOf } from './request-record.js';
import { type OnProgress, type Prepare, runLevel } from './run-level.js';
import { scrub } from './scrub.js';
import { summarizeLevel } from './summarize-level.js';
import type { Target } from './target.js';

export interface LoadPlan {
  readonly version: string;
  readonly target: Target;
  readonly model?: string;
  readonly stream: boolean;
  /** Ask for `ignore_eos` and `min_tokens`. */
  readonly exactLength: boolean;
  readonly extra: Readonly<Record<string, unknown>>;
  /** Their values are secrets, whatever they are. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further texts that must not be shown: the bare key. */
  readonly secrets: readonly string[];
  readonly keepAlive: boolean;
  readonly insecure: boolean;
  readonly timeoutNs: number;
  readonly levels: readonly Level[];
  readonly requests?: number;
  readonly durationNs?: number;
  readonly warmup: number;
  readonly rampNs: number;
  readonly arrivals: ArrivalKind;
  readonly seed: number;
  readonly mostInFlight: number;
  readonly prompts: PromptSource;
  /** Read the server's /metrics meanwhile. */
  readonly metrics: boolean;
  /** Told of every request that begins to be answered: its prompt has been processed. */
  readonly onFirstPiece?: () => void;
  /** As asked for, to be written. */
  readonly lengths: {
    readonly inputTokens?: string;
    readonly outputTokens: string;
    readonly prefix?: string;
  };
}

/** Long enough to stream, short enough not to wait for; not of the dataset, whose prompts are to be new to caches. */
const trial: Prompt = { content: 'One, two, three,', outputTokens: 4 };

export async function runLoad(
  plan: LoadPlan,
  signal: AbortSignal,
  onProgress: (level: Level, ...progress: Parameters<OnProgress>) => void,
): Promise<LoadDocument> {
  setMaxListeners(0, signal);
  const connection = new Connection(plan);
  const stop = () => connection.cancelAll();
  signal.addEventListener('abort', stop);
  try {
    return await measured(plan, connection, signal, onProgress);
  } finally {
    signal.removeEventListener('abort', stop);
    connection.close();
  }
}

async function measured(
  plan: LoadPlan,
  connection: Connection,
  signal: AbortSignal,
  onProgress: (level: Level, ...progress: Parameters<OnProgress>) => void,
): Promise<LoadDocument> {
  const { target, prompts, stream } = plan;
  const date = new Date().toISOString();
  const machine = await machineName();
  const secrets = [...plan.secrets, ...Object.values(plan.headers)];
  const server = await askServer(connection, target, plan.model);
  const plain = { api: target.api, model: server.model, stream, extra: plan.extra };
  const { extensions, dropped } = await tryRequest(connection, plain, trial, plan.exactLength, signal, text =>
    scrub(text, secrets, trial),
  );
  const body: BodySettings = { ...plain, extensions };
  const general = new NoteCounter();
  for (const field of dropped)
    general.add(
      'not-taken',
      'warning',
      'the server does not accept some fields; outputs may end early',
      field,
    );
  if (prompts instanceof DatasetPrompts) general.addAll(prompts.notes);

  const levels: LevelResult[] = [];
  for (const [index, level] of plan.levels.entries()) {
    if (signal.aborted) break;
    // One example of a kind stands for all, those of the warm-up too: to clean thousands would cost other requests time.
    const examples = new Map<string, string>();
    const prepare: Prepare = (part, number) => {
      const prompt = prompts.prompt(part, number);
      const bytes = Buffer.from(requestBody(body, prompt));
      return async dueNs => {
        const result = await connection.post(bytes, stream, plan.onFirstPiece);
        const record = recordOf(number, dueNs ?? result.sentNs, prompt, result);
        if (!record.failure) return record;
        const { kind, detail } = record.failure;
        const example = examples.get(kind) ?? scrub(detail, secrets, prompt);
        examples.set(kind, example);
        return { ...record, failure: { kind, detail: example } };
      };
    };
    const settings = {
      ...plan,
      level,
      part: `${index}/${level.name}`,
      requests: plan.requests ?? (plan.durationNs === undefined ? defaultRequests(level) : Infinity),
      durationNs: plan.durationNs ?? Infinity,
    };
    const before = connection.retries;
    const states = new EngineStates(connection, target);
    if (plan.metrics) void states.follow();
    // What the server counts would contain a ramp, which is not of the level.
    const report =
      plan.metrics && plan.rampNs === 0 && offersReport(server.framework)
        ? new EngineReport(connection, target)
        : undefined;
    const run = await runLevel(
      settings,
      prepare,
      signal,
      (...progress) => onProgress(level, ...progress),
      async () => report?.begin(signal),
    );
    states.stop();
    // Ended while it was warming up: there is nothing to tell of this level.
    if (signal.aborted && run.records.length === 0) break;
    const result = summarizeLevel(
      { ...run, retries: connection.retries - before },
      {
        prompts: prompts.name,
        hasCycled: prompts instanceof DatasetPrompts && prompts.hasCycled,
        idPrompts: prompts instanceof DatasetPrompts && prompts.hasTokenIds,
        stream,
      },
      beginNs => states.since(beginNs),
    );
    const { completed, outputTokens } = result.counts;
    const reported = signal.aborted ? undefined : await report?.end(completed, outputTokens, signal);
    levels.push({
      ...result,
      ...reported,
      notes: [...general.list(), ...result.notes, ...(reported?.notes ?? [])],
    });
  }
  refuseNothing(levels, signal);
  const { framework, frameworkVersion, model } = server;
  return {
    schema: 'stepscope-load/1',
    version: plan.version,
    date,
    ...(machine === undefined ? {} : { machine }),
    target: {
      ...{ url: target.shown, api: target.api, model: scrub(model, secrets) },
      ...(framework === undefined ? {} : { framework }),
      ...(frameworkVersion === undefined ? {} : { frameworkVersion: scrub(frameworkVersion, secrets) }),
    },
    settings: {
      ...{ stream, seed: plan.seed, prompts: prompts.name, ...plan.lengths, arrivals: plan.arrivals },
      ...{ warmup: plan.warmup, rampNs: plan.rampNs, timeoutNs: plan.timeoutNs },
      ...{ mostInFlight: plan.mostInFlight, exactLength: extensions.exactLength },
      ...shownFields(plan.extra),
      headers: Object.keys(plan.headers),
    },
    levels,
  };
}

/** One engine has these pages; a server that does not name its engine may be it, behind a front. */
const offersReport = (framework: string | undefined) =>
  framework === undefined || framework === engines.trtllm.label;

/** A run in which every request failed measured nothing. One that was ended before any answer is no failure. */
function refuseNothing(levels: readonly LevelResult[], signal: AbortSignal): void {
  if (levels.some(({ counts }) => counts.completed > 0)) return;
  const [worst] = levels.flatMap(({ errors }) => errors).sort((a, b) => b.count - a.count);
  if (worst) throw noAnswer(worst.kind, worst.example);
  if (!signal.aborted) return;
  throw new UserError(
    'no-answer',
    'Stopped before any request completed.',
    'Request fewer tokens: --output-tokens 16',
  );
}
