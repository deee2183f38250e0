/** What is known of one request when it is over. All times but `dueNs` and `sentNs` count from `dueNs`. */
import type { Exchange } from './exchange.js';
import type { Prompt } from './prompt.js';

export interface RequestRecord {
  readonly number: number;
  /** When it was to be sent. In a closed loop that is when it was. */
  readonly dueNs: number;
  readonly sentNs: number;
  readonly dnsNs?: number;
  readonly connectNs?: number;
  readonly firstByteNs?: number;
  readonly ttftNs?: number;
  readonly e2eNs?: number;
  /** Mean time of a token after the first. */
  readonly tpotNs?: number;
  /** When each piece with content came. */
  readonly pieceNs: readonly number[];
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** As the server counted, not by words and pieces. */
  readonly inputFromUsage: boolean;
  readonly outputFromUsage: boolean;
  /** That the server gave it; only a hash of it is written. */
  readonly serverId?: string;
  readonly askedTokens: number;
  readonly streamed: boolean;
  readonly withoutDone: boolean;
  readonly status?: number;
  readonly failure?: { readonly kind: string; readonly detail: string };
  readonly interrupted?: true;
}

export function recordOf(number: number, dueNs: number, prompt: Prompt, result: Exchange): RequestRecord {
  const { sentNs, dnsNs, connectNs, firstByteNs, status, streamed, answer, failure, interrupted } = result;
  const pieceNs = answer?.pieceNs.map(ns => ns - dueNs) ?? [];
  const e2eNs = answer?.endNs === undefined ? undefined : answer.endNs - dueNs;
  // Without streaming all tokens come at once: when the first one was there is not known.
  const ttftNs = streamed ? pieceNs[0] : undefined;
  const outputTokens = answer?.outputTokens ?? (streamed && answer ? pieceNs.length : undefined);
  const inputTokens = answer?.inputTokens ?? prompt.inputTokens;
  const hasTpot =
    ttftNs !== undefined && e2eNs !== undefined && outputTokens !== undefined && outputTokens > 1;
  return {
    ...{
      number,
      dueNs,
      sentNs,
      dnsNs,
      connectNs,
      ttftNs,
      e2eNs,
      status,
      streamed,
      inputTokens,
      outputTokens,
    },
    firstByteNs: firstByteNs === undefined ? undefined : firstByteNs - dueNs,
    tpotNs: hasTpot ? (e2eNs - ttftNs) / (outputTokens - 1) : undefined,
    pieceNs: streamed ? pieceNs : [],
    inputFromUsage: answer?.inputTokens !== undefined,
    outputFromUsage: answer?.outputTokens !== undefined,
    ...(answer?.id === undefined ? {} : { serverId: answer.id }),
    askedTokens: prompt.outputTokens,
    withoutDone: answer?.withoutDone ?? false,
    ...(failure ? { failure: { kind: failure.kind, detail: failure.detail } } : {}),
    ...(interrupted ? { interrupted } : {}),
  };
}
