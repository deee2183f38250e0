/** One goal of a driven load, whether it is reached by what the engine reports, and how that is said. */
import { plural } from '../../base/units.js';
import type { EngineCounters } from '../../catalog/engine-counters.js';
import type { WindowGoal } from '../capture-plan.js';
import { counterNames, countersOf, holds, readCondition } from '../window-condition.js';

/** The engine closes a window at the start of the step after its last one. */
const STEPS_TO_CLOSE = 2;
/** A batch that stays the same for so many readings, while requests wait, is as large as it gets. */
const STEADY_READINGS = 4;
/** Speculative decoding gives several tokens per step; more than this is not credible. */
const TOKENS_PER_STEP = 4;

export interface LoadState {
  readonly users: number;
  readonly answered: number;
  readonly readings: number;
  readonly countedAtMs: number;
  /** Of a wave, which does not send again: those without an answer. */
  readonly inFlight?: number;
  /** Of a wave: those whose first token has arrived. */
  readonly begun?: number;
  readonly outputTokens: number;
  /** Requests are sent from here. */
  readonly isOurs: boolean;
}

export const stateText = (now: EngineCounters): string =>
  counterNames
    .filter(name => now[name] !== undefined)
    .map(name => `${name} ${Math.round(now[name]! * 10) / 10}${name === 'kv' ? '%' : ''}`)
    .join(', ');

export class GoalWait {
  private readonly condition;
  private readonly beganMs = performance.now();
  private firstAnswered: number | undefined;
  private firstIteration: number | undefined;
  private steadyReadings = 0;
  private lastReading = -1;
  private largestBatch = 0;
  /** Then the first token of a request shows that its prompt was processed. */
  private seesAnswers = false;

  constructor(private readonly goal: WindowGoal) {
    this.condition = goal.when === undefined ? undefined : readCondition(goal.when);
  }

  /** The goal is the end of a window, not its beginning. */
  get isWindow(): boolean {
    return this.goal.iteration !== undefined || this.goal.steps !== undefined;
  }

  isReached(now: EngineCounters, load: LoadState): boolean {
    this.firstAnswered ??= load.answered;
    this.seesAnswers = load.isOurs;
    // Steps are counted from a report that is newer than the window.
    if (load.countedAtMs >= this.beganMs) this.firstIteration ??= now.iteration;
    this.noteSteadiness(now, load.readings);
    const { iteration, steps, full, phase } = this.goal;
    if (iteration !== undefined)
      return now.iteration !== undefined && now.iteration >= iteration + STEPS_TO_CLOSE;
    if (steps !== undefined)
      return now.iteration === undefined
        ? load.inFlight === 0 || this.tokensPerUser(load) > TOKENS_PER_STEP * steps
        : now.iteration - (this.firstIteration ?? now.iteration) >= steps + STEPS_TO_CLOSE;
    if (this.condition) return holds(this.condition, now);
    if (phase === 'decode')
      return now.prefill === undefined
        ? this.isPastPrefill(load)
        : now.prefill === false && this.isFull(now, load) && this.steadyReadings >= 1;
    if (phase === 'prefill') return now.prefill === true || load.answered >= load.users;
    return full === true && this.isFull(now, load);
  }

  /**
   * Every request runs, or the engine takes no more, or it is so fast that some are always between two requests.
   * Without counters: every user has had an answer.
   */
  private isFull(now: EngineCounters, load: LoadState): boolean {
    const batch = now.running ?? now.batch;
    if (batch === undefined) return load.answered >= load.users;
    const needed = load.inFlight === undefined ? load.users : Math.max(load.inFlight, load.users / 2);
    if (batch >= needed) return true;
    if ((now.waiting ?? 0) > 0) return this.steadyReadings >= STEADY_READINGS;
    return load.answered >= 2 * load.users && this.steadyReadings >= 3 * STEADY_READINGS;
  }

  /** Without a counter of the engine: every request of the wave has its first token, and most go on. */
  private isPastPrefill({ begun = 0, users, inFlight = 0 }: LoadState): boolean {
    return begun >= users && inFlight >= users / 2;
  }

  /** Readings since the batch was last larger than ever before. */
  private noteSteadiness(now: EngineCounters, readings: number): void {
    if (readings === this.lastReading) return;
    this.lastReading = readings;
    const batch = now.running ?? now.batch ?? 0;
    const isLarger = batch > this.largestBatch;
    this.steadyReadings = isLarger || batch === 0 ? 0 : this.steadyReadings + 1;
    if (isLarger) this.largestBatch = batch;
  }

  isUnreadable(now: EngineCounters): boolean {
    return this.missing(now).length > 0;
  }

  missing(now: EngineCounters): string[] {
    if (this.condition) return countersOf(this.condition).filter(name => now[name] === undefined);
    const { phase } = this.goal;
    return phase && now.prefill === undefined && !this.seesAnswers ? ['which steps are prefill'] : [];
  }

  canName = (name: string): boolean => (counterNames as readonly string[]).includes(name);

  /** Without a counter: more tokens were generated than any window that early can take, and still no report. */
  isBeyond(now: EngineCounters, load: LoadState): boolean {
    const { iteration } = this.goal;
    if (iteration === undefined || now.iteration !== undefined) return false;
    return this.tokensPerUser(load) > TOKENS_PER_STEP * (iteration + 1);
  }

  /** Of requests that one user sent after another since the goal was set: each token but the first takes a step. */
  private tokensPerUser({ users, answered, outputTokens }: LoadState): number {
    // The first request of each user may have begun before.
    const rounds = Math.floor((answered - (this.firstAnswered ?? answered)) / users) - 1;
    return Math.max(0, rounds) * outputTokens;
  }

  goalText(): string {
    const { iteration, steps, full, phase } = this.goal;
    if (iteration !== undefined) return `iteration ${iteration}`;
    if (steps !== undefined) return plural(steps, 'step');
    if (this.condition) return this.condition.text;
    return phase ? `${phase} alone` : full ? 'a full batch' : 'the window';
  }

  whereText(now: EngineCounters): string {
    const { iteration, steps } = this.goal;
    if (iteration !== undefined && now.iteration !== undefined)
      return `Iteration ${now.iteration} of ${iteration}`;
    if (steps !== undefined && now.iteration !== undefined)
      return `Step ${now.iteration - (this.firstIteration ?? now.iteration)} of ${steps}`;
    const state = stateText(now);
    return `Waiting for ${this.goalText()}${state ? ` (${state})` : ''}`;
  }

  progressText(now: EngineCounters, { answered }: LoadState): string {
    const where = this.whereText(now);
    const goal = this.goal.iteration ?? this.goal.steps;
    const begin = this.firstIteration;
    const text = where.charAt(0).toLowerCase() + where.slice(1);
    if (goal === undefined || now.iteration === undefined || begin === undefined)
      return `${text}, ${plural(answered, 'request')} completed`;
    const done = now.iteration - begin;
    const left = (this.goal.iteration === undefined ? goal + begin : goal) - now.iteration;
    const seconds = done > 0 ? (left * (performance.now() - this.beganMs)) / done / 1000 : undefined;
    return seconds === undefined || left <= 0 ? text : `${text}, about ${secondsText(seconds)} left`;
  }
}

function secondsText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
