/**
 * Sends requests until a window is reached, and watches the engine's own counters while it does. Every wait has an end:
 * the goal, a report that is there already, a server that ended, or a reason why the goal cannot be reached.
 *
 *   load        |-------------------------------------------|
 *   goals       |-- full, when, phase --|  open  |-- steps --|
 */

import { capitalized, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import type { EngineCounters } from '../../catalog/engine-counters.js';
import type { LoadShape, WindowGoal } from '../capture-plan.js';
import type { EngineWatch } from './engine-watch.js';
import { GoalWait, type LoadState, stateText } from './goal-wait.js';
import { sleep } from './marked-processes.js';
import type { LoadLevels } from './server-calls.js';

interface Driving {
  readonly url: string;
  readonly load: LoadLevels;
  readonly engine: EngineWatch;
  /** The window has closed: its report is there. */
  readonly isWritten: () => boolean;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly progress: (text: string) => void;
  /** How long nothing may happen. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 60_000;
const LOOK_MS = 100;
const MOST_WAVES = 3;
/** Beyond this a larger load shows only how the queue grows. */
const MOST_USERS = 512;

/** One load under way, and how it goes. */
interface Sending {
  readonly shape: LoadShape;
  readonly done: Promise<void>;
  answered: number;
  failed: number;
  error?: unknown;
  /** The most frequent failure, once it is over. */
  failure?: string | undefined;
  isOver: boolean;
}

/** The longest time without progress, and since when. */
class Patience {
  private seen = '';
  private sinceMs = Date.now();

  constructor(private readonly mostMs: number) {}

  isOver(state: string): boolean {
    if (state !== this.seen) {
      this.seen = state;
      this.sinceMs = Date.now();
    }
    return Date.now() - this.sinceMs > this.mostMs;
  }
}

export class WindowDriver {
  private readonly own = new AbortController();
  private readonly loads: Sending[] = [];
  private readonly patienceMs: number;
  /** The counter stands still or goes back: it is not asked any more. */
  private isBlind = false;
  /** How many requests had been answered when the counter last moved. */
  private standing: { readonly at: number | undefined; readonly answered: number } = {
    ...{ at: undefined, answered: 0 },
  };
  private waves = 1;

  constructor(private readonly driving: Driving) {
    this.patienceMs = driving.patienceMs ?? PATIENCE_MS;
    driving.signal.addEventListener('abort', () => this.own.abort(), { once: true });
    if (driving.signal.aborted) this.own.abort();
  }

  async until(goal: WindowGoal, shape: LoadShape): Promise<void> {
    if (this.loads.length === 0) this.send(shape);
    const waiting = new GoalWait(goal);
    const stalled = new Patience(this.patienceMs);
    const counterStands = new Patience(this.patienceMs);
    const unmet = new Patience(this.patienceMs);
    const larger = new Patience(this.patienceMs / 10);
    while (!this.own.signal.aborted) {
      if (waiting.isWindow && this.driving.isWritten()) return;
      this.throwLoadError();
      const { engine } = this.driving;
      const now = this.isBlind ? { ...engine.counters(), iteration: undefined } : engine.counters();
      const load = this.loadState(shape);
      const { users } = load;
      if (waiting.isReached(now, load)) return;
      this.driving.progress(waiting.progressText(now, load));
      if (!this.isBlind) this.distrust(goal, now, load.answered, counterStands);
      const isLoadOver = this.loads.every(({ isOver }) => isOver);
      if (isLoadOver && this.sentAgain(goal)) continue;
      if (stalled.isOver(`${now.iteration ?? ''} ${load.answered}`))
        throw await this.stalledError(waiting, now);
      if (waiting.isBeyond(now, load)) throw this.passedError(waiting, load.answered);
      if (goal.when !== undefined || goal.phase !== undefined) {
        if (waiting.isUnreadable(now) && unmet.isOver('unreadable')) throw this.unreadableError(waiting, now);
        // A load that the engine takes as a whole and that still does not do it must grow.
        const state = `${now.running ?? now.batch ?? ''} ${now.waiting ?? ''} ${users}`;
        const canGrow = goal.when !== undefined && users < MOST_USERS && !this.driving.load.isOthers;
        if (canGrow && larger.isOver(state))
          this.send({ ...shape, users: Math.min(users, MOST_USERS - users) });
        if (!waiting.isUnreadable(now) && unmet.isOver(state)) throw this.unmetError(waiting, now, users);
      }
      await sleep(LOOK_MS);
    }
  }

  async end(): Promise<void> {
    this.own.abort();
    await Promise.all(this.loads.map(({ done }) => done));
  }

  private send(shape: LoadShape): void {
    const { load, url, say } = this.driving;
    const sending: Sending = { shape, done: Promise.resolve(), answered: 0, failed: 0, isOver: false };
    const onProgress = (answered: number, failed: number) => Object.assign(sending, { answered, failed });
    const driving = load.drive!(url, shape, { signal: this.own.signal, onNotice: say, onProgress });
    const settle = (error?: unknown) => {
      sending.isOver = true;
      if (!this.own.signal.aborted) sending.error = error;
    };
    this.loads.push(
      Object.assign(sending, {
        done: driving.then(
          failure => {
            sending.failure = failure;
            settle();
          },
          error => settle(error),
        ),
      }),
    );
    const total = this.users();
    say(
      load.isOthers
        ? 'watching the engine; requests come from elsewhere'
        : this.loads.length === 1
          ? `sending requests, ${total} at a time`
          : `sending more requests: ${total} at a time`,
    );
  }

  private loadState({ outputTokens, once }: LoadShape): LoadState {
    const [users, answered] = [this.users(), this.sum('answered')];
    const { heard: readings, countedAtMs } = this.driving.engine;
    const inFlight = once ? { inFlight: users - answered } : {};
    return { users, answered, readings, countedAtMs, outputTokens, ...inFlight };
  }

  private users = (): number => this.loads.reduce((sum, { shape }) => sum + shape.users, 0);
  private sum = (name: 'answered' | 'failed'): number =>
    this.loads.reduce((total, load) => total + load[name], 0);

  private throwLoadError(): void {
    const failed = this.loads.find(({ error }) => error !== undefined);
    if (failed) throw failed.error;
  }

  /** A wave is sent once, so that no prompt comes in later; one that ended too early is sent again, longer. */
  private sentAgain({ phase }: WindowGoal): boolean {
    this.throwLoadError();
    const { shape } = this.loads[0];
    if (phase === undefined)
      throw new UserError(
        'capture-failed',
        'The requests ended before the window did.',
        'Record fewer steps (--steps), or give longer outputs: --output-tokens N',
      );
    if (++this.waves > MOST_WAVES)
      throw new UserError(
        'capture-failed',
        `All requests ended before the engine was in ${phase} alone, also with ${shape.outputTokens} output tokens.`,
        'Use fewer requests (--levels concurrent:N), or longer outputs: --output-tokens N',
      );
    this.loads.length = 0;
    this.send({ ...shape, outputTokens: 2 * shape.outputTokens });
    return true;
  }

  /** Only what counts steps can be wrong about them. A counter that stands is, if requests complete meanwhile. */
  private distrust(goal: WindowGoal, now: EngineCounters, answered: number, stands: Patience): void {
    if (goal.iteration === undefined && goal.steps === undefined) return;
    const { wentBack } = this.driving.engine;
    if (now.iteration !== this.standing.at) this.standing = { at: now.iteration, answered };
    if (wentBack) {
      this.blind(
        `the engine's counter went back from ${wentBack.from} to ${wentBack.to}: it was restarted, or several engines answer at this address`,
      );
    } else if (
      stands.isOver(String(now.iteration)) &&
      now.iteration !== undefined &&
      answered > this.standing.answered
    )
      this.blind(`the engine's counter stands at ${now.iteration} while requests complete`);
  }

  private blind(why: string): void {
    this.isBlind = true;
    this.driving.say(`${why}. It is no longer used; requests are sent until the report is there`);
  }

  private async stalledError(waiting: GoalWait, now: EngineCounters): Promise<UserError> {
    // Why requests failed is known when they are over.
    await this.end();
    const count = this.sum('failed');
    const why = this.loads.find(({ failure }) => failure !== undefined)?.failure;
    const failed = count > 0 ? `, ${count} failed${why ? `: ${why}` : ''}` : '';
    const seconds = Math.max(1, Math.round(this.patienceMs / 1000));
    return new UserError(
      'capture-failed',
      `${waiting.whereText(now)}: nothing happened for ${seconds} s. No request completed${failed}. The engine ran no step.`,
      'Check the server log: it may be out of memory, or wait for another process.',
    );
  }

  private passedError(waiting: GoalWait, answered: number): UserError {
    return new UserError(
      'capture-failed',
      `No report was written, although ${plural(answered, 'request')} completed, which takes more steps than the window (${waiting.goalText()}). The engine reports no step counter: ${this.driving.engine.silence()}.`,
      'Check that the engine opens the range: the plan (--dry-run) shows how. TensorRT-LLM counts in its log with print_iter_log: true.',
    );
  }

  private unreadableError(waiting: GoalWait, now: EngineCounters): UserError {
    const reported = Object.keys(now).filter(name => waiting.canName(name));
    return new UserError(
      'capture-failed',
      reported.length > 0
        ? `The engine does not report ${waiting.missing(now).join(' and ')}, which ${waiting.goalText()} needs. It reports ${reported.join(', ')}.`
        : `${waiting.goalText()} cannot be checked: the engine reports no counters. ${capitalized(this.driving.engine.silence())}.`,
      'See docs/capture.md for what each engine reports and how to turn it on, or give --iterations.',
    );
  }

  private unmetError(waiting: GoalWait, now: EngineCounters, users: number): UserError {
    return new UserError(
      'capture-failed',
      `${waiting.goalText()} was not reached in ${Math.round(this.patienceMs / 1000)} s with ${users} requests at a time: ${stateText(now)}.`,
      (now.waiting ?? 0) > 0
        ? 'The engine takes no larger batch: check its maximum batch size and its KV cache, or lower the condition.'
        : 'Send more at a time (--levels concurrent:N) or longer requests (--output-tokens N), or lower the condition.',
    );
  }
}
