/**
 * Sends the requests of one level at their times. Warm-up requests go first and ramp-up requests next; both press the
 * server and neither is counted. What ends a level early (Ctrl-C) leaves the requests that were answered.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type ArrivalKind, arrivalTimes } from './arrivals.js';
import { NS_PER_MS, nowNs } from './clock.js';
import type { Level } from './level.js';
import { randomStream } from './random.js';
import type { RequestRecord } from './request-record.js';
import { pause, until } from './waiting.js';

export interface LevelSettings {
  readonly level: Level;
  /** Tells the level apart from others of its name. */
  readonly part: string;
  /** Whichever comes first ends the level; one of them is given. */
  readonly requests: number;
  readonly durationNs: number;
  readonly warmup: number;
  readonly rampNs: number;
  readonly arrivals: ArrivalKind;
  readonly seed: number;
  /** Of an open loop; requests beyond wait, and their time runs. */
  readonly mostInFlight: number;
}

export type Send = (part: string, number: number, dueNs: number) => Promise<RequestRecord>;

export interface LevelRun {
  readonly settings: LevelSettings;
  /** Counted requests, in the order of their ends. */
  readonly records: readonly RequestRecord[];
  readonly interrupted: boolean;
  /** How late this process came to look at its connections: percentile 99. */
  readonly clientLagNs: number;
  readonly retries: number;
}

/** How far it is, 0 to 1, and the requests that were answered and failed. */
export type OnProgress = (done: number, answered: number, failed: number) => void;

/** A user whose request failed at once does not hammer the server with the next. */
const FAILED_PAUSE_NS = 50 * NS_PER_MS;
const LAG_RESOLUTION_MS = 10;
/** Warm-up of an open loop has no users of its own. */
const WARMUP_USERS = 16;

export async function runLevel(
  settings: LevelSettings,
  send: Send,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<Omit<LevelRun, 'retries'>> {
  const { level, part, warmup } = settings;
  if (warmup > 0) {
    const users = Math.min(warmup, level.kind === 'concurrent' ? level.users : WARMUP_USERS);
    await closedLoop(users, { requests: warmup, durationNs: Infinity, rampNs: 0 }, signal, (number, dueNs) =>
      send(`${part}/warm-up`, number, dueNs),
    );
  }
  const records: RequestRecord[] = [];
  let failed = 0;
  const beginNs = nowNs();
  const report = () => {
    const byTime = (nowNs() - beginNs) / (settings.rampNs + settings.durationNs);
    onProgress(Math.max(byTime, records.length / settings.requests), records.length - failed, failed);
  };
  const counted: Counted = async (number, dueNs, isCounted) => {
    const record = await send(part, number, dueNs);
    if (isCounted) {
      records.push(record);
      if (record.failure) failed++;
    }
    report();
    return record;
  };
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  const ticking = setInterval(report, 250);
  try {
    if (level.kind === 'concurrent') await closedLoop(level.users, settings, signal, counted);
    else await openLoop(level.perSecond, settings, signal, counted);
  } finally {
    clearInterval(ticking);
    lag.disable();
  }
  const clientLagNs = lag.count === 0 ? 0 : Math.max(0, lag.percentile(99) - LAG_RESOLUTION_MS * NS_PER_MS);
  return { settings, records, interrupted: signal.aborted, clientLagNs };
}

type Counted = (number: number, dueNs: number, isCounted: boolean) => Promise<RequestRecord>;
type Limits = Pick<LevelSettings, 'requests' | 'durationNs' | 'rampNs'>;

async function closedLoop(
  users: number,
  { requests, durationNs, rampNs }: Limits,
  signal: AbortSignal,
  send: Counted,
): Promise<void> {
  const countFromNs = nowNs() + rampNs;
  let number = 0;
  let counted = 0;
  const user = async (index: number) => {
    if (rampNs > 0) await pause((rampNs * index) / users, signal);
    while (!signal.aborted) {
      const dueNs = nowNs();
      const isCounted = dueNs >= countFromNs;
      if (dueNs >= countFromNs + durationNs || (isCounted && counted >= requests)) return;
      if (isCounted) counted++;
      const { failure } = await send(number++, dueNs, isCounted);
      if (failure) await pause(FAILED_PAUSE_NS - (nowNs() - dueNs), signal);
    }
  };
  await Promise.all(Array.from({ length: users }, (_, index) => user(index)));
}

async function openLoop(
  perSecond: number,
  { requests, durationNs, rampNs, arrivals, seed, part, mostInFlight }: LevelSettings,
  signal: AbortSignal,
  send: Counted,
): Promise<void> {
  const beginNs = nowNs();
  let number = 0;
  let counted = 0;
  let inFlight = 0;
  let onFree = () => {};
  const underWay: Promise<void>[] = [];
  for (const atNs of arrivalTimes(perSecond, arrivals, randomStream(seed, 'arrivals', part), rampNs)) {
    const isCounted = atNs >= rampNs;
    if (atNs >= rampNs + durationNs || (isCounted && counted >= requests)) break;
    await until(beginNs + atNs, signal);
    while (inFlight >= mostInFlight && !signal.aborted) await new Promise<void>(free => (onFree = free));
    if (signal.aborted) break;
    if (isCounted) counted++;
    inFlight++;
    underWay.push(
      send(number++, beginNs + atNs, isCounted).then(() => {
        inFlight--;
        onFree();
      }),
    );
  }
  await Promise.all(underWay);
}
