/**
 * The time of one request, taken apart by the steps that ran meanwhile. Both sums are exact: the parts tile the time.
 *
 *     steps     [decode][decode][prefill][decode][mixed][decode]
 *     request      due............................first............end
 *     by time      [-- queue ---][prefill][ after ][decode, mixed… ]
 *
 * With ids of requests the steps that ran the request are known. Without, every step with prefill between `due` and
 * `first` may have been its own, and every step after `first` is taken to have decoded it.
 */
import type { ClientRequest } from './client-request.js';
import { hasPrefill, isCovered, isDecode, type NotedSpan, spanAt } from './step-spans.js';

interface FirstTokenParts {
  /** Steps of others ran, or steps without any prefill: it waited for its turn. */
  readonly queueNs: number;
  /** In steps with prefill: by ids its own, by time those that may have been. */
  readonly prefillNs: number;
  /** Before its first possible step while nothing known ran: client, network, tokenizer. */
  readonly beforeNs: number;
  /** After its last possible prefill step: the rest of the work on the GPU, detokenizer, network, client. */
  readonly afterNs: number;
  readonly prefillSteps: number;
}

interface DecodeParts {
  readonly decodeNs: number;
  /** In steps that decode it and prefill others. */
  readonly mixedNs: number;
  /** In steps that prefill others without decoding it. */
  readonly stallNs: number;
  /** By ids: in decode steps without it, as when it was preempted. */
  readonly waitNs: number;
  readonly unexplainedNs: number;
  readonly steps: number;
}

/** `ids`: its steps are known. `one-step`: only one step can have been its prefill. `time`: several can. */
export type JoinedBy = 'ids' | 'one-step' | 'time';

export interface RequestParts {
  readonly by: JoinedBy;
  /** Undefined: steps are missing in that time, or there is no such time. */
  readonly first?: FirstTokenParts;
  readonly decode?: DecodeParts;
}

/** Undefined: no step with prefill ran between `due` and the first token, which cannot be. */
export function partsOf(
  request: ClientRequest,
  spans: readonly NotedSpan[],
  others: readonly ClientRequest[],
): RequestParts | undefined {
  const { dueNs, firstNs, endNs } = request;
  if (firstNs === undefined) return { by: 'time' };
  const own = ownSteps(request, spans);
  const seesFirst = isCovered(spans, dueNs, firstNs);
  const prefill = own?.context ?? prefillsBetween(spans, dueNs, firstNs);
  if (seesFirst && prefill.length === 0) return undefined;
  const by: JoinedBy = own ? 'ids' : prefill.length === 1 && seesFirst ? 'one-step' : 'time';
  const seesDecode = endNs !== undefined && endNs > firstNs && isCovered(spans, firstNs, endNs);
  return {
    by,
    ...(seesFirst ? { first: firstTokenParts(request, firstNs, spans, prefill, others) } : {}),
    ...(seesDecode ? { decode: decodeParts(firstNs, endNs, dueNs, spans, own) } : {}),
  };
}

interface OwnSteps {
  /** Places of spans. */
  readonly context: readonly number[];
  readonly generation: ReadonlySet<number>;
  readonly last: number;
}

function ownSteps(
  { serverId, dueNs, endNs = Infinity }: ClientRequest,
  spans: readonly NotedSpan[],
): OwnSteps | undefined {
  if (serverId === undefined) return undefined;
  const context: number[] = [];
  const generation = new Set<number>();
  let last = -1;
  for (let i = spanAt(spans, dueNs); i < spans.length && spans[i].startNs < endNs; i++) {
    const { contextIds, generationIds } = spans[i].step;
    // One step without ids may have run it.
    if (!contextIds) return undefined;
    if (contextIds.includes(serverId)) context.push(i);
    else if (generationIds?.includes(serverId)) generation.add(i);
    else continue;
    last = i;
  }
  return context.length > 0 ? { context, generation, last } : undefined;
}

/** A step that began before the request was due does not run it. */
function prefillsBetween(spans: readonly NotedSpan[], fromNs: number, toNs: number): number[] {
  const found: number[] = [];
  for (let i = spanAt(spans, fromNs); i < spans.length && spans[i].startNs < toNs; i++)
    if (spans[i].startNs >= fromNs && hasPrefill(spans[i])) found.push(i);
  return found;
}

