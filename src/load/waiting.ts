/** Waiting that an abort ends at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NS_PER_MS, nowNs } from './clock.js';

/** Timers come up to a millisecond late, and another one in a busy process. */
const TIMER_SLACK_NS = 2 * NS_PER_MS;

export async function pause(ns: number, signal: AbortSignal): Promise<void> {
  if (ns <= 0 || signal.aborted) return;
  // An aborted sleep rejects; that is how it ends.
  await sleep(ns / NS_PER_MS, undefined, { signal }).catch(() => {});
}

/**
 * Until a moment, to a few microseconds: by a timer until just before, then turn by turn of the event loop, which goes
 * on serving connections in between.
 */
export async function until(momentNs: number, signal: AbortSignal): Promise<void> {
  await pause(momentNs - nowNs() - TIMER_SLACK_NS, signal);
  while (nowNs() < momentNs && !signal.aborted) await nextTurn();
}

/** Of the event loop. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
