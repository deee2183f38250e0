/**
 * Sends the requests of one level at their times. Warm-up requests go first and ramp-up requests next; both press the
 * server and neither is counted. What ends a level early (Ctrl-C) leaves the requests that were answered.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { randomStream } from '../stats/random.js';
import { type ArrivalKind, arrivalTimes } from './arrivals.js';
import { NS_PER_MS, nowNs } from './clock.js';
import type { Level } from './level.js';
import type { RequestRecord } from './request-record.js';
import { nextTurn, pause, until } from './waiting.js';

interface LevelSettings {
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

/** Makes a request ready, so that when it is sent no time goes to making its body. Without a time it is due then. */
export type Prepare = (part: string, number: number) => (dueNs?: number) => Promise<RequestRecord>;

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
  prepare: Prepare,
  signal: AbortSignal,
  onProgress: OnProgress,
  /** Called between the warm-up and the requests that count. */
  onWarm: () => Promise<void> = async () => {},
): Promise<Omit<LevelRun, 'retries'>> {
  const { level, part, warmup } = settings;
  if (warmup > 0) {
    const users = Math.min(warmup, level.kind === 'concurrent' ? level.users : WARMUP_USERS);
    const limits = { requests: warmup, durationNs: Infinity, rampNs: 0 };
    await closedLoop(users, limits, signal, number => prepare(`${part}/warm-up`, number));
  }
  if (!signal.aborted) await onWarm();
  const records: RequestRecord[] = [];
  let failed = 0;
  const beginNs = nowNs();
  const report = () => {
    const byTime = (nowNs() - beginNs) / (settings.rampNs + settings.durationNs);
    onProgress(Math.max(byTime, records.length / settings.requests), records.length - failed, failed);
  };
  const counted: Ready = (number, isCounted) => {
    const send = prepare(part, number);
    return async dueNs => {
      const record = await send(dueNs);
      if (isCounted) {
        records.push(record);
        if (record.failure) failed++;
      }
      report();
      return record;
    };
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

type Ready = (number: number, isCounted: boolean) => ReturnType<Prepare>;
type Limits = Pick<LevelSettings, 'requests' | 'durationNs' | 'rampNs'>;

async function closedLoop(
  users: number,
  { requests, durationNs, rampNs }: Limits,
  signal: AbortSignal,
  ready: Ready,
): Promise<void> {
  const countFromNs = nowNs() + rampNs;
  let number = 0;
  let counted = 0;
  const user = async (index: number) => {
    if (rampNs > 0) await pause((rampNs * index) / users, signal);
    while (!signal.aborted) {
      const beginNs = nowNs();
      const isCounted = beginNs >= countFromNs;
      if (beginNs >= countFromNs + durationNs || (isCounted && counted >= requests)) return;
      if (isCounted) counted++;
      const { failure } = await ready(number++, isCounted)();
      if (failure) await pause(FAILED_PAUSE_NS - (nowNs() - beginNs), signal);
    }
  };
  const all: Promise<void>[] = [];
  for (let index = 0; index < users; index++) {
    all.push(user(index));
    // Sockets are written to when this turn ends: begun in one turn, the first would wait for the last.
    await nextTurn();
  }
  await Promise.all(all);
}

async function openLoop(
  perSecond: number,
  { requests, durationNs, rampNs, arrivals, seed, part, mostInFlight }: LevelSettings,
  signal: AbortSignal,
  ready: Ready,
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
    const send = ready(number++, isCounted);
    await until(beginNs + atNs, signal);
    while (inFlight >= mostInFlight && !signal.aborted) await new Promise<void>(free => (onFree = free));
    if (signal.aborted) break;
    if (isCounted) counted++;
    inFlight++;
    underWay.push(
      send(beginNs + atNs).then(() => {
        inFlight--;
        onFree();
      }),
    );
  }
  await Promise.all(underWay);
}
