/** Requests of a client's file on the clock of a step log, in whole nanoseconds so that sums are exact. */
import type { BenchRun } from '../../model/bench-run.js';

export interface ClientRequest {
  readonly id: number;
  readonly dueNs: number;
  /** When the first token reached the client; absent where the answer was not streamed, or there was none. */
  readonly firstNs?: number;
  /** Absent: it failed or was still running when the client stopped, and may be in the engine for any time. */
  readonly endNs?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Hashed id that the server gave it. */
  readonly serverId?: string;
  /** As the engine itself measured them. */
  readonly engineQueueNs?: number;
  readonly enginePrefillNs?: number;
}

/** Times relative to the client's zero. Requests without a start cannot be placed and are missing. */
export function requestsOf({ requests = [] }: BenchRun): ClientRequest[] {
  return requests
    .flatMap((row, index): ClientRequest[] => {
      if (row.startNs === undefined) return [];
      const dueNs = Math.round(row.startNs);
      const isWhole = !row.failed && row.e2eNs !== undefined;
      const e2eNs = isWhole ? Math.round(row.e2eNs!) : undefined;
      const ttftNs = row.ttftNs === undefined || row.failed ? undefined : Math.round(row.ttftNs);
      return [
        {
          ...{ id: row.id ?? index, dueNs },
          ...(ttftNs === undefined ? {} : { firstNs: dueNs + ttftNs }),
          ...(e2eNs === undefined ? {} : { endNs: dueNs + Math.max(e2eNs, ttftNs ?? 0) }),
          ...(row.inputTokens === undefined ? {} : { inputTokens: row.inputTokens }),
          ...(row.outputTokens === undefined ? {} : { outputTokens: row.outputTokens }),
          ...(row.serverId === undefined ? {} : { serverId: row.serverId }),
          ...(row.queueNs === undefined ? {} : { engineQueueNs: row.queueNs }),
          ...(row.prefillNs === undefined ? {} : { enginePrefillNs: row.prefillNs }),
        },
      ];
    })
    .sort((a, b) => a.dueNs - b.dueNs);
}

export const shifted = (requests: readonly ClientRequest[], byNs: number): ClientRequest[] =>
  requests.map(request => ({
    ...request,
    dueNs: request.dueNs + byNs,
    ...(request.firstNs === undefined ? {} : { firstNs: request.firstNs + byNs }),
    ...(request.endNs === undefined ? {} : { endNs: request.endNs + byNs }),
  }));
