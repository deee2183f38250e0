/** One client's file joined to the steps: every request that can be taken apart, and how many cannot. */
import type { BenchRun } from '../../model/bench-run.js';
import type { StepLog } from '../../model/step-log.js';
import { alignClient, type ClientAlignment } from './align-client.js';
import { type ClientRequest, requestsOf, shifted } from './client-request.js';
import { partsOf, type RequestParts } from './request-parts.js';
import { type NotedSpan, spanAt, spansOf } from './step-spans.js';

export interface JoinedRequest {
  readonly request: ClientRequest;
  readonly parts: RequestParts;
  /** A profiler recorded, started or stopped meanwhile. */
  readonly profiled: boolean;
}

export interface JoinedRun {
  readonly run: BenchRun;
  /** Requests with a time, answered or not. */
  readonly requests: number;
  /** Undefined: `why` says why the requests cannot be placed on the clock of the steps. */
  readonly alignment?: ClientAlignment;
  readonly why?: string;
  readonly joined: readonly JoinedRequest[];
  /** Answered, but steps are missing in the time to the first token and after it. */
  readonly notCovered: number;
}

/** Results without times of requests are missing. */
export function joinRuns(runs: readonly BenchRun[], log: StepLog): JoinedRun[] {
  const spans = spansOf(log);
  return runs.flatMap(run => {
    const requests = requestsOf(run);
    return requests.length > 0 ? [joinRun(run, requests, log, spans)] : [];
  });
}

function joinRun(
  run: BenchRun,
  requests: readonly ClientRequest[],
  log: StepLog,
  spans: readonly NotedSpan[],
): JoinedRun {
  const alignment = alignClient(run, requests, log, spans);
  if (typeof alignment === 'string')
    return { run, requests: requests.length, why: alignment, joined: [], notCovered: 0 };
  const placed = shifted(requests, alignment.shiftNs);
  const joined: JoinedRequest[] = [];
  let notCovered = 0;
  for (const request of placed) {
    const parts = partsOf(request, spans, placed);
    if (parts?.first || parts?.decode) joined.push({ request, parts, profiled: isProfiled(request, spans) });
    else if (parts && request.firstNs !== undefined) notCovered++;
  }
  const why = 'no request of the client lies in the time of the recorded steps';
  return {
    ...{ run, requests: requests.length, alignment, joined, notCovered },
    ...(joined.length === 0 ? { why } : {}),
  };
}

/** Profilers start before the first step of a window and stop after the last: the steps next to it wait for them. */
function isProfiled({ dueNs, endNs = dueNs }: ClientRequest, spans: readonly NotedSpan[]): boolean {
  const recorded = (i: number) => spans[i]?.step.profiled === true;
  for (let i = spanAt(spans, dueNs); i < spans.length && spans[i].startNs < endNs; i++)
    if (recorded(i) || recorded(i - 1) || recorded(i + 1)) return true;
  return false;
}
