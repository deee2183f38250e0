/**
 * What the server itself measured of a level: the time of each request in the engine, and the energy of its GPUs.
 * Both are counted by the server from its start, so it is asked after the warm-up and again at the end. A server that
 * does not offer one of them is asked for it once.
 */
import { NoteCounter } from '../base/notes.js';
import { energyIn, type RequestTimes, requestTimesOf } from '../catalog/request-times.js';
import { NS_PER_MS } from './clock.js';
import type { Connection } from './connection.js';
import { distributionOf } from './distribution.js';
import type { LevelResult } from './load-document.js';
import type { Target } from './target.js';
import { pause } from './waiting.js';

type Reported = Pick<LevelResult, 'engineLatency' | 'energy' | 'notes'>;

const LATE_NS = 200 * NS_PER_MS;
const TRIES = 4;

export class EngineReport {
  private readonly base: string;
  private energy: ReturnType<typeof energyIn>;
  private hasRequests = false;

  constructor(
    private readonly connection: Connection,
    { base }: Target,
  ) {
    this.base = base.replace(/\/v\d+$/, '');
  }

  /** The answer about requests is emptied by asking: those of the warm-up are gone then. */
  async begin(signal: AbortSignal): Promise<void> {
    this.hasRequests = Array.isArray(await this.ask('perf_metrics'));
    if (this.hasRequests) {
      await pause(LATE_NS, signal);
      await this.ask('perf_metrics');
    }
    this.energy = energyIn(await this.ask('energy_metrics'));
  }

  /** `completed`: requests that were counted; a report of others too is not of this level. */
  async end(completed: number, outputTokens: number | undefined, signal: AbortSignal): Promise<Reported> {
    const before = this.energy;
    const after = before && energyIn(await this.ask('energy_metrics'));
    const times = this.hasRequests ? await this.served(completed, signal) : [];
    const of = (name: 'queueNs' | 'prefillNs' | 'kvTransferNs') =>
      distributionOf(times.flatMap(row => row[name] ?? []));
    const latency = present({
      queue: of('queueNs'),
      prefill: of('prefillNs'),
      kvTransfer: of('kvTransferNs'),
    });
    const isOurs = times.length === completed && Object.keys(latency).length > 0;
    const notes = new NoteCounter();
    if (times.length > 0 && times.length !== completed)
      notes.add(
        'engine-times',
        'warning',
        'the times that the engine measured were left out: it reports another number of requests',
        `${times.length} requests, of which ${completed} are of this level`,
      );
    return {
      ...(isOurs ? { engineLatency: latency } : {}),
      ...(before && after ? energyBetween(before, after, outputTokens) : {}),
      notes: notes.list(),
    };
  }

  /** The server notes a request after it has sent its answer, so the last ones come late. */
  private async served(completed: number, signal: AbortSignal): Promise<readonly RequestTimes[]> {
    const times: RequestTimes[] = [];
    for (let tries = 0; tries < TRIES && times.length < completed; tries++) {
      if (tries > 0) await pause(LATE_NS, signal);
      const answer = await this.ask('perf_metrics');
      for (const row of Array.isArray(answer) ? answer : []) {
        const found = requestTimesOf(row);
        if (found) times.push(found);
      }
    }
    return times;
  }

  private ask(name: string): Promise<unknown> {
    return this.connection.get(`${this.base}/${name}`);
  }
}

type Energy = NonNullable<ReturnType<typeof energyIn>>;

/** A server that was started anew counts from 0. */
function energyBetween(before: Energy, after: Energy, outputTokens: number | undefined): Partial<Reported> {
  const joules = after.joules - before.joules;
  const seconds = after.seconds - before.seconds;
  if (joules <= 0 || seconds <= 0) return {};
  return {
    energy: {
      totalJoules: joules,
      gpuPowerWatts: joules / seconds,
      ...(outputTokens ? { outputTokensPerSecondPerWatt: outputTokens / joules } : {}),
    },
  };
}

const present = <Row extends object>(row: Row): Partial<Row> =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Partial<Row>;
