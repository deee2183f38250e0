/**
 * What engines report about themselves while they serve: how many steps they ran, how large the batch is. Read in:
 * tensorrt_llm/_torch/pyexecutor/py_executor.py, `_profiler` (the iteration log and "Profiling started at iteration");
 * tensorrt_llm/serve/openai_server.py, `get_iteration_stats` (/metrics: a JSON list of iterations since the last call);
 * vllm/v1/metrics/loggers.py (/metrics for Prometheus; `iteration_tokens_total` is observed once per engine step);
 * sglang/srt/managers/scheduler_metrics_mixin.py (log lines, every `decode_log_interval` decode steps, numbered by the
 * forward pass in newer versions; /metrics for Prometheus with --enable-metrics).
 */
import { iterationInLine } from './iteration-line.js';

/** Absent is not reported, never zero. */
export interface EngineCounters {
  /** The engine's own number of its last step, or how many it ran. */
  readonly iteration?: number;
  /** Requests in a step. With several engines behind one server, of the one with the fewest. */
  readonly batch?: number;
  readonly running?: number;
  readonly waiting?: number;
  /** Of the last step, prompt and generated. */
  readonly tokens?: number;
  /** Percent of the KV cache in use. */
  readonly kv?: number;
  /** The last step processed prompts. */
  readonly prefill?: boolean;
  /** Totals since the engine started, for engines that report no single step. */
  readonly totalTokens?: number;
  readonly totalPromptTokens?: number;
}