function firstTokenParts(
  request: ClientRequest,
  firstNs: number,
  spans: readonly NotedSpan[],
  prefill: readonly number[],
  others: readonly ClientRequest[],
): FirstTokenParts {
  const { dueNs } = request;
  const beginNs = Math.min(firstNs, Math.max(dueNs, spans[prefill[0]].startNs));
  const doneNs = Math.min(firstNs, Math.max(beginNs, spans[prefill[prefill.length - 1]].endNs));
  const waitedNs = busyNs(dueNs, beginNs, spans, request, others);
  let prefillNs = 0;
  for (const at of prefill) prefillNs += overlap(spans[at], beginNs, doneNs);
  return {
    queueNs: waitedNs + (doneNs - beginNs - prefillNs),
    prefillNs,
    beforeNs: beginNs - dueNs - waitedNs,
    afterNs: firstNs - doneNs,
    prefillSteps: prefill.length,
  };
}

const overlap = ({ startNs, endNs }: NotedSpan, fromNs: number, toNs: number) =>
  Math.max(0, Math.min(endNs, toNs) - Math.max(startNs, fromNs));

/**
 * How much of the interval the engine worked on other requests: one of them was between its first token and its end, or
 * waited for its first token in a prefill step that had begun after it was due. At other times nothing of this client
 * ran, and the request was on its way.
 */
function busyNs(
  fromNs: number,
  toNs: number,
  spans: readonly NotedSpan[],
  request: ClientRequest,
  others: readonly ClientRequest[],
): number {
  const busy: [number, number][] = [];
  for (const other of others) {
    if (other.dueNs >= toNs) break;
    if (other === request || other.firstNs === undefined) continue;
    const { firstNs, endNs = Infinity } = other;
    if (endNs <= fromNs) continue;
    if (firstNs < toNs) busy.push([Math.max(firstNs, fromNs), Math.min(endNs, toNs)]);
    if (firstNs <= fromNs) continue;
    for (let i = spanAt(spans, fromNs); i < spans.length && spans[i].startNs < Math.min(toNs, firstNs); i++)
      if (hasPrefill(spans[i]) && spans[i].startNs >= other.dueNs)
        busy.push([Math.max(spans[i].startNs, fromNs), Math.min(spans[i].endNs, toNs, firstNs)]);
  }
  busy.sort((a, b) => a[0] - b[0]);
  let sum = 0;
  let until = fromNs;
  for (const [start, end] of busy) {
    sum += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return sum;
}

function decodeParts(
  firstNs: number,
  endNs: number,
  dueNs: number,
  spans: readonly NotedSpan[],
  own: OwnSteps | undefined,
): DecodeParts {
  const parts = { decodeNs: 0, mixedNs: 0, stallNs: 0, waitNs: 0, unexplainedNs: 0 };
  let steps = 0;
  for (let i = spanAt(spans, firstNs); i < spans.length && spans[i].startNs < endNs; i++) {
    const part = own ? partByIds(i, spans[i], own) : partByTime(spans[i], dueNs, firstNs);
    parts[part] += overlap(spans[i], firstNs, endNs);
    const ran = own ? own.generation.has(i) : part === 'decodeNs' || part === 'mixedNs';
    if (ran && spans[i].startNs >= firstNs) steps++;
  }
  return { ...parts, steps };
}

type DecodePart = Exclude<keyof DecodeParts, 'steps'>;

function partByTime(span: NotedSpan, dueNs: number, firstNs: number): DecodePart {
  if (isDecode(span)) return 'decodeNs';
  if (!hasPrefill(span)) return 'unexplainedNs';
  // The step in which the first token came may have been its own prefill.
  if (span.startNs >= dueNs && span.startNs < firstNs) return 'unexplainedNs';
  return span.step.generationRequests > 0 ? 'mixedNs' : 'stallNs';
}

function partByIds(at: number, span: NotedSpan, own: OwnSteps): DecodePart {
  if (own.generation.has(at)) return hasPrefill(span) ? 'mixedNs' : 'decodeNs';
  if (at > own.last || own.context.includes(at)) return 'unexplainedNs';
  return hasPrefill(span) ? 'stallNs' : 'waitNs';
}
