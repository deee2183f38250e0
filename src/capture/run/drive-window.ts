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
import type { RequestShape, WindowGoal } from '../capture-plan.js';
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
  /** Why there will be no report, as soon as that is known. */
  readonly hopeless: () => UserError | undefined;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly progress: (text: string) => void;
  /** How long nothing may happen. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 120_000;
/** Of that, before anything was answered. */
const BEFORE_FIRST = 5;
const LOOK_MS = 100;
const MOST_WAVES = 3;
/** Beyond this a larger load shows only how the queue grows. */
const MOST_USERS = 512;

/** One load under way, and how it goes. */
interface Sending {
  readonly shape: RequestShape;
  readonly done: Promise<void>;
  begun: number;
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

  constructor(readonly mostMs: number) {}

  isOver(state: string): boolean {
    if (state !== this.seen) {
      this.seen = state;
      this.sinceMs = Date.now();
    }
    return Date.now() - this.sinceMs > this.mostMs;
  }
}

type Limits = ReturnType<WindowDriver['limits']>;

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
  private hasBegun = false;
  private firstIteration: number | undefined;

  constructor(private readonly driving: Driving) {
    this.patienceMs = driving.patienceMs ?? PATIENCE_MS;
    driving.signal.addEventListener('abort', () => this.own.abort(), { once: true });
    if (driving.signal.aborted) this.own.abort();
  }

  async until(goal: WindowGoal, shape: RequestShape): Promise<void> {
    if (this.loads.length === 0) this.send(shape);
    const waiting = new GoalWait(goal);
    const limits = this.limits();
    while (!this.own.signal.aborted) {
      if (waiting.isWindow && this.driving.isWritten()) return;
      const hopeless = this.driving.hopeless();
      if (hopeless) throw hopeless;
      this.throwLoadError();
      const now = this.counters();
      const load = this.loadState(shape);
      if (waiting.isReached(now, load)) return;
      this.driving.progress(waiting.progressText(now, load));
      if (!this.isBlind) this.distrust(goal, now, load.answered, limits.counter);
      const isLoadOver = this.loads.every(({ isOver }) => isOver);
      if (isLoadOver && this.sentAgain(goal)) continue;
      if (waiting.isBeyond(now, load)) throw this.passedError(waiting, load.answered);
      // Others send when they like.
      if (!this.driving.load.isOthers) await this.refuseStall(waiting, now, load, limits);
      if (!waiting.isWindow) this.refuseUnmet(goal, waiting, now, load, limits);
      await sleep(LOOK_MS);
    }
  }

  private limits() {
    const of = (share: number) => new Patience(share * this.patienceMs);
    return {
      ...{ first: of(BEFORE_FIRST), stalled: of(1), counter: of(1), unmet: of(1), larger: of(1 / 20) },
      unreadable: new Patience(Math.max(this.patienceMs / 4, 1000)),
    };
  }

  private counters(): EngineCounters {
    const { engine } = this.driving;
    return this.isBlind ? { ...engine.counters(), iteration: undefined } : engine.counters();
  }

  /** Before the first step of an engine come compilation and autotuning, which take minutes. */
  private async refuseStall(
    waiting: GoalWait,
    now: EngineCounters,
    { answered }: LoadState,
    { first, stalled }: Limits,
  ): Promise<void> {
    this.firstIteration ??= now.iteration;
    const hasStepped = (now.iteration ?? 0) > (this.firstIteration ?? 0);
    this.hasBegun ||= hasStepped || answered > 0 || this.sum('failed') > 0;
    const limit = this.hasBegun ? stalled : first;
    // Any counter that moves shows that the engine works: not all report their steps.
    if (limit.isOver(`${JSON.stringify(now)} ${answered}`))
      throw await this.stalledError(waiting, now, limit.mostMs);
  }

  /** A load that does not do it grows; one that cannot is given up. */
  private refuseUnmet(
    goal: WindowGoal,
    waiting: GoalWait,
    now: EngineCounters,
    { users, answered }: LoadState,
    { unmet, unreadable, larger }: Limits,
  ): void {
    const isUnreadable = waiting.isUnreadable(now);
    const { engine } = this.driving;
    const isServing = answered + engine.heard > 0 || engine.isSilent;
    if (isUnreadable && isServing && unreadable.isOver('unreadable'))
      throw this.unreadableError(waiting, now);
    if (isUnreadable || goal.full || this.driving.load.isOthers || !this.hasBegun) return;
    const state = `${users} ${this.waves}`;
    if (goal.when !== undefined && users < MOST_USERS && larger.isOver(state)) {
      const { shape } = this.loads[0];
      this.send({ ...shape, users: Math.min(users, MOST_USERS - users) });
    } else if (unmet.isOver(state)) throw this.unmetError(waiting, now, users);
  }

  async end(): Promise<void> {
    this.own.abort();
    await Promise.all(this.loads.map(({ done }) => done));
  }

  private send(shape: RequestShape): void {
    const { load, url, say } = this.driving;
    const sending: Sending = {
      ...{ shape, done: Promise.resolve(), begun: 0, answered: 0, failed: 0, isOver: false },
    };
    const onProgress = (answered: number, failed: number) => Object.assign(sending, { answered, failed });
    const onBegun = () => void sending.begun++;
    const context = { signal: this.own.signal, onNotice: say, onProgress, onBegun };
    const driving = load.drive!(url, shape, context);
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

  private loadState({ outputTokens, once }: RequestShape): LoadState {
    const [users, answered] = [this.users(), this.sum('answered')];
    const { heard: readings, countedAtMs } = this.driving.engine;
    const isOurs = !this.driving.load.isOthers;
    const inFlight = once ? { inFlight: users - answered, begun: this.sum('begun') } : {};
    return { users, answered, readings, countedAtMs, outputTokens, isOurs, ...inFlight };
  }

  private users = (): number => this.loads.reduce((sum, { shape }) => sum + shape.users, 0);
  private sum = (name: 'begun' | 'answered' | 'failed'): number =>
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

  private async stalledError(waiting: GoalWait, now: EngineCounters, ms: number): Promise<UserError> {
    // Why requests failed is known when they are over.
    await this.end();
    const count = this.sum('failed');
    const why = this.loads.find(({ failure }) => failure !== undefined)?.failure;
    const failed = count > 0 ? `, ${count} failed${why ? `: ${why}` : ''}` : '';
    const seconds = Math.max(1, Math.round(ms / 1000));
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
      'Check that the engine opens the range: the plan (--dry-run) shows how.',
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
