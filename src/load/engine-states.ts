/**
 * What the server reports about itself while it is under load: requests that run and wait, and the use of its KV cache,
 * read from /metrics twice a second. A server without such a page is asked a few times and then left alone.
 */
import { countersInMetrics } from '../catalog/engine-counters.js';
import { NS_PER_MS, nowNs } from './clock.js';
import type { Connection } from './connection.js';
import type { LevelResult } from './load-document.js';
import type { Target } from './target.js';
import { pause } from './waiting.js';

type EngineState = NonNullable<LevelResult['engineStates']>[number];

const PERIOD_NS = 500 * NS_PER_MS;
const TRIES = 3;
/** Two hours. */
const MOST_STATES = 14_400;

export class EngineStates {
  private readonly states: (EngineState & { readonly readNs: number })[] = [];
  private readonly ended = new AbortController();
  private readonly path: string;

  constructor(
    private readonly connection: Connection,
    { base }: Target,
  ) {
    this.path = `${base.replace(/\/v\d+$/, '')}/metrics`;
  }

  async follow(): Promise<void> {
    const { signal } = this.ended;
    for (let wrong = 0; wrong < TRIES && !signal.aborted && this.states.length < MOST_STATES; ) {
      const askedNs = nowNs();
      const text = await this.connection.getText(this.path);
      const counters = text === undefined ? undefined : countersInMetrics(text);
      wrong = counters ? 0 : wrong + 1;
      if (counters && !signal.aborted) {
        const { iteration, running, waiting, kv } = counters;
        // The answer was made between the question and its arrival.
        const readNs = Math.round((askedNs + nowNs()) / 2);
        const shown = { iteration, running, waiting, kvShare: kv === undefined ? undefined : kv / 100 };
        const known = Object.entries(shown).filter(([, value]) => value !== undefined);
        if (known.length > 0) this.states.push({ readNs, atNs: 0, ...Object.fromEntries(known) });
      }
      await pause(PERIOD_NS - (nowNs() - askedNs), signal);
    }
  }

  stop(): void {
    this.ended.abort();
  }

  /** From the begin of the level on. */
  since(beginNs: number): EngineState[] {
    return this.states
      .filter(({ readNs }) => readNs >= beginNs)
      .map(({ readNs, ...state }) => ({ ...state, atNs: readNs - beginNs }));
  }
}
