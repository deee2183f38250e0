/**
 * Where the requests of a client lie on the clock of the steps. A clock that both files state is used as it is, and
 * checked: a request gets its first token from a step with prefill that began after it was due, and a step cannot hold
 * more requests than were in flight. Where no clock is common, the same two facts decide, if only one place satisfies
 * them. Otherwise nothing is said.
 */
import type { BenchRun } from '../../model/bench-run.js';
import type { StepLog } from '../../model/step-log.js';
import { type ClientRequest, shifted } from './client-request.js';
import { hasPrefill, isCovered, type NotedSpan, spanAt } from './step-spans.js';

/**
 * `monotonic`: the files name the same machine and boot. `wall`: both have the time of day. `events`: requests and
 * steps fit in one place only.
 */
type AlignedBy = 'monotonic' | 'wall' | 'events';

export interface ClientAlignment {
  readonly by: AlignedBy;
  /** To be added to the client's times. */
  readonly shiftNs: number;
  /** Requests and steps would contradict each other beyond; null: nothing in the files bounds it. */
  readonly earlierNs: number | null;
  readonly laterNs: number | null;
  /** Requests that got a first token although no step with prefill ran meanwhile. */
  readonly withoutPrefill: number;
  /** Steps with more requests than were in flight: other clients were served too. */
  readonly crowdedSteps: number;
  /** Steps that were compared with the requests in flight. */
  readonly comparedSteps: number;
}

/** Why requests cannot be placed; follows "cannot tell:". */
type NoAlignment = string;

/** Placing by events tries every pair of a request and a prefill step; more would take too long. */
const MOST_PAIRS = 40_000;

export function alignClient(
  run: BenchRun,
  requests: readonly ClientRequest[],
  log: StepLog,
  spans: readonly NotedSpan[],
): ClientAlignment | NoAlignment {
  const { clock = {} } = run;
  const isSame = clock.machine !== undefined && clock.machine === log.machine;
  const isOther = clock.machine !== undefined && log.machine !== undefined && !isSame;
  const monotonicNs =
    clock.monotonicNs !== undefined && log.originMonotonicNs !== undefined
      ? Number(BigInt(clock.monotonicNs) - log.originMonotonicNs)
      : undefined;
  if (isSame && monotonicNs !== undefined) return judged('monotonic', monotonicNs, requests, spans);
  const wallNs = clock.utcNs === undefined ? undefined : Number(BigInt(clock.utcNs) - log.originNs);
  // A client that writes only its monotonic clock may have run on this machine; requests that fit show it.
  const stated = wallNs ?? (isOther ? undefined : monotonicNs);
  if (stated !== undefined) {
    const by = wallNs === undefined ? 'monotonic' : 'wall';
    const found = judged(by, stated, requests, spans);
    // Readings of the engine without a client: nothing could contradict their clock.
    if (requests.length === 0) return found;
    if (coveredRequests(shifted(requests, stated), spans) === 0)
      return 'no request of the client lies in the time of the recorded steps';
    if (found.withoutPrefill === 0) return found;
    return 'requests got tokens while no step with prefill ran: the clocks of client and engine differ, or other processes answered';
  }
  const begun =
    clock.notBeforeNs === undefined
      ? undefined
      : {
          fromNs: Number(BigInt(clock.notBeforeNs) - log.originNs),
          requests: clock.requestsBefore ?? Infinity,
        };
  return byEvents(requests, spans, begun);
}

function judged(
  by: AlignedBy,
  shiftNs: number,
  requests: readonly ClientRequest[],
  spans: readonly NotedSpan[],
): ClientAlignment {
  const placed = shifted(requests, shiftNs);
  const { crowded, compared } = crowdedSteps(placed, spans);
  const room = roomAround(placed, spans);
  return {
    ...{ by, shiftNs, withoutPrefill: withoutPrefill(placed, spans) },
    ...{ crowdedSteps: crowded, comparedSteps: compared, earlierNs: room.earlierNs, laterNs: room.laterNs },
  };
}

const coveredRequests = (placed: readonly ClientRequest[], spans: readonly NotedSpan[]) =>
  placed.filter(({ dueNs, firstNs }) => firstNs !== undefined && isCovered(spans, dueNs, firstNs)).length;

function withoutPrefill(placed: readonly ClientRequest[], spans: readonly NotedSpan[]): number {
  return placed.filter(
    ({ dueNs, firstNs }) =>
      firstNs !== undefined &&
      isCovered(spans, dueNs, firstNs) &&
      firstPrefill(spans, dueNs, firstNs) === undefined,
  ).length;
}

function firstPrefill(spans: readonly NotedSpan[], fromNs: number, toNs: number): number | undefined {
  for (let i = spanAt(spans, fromNs); i < spans.length && spans[i].startNs < toNs; i++)
    if (spans[i].startNs >= fromNs && hasPrefill(spans[i])) return spans[i].startNs;
  return undefined;
}

