/**
 * What an engine reports about requests it has served. Read in tensorrt_llm/serve/openai_server.py
 * (`get_perf_metrics`: /perf_metrics, a JSON list that is empty after each call; `get_energy_metrics`:
 * /energy_metrics), tensorrt_llm/serve/_perf_metrics_schema.py and tensorrt_llm/serve/perf_metrics.py (the front of a
 * disaggregated deployment). Moments are seconds of the steady clock, which is CLOCK_MONOTONIC on Linux; one that did
 * not come is null, missing, or 0. They begin where the HTTP server has read the request and end in the engine, so
 * the network and the detokenizer are not in them. `server_first_token_time` is not read: without streaming it is the
 * end of the answer.
 */
import { shiftDecimal } from '../base/decimal-shift.js';
import { isJsonObject, type JsonObject } from '../base/json/json-object.js';

/** Absent is not reported, never zero. */
export interface RequestTimes {
  readonly id?: number;
  readonly failed?: true;
  /** When it arrived, in nanoseconds of the steady clock. */
  readonly startNs?: number;
  readonly ttftNs?: number;
  readonly e2eNs?: number;
  /** Arrival in the engine to first step. */
  readonly queueNs?: number;
  /** First step to first token. */
  readonly prefillNs?: number;
  readonly kvTransferNs?: number;
  readonly firstIteration?: number;
  readonly lastIteration?: number;
}

/** Of one object of /perf_metrics; undefined for anything else. */
export function requestTimesOf(row: unknown): RequestTimes | undefined {
  if (!isJsonObject(row)) return undefined;
  if (isJsonObject(own(own(row, 'perf_metrics'), 'timing_metrics'))) return ofServer(row);
  const isDisaggregated = ['ctx_server', 'gen_server', 'disagg_server_arrival_time'].every(name =>
    Object.hasOwn(row, name),
  );
  return isDisaggregated ? ofDisaggregated(row) : undefined;
}

function ofServer(row: JsonObject): RequestTimes {
  const metrics = own(row, 'perf_metrics');
  const first = countOf(own(metrics, 'first_iter'));
  const last = countOf(own(metrics, 'last_iter'));
  const isCounted = first !== undefined && last !== undefined && last >= first;
  return present({
    id: countOf(own(row, 'request_id')),
    failed: hasFailed(row),
    ...timesOfMoments(own(metrics, 'timing_metrics')),
    ...(isCounted ? { firstIteration: first, lastIteration: last } : {}),
  });
}

/** The prefill server makes the first token, the decode server the last one. Their step numbers are not the same. */
function ofDisaggregated(row: JsonObject): RequestTimes {
  const timing = (phase: string) => own(own(own(row, phase), 'perf_metrics'), 'timing_metrics');
  const context = momentsOf(timing('ctx_perf_metrics'));
  const generation = momentsOf(timing('gen_perf_metrics'));
  const startNs = momentsOf(row)('disagg_server_arrival_time');
  return present({
    id:
      countOf(own(row, 'disagg_request_id')) ?? countOf(own(own(row, 'ctx_perf_metrics'), 'ctx_request_id')),
    failed: hasFailed(row),
    startNs,
    ttftNs: betweenNs(startNs, context('first_token_time')),
    e2eNs: betweenNs(startNs, generation('last_token_time')),
    queueNs: betweenNs(context('arrival_time'), context('first_scheduled_time')),
    prefillNs: betweenNs(context('first_scheduled_time'), context('first_token_time')),
    kvTransferNs: betweenNs(generation('kv_cache_transfer_start'), generation('kv_cache_transfer_end')),
  });
}

/** `timing_metrics` of one server. */
export function timesOfMoments(timing: unknown): RequestTimes {
  const at = momentsOf(timing);
  const startNs = at('server_arrival_time') ?? at('arrival_time');
  return present({
    startNs,
    ttftNs: betweenNs(startNs, at('first_token_time')),
    e2eNs: betweenNs(startNs, at('last_token_time')),
    queueNs: betweenNs(at('arrival_time'), at('first_scheduled_time')),
    prefillNs: betweenNs(at('first_scheduled_time'), at('first_token_time')),
    kvTransferNs: betweenNs(at('kv_cache_transfer_start'), at('kv_cache_transfer_end')),
  });
}

/** Newer versions state how a request ended: `complete`. */
function hasFailed(row: JsonObject): true | undefined {
  const status = own(row, 'status');
  return status === undefined || status === 'complete' ? undefined : true;
}

const momentsOf = (timing: unknown) => (name: string) => momentNs(own(timing, name));

export const momentNs = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0
    ? Math.round(shiftDecimal(seconds, 9))
    : undefined;

/** Moments in the wrong order are of different requests or clocks, and no time. */
export const betweenNs = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined || to < from ? undefined : to - from;

/** An answer of /energy_metrics: the energy of all GPUs since the server started, and when it was asked. */
export function energyIn(answer: unknown): { readonly joules: number; readonly seconds: number } | undefined {
  const joules = countOf(own(answer, 'total_energy_j'));
  const seconds = countOf(own(answer, 'query_time'));
  return joules === undefined || seconds === undefined ? undefined : { joules, seconds };
}

const own = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const present = (times: { [K in keyof RequestTimes]: RequestTimes[K] | undefined }): RequestTimes =>
  Object.fromEntries(Object.entries(times).filter(([, value]) => value !== undefined));