const PROFILING_STARTED = /\bProfiling started at iteration (\d{1,15})\b/;
const SCHEDULED = /\bnum_scheduled_requests(?: =|:) (\d{1,9})\b/;
const STATE = (name: string) => new RegExp(`'${name}': (\\d{1,12})`);
const CONTEXT_REQUESTS = STATE('num_ctx_requests');
const CONTEXT_TOKENS = STATE('num_ctx_tokens');
const GENERATION_TOKENS = STATE('num_generation_tokens');
const KV_SHARE = /\bkv_cache_util = (\d(?:\.\d{1,9})?)\b/;
/** Only the first rank counts: others print into the same log. */
const SGLANG = /\b(Decode|Prefill) batch(?: \[(\d{1,15})\])?, #/;
const OTHER_RANK = /\[[-\d]{10} [:\d.,]{8,16}(?: [A-Z]{2}\d{1,5}){0,6} ?(?:TP|DP|PP)[1-9]\d{0,4}\b/;
const VLLM = /\bEngine 0+: .*\bRunning: (\d{1,9}) reqs, Waiting: (\d{1,9}) reqs/;
const VLLM_KV = /\bKV cache usage: (\d{1,3}(?:\.\d{1,3})?)%/;

const numberIn = (pattern: RegExp, text: string): number | undefined => {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Drops what is not known, so that it does not hide what another source reports. */
function known(counters: { [K in keyof EngineCounters]: EngineCounters[K] | undefined }): EngineCounters {
  return Object.fromEntries(Object.entries(counters).filter(([, value]) => value !== undefined));
}

export function countersInLine(line: string): EngineCounters | undefined {
  const seen = iterationInLine(line);
  if (seen) return seen.globalRank === 0 ? iterationLog(seen.iteration, line) : undefined;
  const started = numberIn(PROFILING_STARTED, line);
  if (started !== undefined) return { iteration: started };
  const sglang = SGLANG.exec(line);
  if (sglang) return OTHER_RANK.test(line) ? undefined : sglangLine(sglang, line);
  const vllm = VLLM.exec(line);
  if (!vllm) return undefined;
  const running = Number(vllm[1]);
  return known({ running, batch: running, waiting: Number(vllm[2]), kv: numberIn(VLLM_KV, line) });
}

function iterationLog(iteration: number, line: string): EngineCounters {
  const contextTokens = numberIn(CONTEXT_TOKENS, line);
  const generationTokens = numberIn(GENERATION_TOKENS, line);
  const contextRequests = numberIn(CONTEXT_REQUESTS, line);
  const kv = numberIn(KV_SHARE, line);
  return known({
    iteration,
    batch: numberIn(SCHEDULED, line),
    tokens:
      contextTokens === undefined || generationTokens === undefined
        ? undefined
        : contextTokens + generationTokens,
    kv: kv === undefined ? undefined : 100 * kv,
    prefill: contextRequests === undefined ? undefined : contextRequests > 0,
  });
}

function sglangLine([, kind, number]: RegExpExecArray, line: string): EngineCounters {
  const isPrefill = kind === 'Prefill';
  const running = numberIn(/#running-req: (\d{1,9})\b/, line);
  const usage = numberIn(/\btoken usage: (\d(?:\.\d{1,6})?)\b/, line);
  return known({
    iteration: number === undefined ? undefined : Number(number),
    // In a prefill line these are the requests that wait for it.
    running: isPrefill ? undefined : running,
    batch: isPrefill ? numberIn(/#new-seq: (\d{1,9})\b/, line) : running,
    waiting: numberIn(/#queue-req: (\d{1,9})\b/, line),
    tokens: isPrefill ? numberIn(/#new-token: (\d{1,12})\b/, line) : undefined,
    kv: usage === undefined ? undefined : 100 * usage,
    prefill: isPrefill,
  });
}

/** Of a /metrics page; undefined for anything that no engine writes. */
export function countersInMetrics(text: string): EngineCounters | undefined {
  const begin = text.trimStart().slice(0, 1);
  if (begin === '[') return iterationStats(text);
  if (begin === '<' || begin === '{') return undefined;
  return prometheus(text);
}

/** The list is empty while nothing ran since the last call, and always where statistics are off. */
function iterationStats(text: string): EngineCounters | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  const last: unknown = list.at(-1);
  if (typeof last !== 'object' || last === null) return undefined;
  const stats = last as Record<string, unknown>;
  const inflight = objectOf(stats.inflightBatchingStats);
  const cache = objectOf(stats.kvCacheStats);
  const used = countOf(cache.usedNumBlocks);
  const most = countOf(cache.maxNumBlocks);
  const context = countOf(inflight.numContextRequests);
  const iteration = countOf(stats.iter);
  if (iteration === undefined) return undefined;
  return known({
    iteration,
    batch: countOf(inflight.numScheduledRequests),
    running: countOf(stats.numActiveRequests),
    waiting: countOf(stats.numQueuedRequests),
    kv: used === undefined || !most ? undefined : (100 * used) / most,
    prefill: context === undefined ? undefined : context > 0,
  });
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** `name{labels} value`; several samples of a name are engines, ranks or models behind one server. */
const SAMPLE = /^((?:vllm|sglang):[a-z_]{1,80})(?:\{[^\n]{0,2000}\})? ([-+.\deE]{1,40})(?: \d{1,20})?$/gm;

function prometheus(text: string): EngineCounters | undefined {
  const samples = new Map<string, number[]>();
  for (const [, name, value] of text.matchAll(SAMPLE)) {
    const number = Number(value);
    if (!Number.isFinite(number) || number < 0) continue;
    const list = samples.get(name);
    if (list) list.push(number);
    else samples.set(name, [number]);
  }
  return countersOfSamples(samples);
}

/** Values by the name of their metric, of all engines, ranks or models behind one server. */
export function countersOfSamples(samples: ReadonlyMap<string, number[]>): EngineCounters | undefined {
  if (samples.size === 0) return undefined;
  const of = (...names: string[]) => names.map(name => samples.get(name)).find(list => list !== undefined);
  const sum = (list: number[] | undefined) => list?.reduce((total, value) => total + value, 0);
  const least = (list: number[] | undefined) => (list ? Math.min(...list) : undefined);
  const most = (list: number[] | undefined) => (list ? Math.max(...list) : undefined);
  const running = of('vllm:num_requests_running', 'sglang:num_running_reqs');
  const share = most(of('vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc', 'sglang:token_usage'));
  return known({
    iteration: least(of('vllm:iteration_tokens_total_count')),
    batch: least(running),
    running: sum(running),
    waiting: sum(of('vllm:num_requests_waiting', 'sglang:num_queue_reqs')),
    kv: share === undefined ? undefined : 100 * share,
    totalTokens: sum(of('vllm:iteration_tokens_total_sum')),
    totalPromptTokens: sum(of('vllm:prompt_tokens_total')),
    tokens: undefined,
    prefill: undefined,
  });
}

/** Names of the samples that are read above, as a server or a client that polled it writes them. */
const COUNTER_NAME =
  /^[a-z]+:(?:num_requests_(?:running|waiting)|num_(?:running|queue)_reqs|(?:kv|gpu)_cache_usage_perc|token_usage|(?:iteration|prompt)_tokens_total)$/;
export const isCounterName = (name: string): boolean => COUNTER_NAME.test(name);