function lastPrefill(spans: readonly NotedSpan[], fromNs: number, toNs: number): number | undefined {
  for (let i = Math.min(spanAt(spans, toNs), spans.length - 1); i >= 0 && spans[i].startNs >= fromNs; i--)
    if (spans[i].startNs < toNs && hasPrefill(spans[i])) return spans[i].startNs;
  return undefined;
}

/**
 * How far the requests could be moved before one of them had none of the prefill steps left that it has now: an upper
 * bound, because another step might take its place.
 */
function roomAround(placed: readonly ClientRequest[], spans: readonly NotedSpan[]) {
  let [earlierNs, laterNs] = [Infinity, Infinity];
  for (const { dueNs, firstNs } of placed) {
    if (firstNs === undefined || !isCovered(spans, dueNs, firstNs)) continue;
    const first = firstPrefill(spans, dueNs, firstNs);
    const last = lastPrefill(spans, dueNs, firstNs);
    if (first === undefined || last === undefined) continue;
    earlierNs = Math.min(earlierNs, firstNs - first);
    laterNs = Math.min(laterNs, last - dueNs);
  }
  const known = (ns: number) => (Number.isFinite(ns) ? ns : null);
  return { earlierNs: known(earlierNs), laterNs: known(laterNs) };
}

/**
 * Among steps between the first request and the last one that began: before and after, others may have run. A step
 * holds no more requests than are in flight, and prefills no more than wait for their first token.
 */
function crowdedSteps(placed: readonly ClientRequest[], spans: readonly NotedSpan[]) {
  const dues = placed.map(({ dueNs }) => dueNs);
  const ends = Float64Array.from(placed, ({ endNs }) => endNs ?? Infinity).sort();
  const firsts = Float64Array.from(placed, ({ firstNs, endNs }) => firstNs ?? endNs ?? Infinity).sort();
  const [fromNs, toNs] = [dues[0] ?? Infinity, dues.at(-1) ?? -Infinity];
  let [crowded, compared, begun, answered, ended] = [0, 0, 0, 0, 0];
  for (const { startNs, step } of spans) {
    if (startNs < fromNs || startNs > toNs) continue;
    while (begun < dues.length && dues[begun] <= startNs) begun++;
    while (answered < firsts.length && firsts[answered] <= startNs) answered++;
    while (ended < ends.length && ends[ended] <= startNs) ended++;
    compared++;
    const { contextRequests, generationRequests } = step;
    if (contextRequests + generationRequests > begun - ended || contextRequests > begun - answered) crowded++;
  }
  return { crowded, compared };
}

/**
 * Between two neighboring places at which a prefill step enters or leaves the time to a first token, nothing changes
 * about which requests have one, so one place of each interval speaks for all of it.
 */
function byEvents(
  requests: readonly ClientRequest[],
  spans: readonly NotedSpan[],
  begun: { readonly fromNs: number; readonly requests: number } | undefined,
): ClientAlignment | NoAlignment {
  const answered = requests.filter(({ firstNs }) => firstNs !== undefined);
  const prefills = spans.filter(hasPrefill);
  if (prefills.length === 0) return 'no step with prefill was recorded, and the files share no clock';
  if (answered.length * prefills.length > MOST_PAIRS) return 'the files share no clock';
  const edges = new Set<number>();
  for (const { dueNs, firstNs } of answered)
    for (const { startNs } of prefills) {
      edges.add(startNs - dueNs);
      edges.add(startNs - firstNs!);
    }
  const sorted = [...edges].filter(ns => !begun || ns >= begun.fromNs).sort((a, b) => a - b);
  /** The client warmed up before its first counted request, with no more requests than it states. */
  const isTooLate = (beginNs: number) =>
    begun !== undefined &&
    prefills.reduce(
      (sum, { startNs, step }) =>
        sum + (startNs >= begun.fromNs && startNs < beginNs ? step.contextRequests : 0),
      0,
    ) > begun.requests;
  let best: { from: number; to: number; requests: number }[] = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const [from, to] = [sorted[i], sorted[i + 1]];
    const placed = shifted(requests, Math.round((from + to) / 2));
    if (isTooLate(placed[0].dueNs)) break;
    const covered = coveredRequests(placed, spans);
    if (covered === 0 || withoutPrefill(placed, spans) > 0 || crowdedSteps(placed, spans).crowded > 0)
      continue;
    const before = best.at(-1);
    if (before && before.to === from)
      best = [...best.slice(0, -1), { ...before, to, requests: Math.max(before.requests, covered) }];
    else best.push({ from, to, requests: covered });
  }
  if (best.length === 0) return 'the files share no clock, and the requests fit the steps nowhere';
  if (best.length > 1)
    return `the files share no clock, and the requests fit the steps in ${best.length} places`;
  const [{ from, to }] = best;
  const shiftNs = Math.round((from + to) / 2);
  return {
    ...judged('events', shiftNs, requests, spans),
    earlierNs: shiftNs - Math.floor(from),
    laterNs: Math.ceil(to) - shiftNs,
  };
}
