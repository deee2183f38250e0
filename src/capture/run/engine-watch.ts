/**
 * Watches what an engine reports about itself while it serves: the lines it prints, its /metrics, the progress file of
 * our agent. Sources are kept apart, because they may count from different beginnings. Whatever a server answers,
 * nothing here throws: a source that cannot be used says why.
 */
import * as fs from 'node:fs';
import { countersInLine, countersInMetrics, type EngineCounters } from '../../catalog/engine-counters.js';
import { sleep } from './marked-processes.js';

const POLL_MS = 200;
const ASK_MS = 5000;
const MOST_BYTES = 8_000_000;
/** A page that is not understood so often in a row will not be. */
const TRIES = 5;

type SourceName = 'agent' | 'log' | 'metrics';
/** The most exact first: the agent sees every step, a log line is one step, /metrics is polled. */
const order: readonly SourceName[] = ['agent', 'log', 'metrics'];

interface WentBack {
  readonly from: number;
  readonly to: number;
}

export class EngineWatch {
  private readonly found = new Map<SourceName, { counters: EngineCounters; atMs: number }>();
  private metricsTrouble: string | undefined;
  /** The engine counted backwards: it was restarted, or several answer at one address. */
  wentBack: WentBack | undefined;
  /** How often anything was heard. */
  heard = 0;
  /** Nothing was, and nothing will be: /metrics was asked in vain, and there is no other source. */
  isSilent = false;

  hear(line: string): void {
    const counters = countersInLine(line);
    if (counters) this.take('log', counters);
  }

  /** Until the signal ends it. */
  async follow(
    url: string,
    signal: AbortSignal,
    progress?: () => Promise<string | undefined>,
  ): Promise<void> {
    const place = new URL('/metrics', url).href;
    for (let wrong = 0; !signal.aborted; ) {
      if (progress) this.hearProgress((await progress()) ?? '');
      if (wrong < TRIES) wrong = (await this.ask(place, signal)) ? 0 : wrong + 1;
      this.isSilent = wrong === TRIES && !progress && this.heard === 0;
      await sleep(POLL_MS);
    }
  }

  /** What is known now. The newest report of a value counts; steps are counted by one source. */
  counters(): EngineCounters {
    const byAge = [...this.found.values()].sort((a, b) => a.atMs - b.atMs);
    const all: EngineCounters = Object.assign({}, ...byAge.map(({ counters }) => counters));
    const counting = this.counting();
    return counting === undefined ? all : { ...all, iteration: this.found.get(counting)?.counters.iteration };
  }

  /** When the count of steps was last reported. */
  get countedAtMs(): number {
    const counting = this.counting();
    return counting === undefined ? -Infinity : this.found.get(counting)!.atMs;
  }

  /** Why nothing is known. */
  silence(): string {
    const metrics = this.metricsTrouble ?? '/metrics reports no counters';
    return `${metrics}, and the output of the server shows none`;
  }

  private take(name: SourceName, counters: EngineCounters, atMs = performance.now()): void {
    const before = this.found.get(name)?.counters;
    const [from, to] = [before?.iteration, counters.iteration];
    if (from !== undefined && to !== undefined && to < from && this.counting() === name)
      this.wentBack ??= { from, to };
    this.heard++;
    const known = { ...before, ...perStep(before, counters), ...counters };
    this.found.set(name, { counters: known, atMs });
  }

  /** Two sources may count from different beginnings. */
  private counting(): SourceName | undefined {
    return order.find(source => this.found.get(source)?.counters.iteration !== undefined);
  }

  private async ask(place: string, signal: AbortSignal): Promise<boolean> {
    try {
      // What is reported is at least as new as the question.
      const askedMs = performance.now();
      const answer = await fetch(place, { signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]) });
      if (!answer.ok) {
        await answer.body?.cancel();
        this.metricsTrouble = `/metrics returns HTTP ${answer.status}`;
        return false;
      }
      const text = await boundedText(answer);
      const counters = text === undefined ? undefined : countersInMetrics(text);
      if (counters) {
        this.metricsTrouble = undefined;
        this.take('metrics', counters, askedMs);
        return true;
      }
      // An empty list is an engine that has nothing new to report, or never will.
      if (text?.trim() === '[]') this.metricsTrouble = '/metrics reports no iterations';
      else this.metricsTrouble = '/metrics is not in the format of an inference engine';
      return text?.trim() === '[]';
    } catch (error) {
      if (!signal.aborted) this.metricsTrouble = `/metrics does not respond (${(error as Error).message})`;
      return false;
    }
  }

  /** One line of JSON that the agent rewrites; see docs/agent-format.md. */
  private hearProgress(text: string): void {
    try {
      const { iteration, batch, tokens, prefill } = JSON.parse(text) as {
        readonly [K in 'iteration' | 'batch' | 'tokens' | 'prefill']?: unknown;
      };
      const count = (value: unknown) => (typeof value === 'number' && value >= 0 ? value : undefined);
      const number = count(iteration);
      if (number === undefined) return;
      this.take('agent', {
        iteration: number,
        ...(count(batch) === undefined ? {} : { batch: count(batch) }),
        ...(count(tokens) === undefined ? {} : { tokens: count(tokens) }),
        ...(typeof prefill === 'boolean' ? { prefill } : {}),
      });
    } catch {
      // Not written yet, or being written.
    }
  }
}

/** Where only totals are reported, the steps between two readings in the mean. */
function perStep(before: EngineCounters | undefined, now: EngineCounters): EngineCounters {
  const steps = (now.iteration ?? 0) - (before?.iteration ?? Number.NaN);
  if (!(steps > 0)) return {};
  const since = (name: 'totalTokens' | 'totalPromptTokens') =>
    now[name] === undefined || before?.[name] === undefined ? undefined : now[name] - before[name];
  const tokens = since('totalTokens');
  const prompts = since('totalPromptTokens');
  return {
    ...(tokens === undefined ? {} : { tokens: tokens / steps }),
    ...(prompts === undefined ? {} : { prefill: prompts > 0 }),
  };
}

/** Undefined where it cannot be read: not written yet, or being replaced. */
export const textIn = (file: string): Promise<string | undefined> =>
  fs.promises.readFile(file, 'utf8').catch(() => undefined);

async function boundedText(answer: Response): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString('utf8');
}
