/** The step time after changes: the recorded launch graph and the changed one replayed, and what lies between them. */
import { formatShare } from '../../base/units.js';
import { findGpu, peakFromProfile } from '../../catalog/gpus.js';
import { GC_WATCHED } from '../../catalog/host-activities.js';
import type { Phase } from '../../catalog/phases.js';
import { defaultPolicy } from '../../catalog/policy.js';
import { type TracingCost, tracingCosts } from '../../catalog/tracing-cost.js';
import { meanOf, totalOf } from '../../stats/mean.js';
import { type Analyzer, type Derived, NotRecorded } from '../analysis.js';
import { gc } from '../host/gc.js';
import { parseModelConfig } from '../inference/model-shape.js';
import { stepsOf } from '../inference/steps.js';
import { program } from '../program.js';
import { replayModels } from './build-models.js';
import type { Change, ChangeInput, ChangeOutcome, RoutingGain } from './change.js';
import { workFacts } from './change-facts.js';
import { type ModelError, modelError, predictionInterval } from './prediction-interval.js';
import { type ReplayTimes, replay, stepLengths } from './replay.js';
import { copyOf, type ReplayModel, withTypicalWaits } from './replay-model.js';
import { type Parts, replayedParts } from './replayed-parts.js';
import { tracedEvents } from './traced-events.js';

/** A step that the unchanged replay misses by more than this has no prediction. */
export const REPLAY_TOLERANCE = 0.05;

/** Nor has a step with more waits than this that nothing explains: a change may or may not remove them. */
const MOST_UNEXPLAINED = 0.1;

export interface PredictedChange {
  readonly change: Change;
  readonly outcome: ChangeOutcome;
  /** What it does to the mean step without the others; null where it was not applied. */
  readonly aloneNs: number | null;
  readonly error: ModelError;
}

export interface PhasePrediction {
  readonly phase: Phase;
  /** Steps behind the figures, and steps that were left out because they fill the pipeline or do not replay. */
  readonly steps: number;
  readonly leftOut: number;
  /** Largest deviation of the unchanged replay from a measured step, as a share of the step. */
  readonly replayError: number;
  /** Share of the step in waits of GPU work that neither launches nor other work explain. */
  readonly unexplained: number;
  readonly changes: readonly PredictedChange[];
  readonly from: Parts;
  readonly to: Parts;
  /** Of the change, in nanoseconds per step. */
  readonly interval: readonly [number, number];
  /** Requests per step before and after; undefined where the markers do not say. */
  readonly requests?: { readonly from: number; readonly to: number };
}

/** Why there is no prediction for a phase. */
export interface NoPrediction {
  readonly phase: Phase;
  readonly cannotTell: string;
}

interface PredictionSettings {
  readonly tracingCost?: TracingCost;
  readonly routingGain?: RoutingGain;
  /** Requests per step that a change of the batch asks for, and today's where the markers do not say. */
  readonly batch?: { readonly now?: number; readonly requests: number };
}

/** What a prediction reads. */
export const predictionSources: readonly Derived<unknown>[] = [
  replayModels,
  workFacts,
  tracedEvents,
  stepsOf,
  program,
  gc,
];

export function predictPhases(
  analyzer: Analyzer,
  changes: readonly Change[],
  settings: PredictionSettings = {},
): (PhasePrediction | NoPrediction)[] {
  const models = analyzer.get(replayModels);
  if (models.size === 0) throw new NotRecorded('engine steps', 'mark them with NVTX, or give --marker REGEX');
  return [...models].map(([phase, own]) => predictPhase(analyzer, phase, own, changes, settings));
}

function predictPhase(
  analyzer: Analyzer,
  phase: Phase,
  recorded: readonly ReplayModel[],
  changes: readonly Change[],
  settings: PredictionSettings,
): PhasePrediction | NoPrediction {
  const base = recorded.map(model => ({ model, times: replay(model) }));
  const worst = Math.max(...base.map(({ model, times }) => (times ? largestError(model, times) : Infinity)));
  const usable = base.filter(
    (one): one is Replayed =>
      one.times !== undefined && largestError(one.model, one.times) <= REPLAY_TOLERANCE,
  );
  if (usable.length === 0)
    return {
      phase,
      cannotTell: Number.isFinite(worst)
        ? `the replay of the recorded step misses it by ${(100 * worst).toFixed(0)}%: its dependencies are not all visible`
        : 'the recorded dependencies contradict each other',
    };
  const unexplained = unexplainedShare(usable);
  if (unexplained > MOST_UNEXPLAINED)
    return {
      phase,
      cannotTell: `${formatShare(unexplained)} of the step are waits on the GPU whose cause the profile does not show`,
    };
  const input = changeInput(analyzer, phase, settings);
  const models = usable.map(({ model }) => model);
  const together = applyAll(models, changes, input);
  const alone = changes.map(change => applyAll(models, [change], input));
  if (!together.replayed) return { phase, cannotTell: 'the changed launch graph contains a wait for itself' };
  const isApplied = (at: number) => together.outcomes[at].status === 'applied';
  const skipFirst = (k: number, { steps, beginNs }: ReplayModel) =>
    k === 0 &&
    steps.length >= 3 &&
    (beginNs < steps[0].windowStart - 1000 || changes.some(({ id }, at) => id === 'async' && isApplied(at)));
  const differences = changesPerStep(usable, together.replayed, skipFirst);
  const from = meanParts(usable, skipFirst);
  const to = meanParts(together.replayed, skipFirst);
  const predicted = changes.map((change, at): PredictedChange => {
    const { replayed } = alone[at];
    const ran = replayed && alone[at].outcomes[0].status === 'applied';
    return {
      change,
      outcome: together.outcomes[at],
      aloneNs: ran ? meanOf(changesPerStep(usable, replayed, skipFirst)) : null,
      error: modelError(change.id),
    };
  });
  const requests = requestsPerStep(models, input, settings.batch?.requests);
  return {
    phase,
    steps: differences.length,
    leftOut: recorded.reduce((sum, { steps }) => sum + steps.length, 0) - differences.length,
    replayError: Math.max(...usable.map(({ model, times }) => largestError(model, times))),
    unexplained,
    changes: predicted,
    from,
    to,
    interval: predictionInterval(
      differences,
      predicted.filter(({ outcome }) => outcome.status === 'applied'),
      [...from.values()].reduce((sum, ns) => sum + ns, 0),
    ),
    ...(requests ? { requests } : {}),
  };
}

export interface Replayed {
  readonly model: ReplayModel;
  readonly times: ReplayTimes;
}

export function largestError(model: ReplayModel, times: ReplayTimes): number {
  const lengths = stepLengths(model, times);
  return model.steps.reduce((worst, { windowStart, windowEnd }, k) => {
    const measured = windowEnd - windowStart;
    return Math.max(worst, measured > 0 ? Math.abs(lengths[k] / measured - 1) : 0);
  }, 0);
}

/** How much shorter the steps are when work waits for launches and other work only. */
function unexplainedShare(replayed: readonly Replayed[]): number {
  let [whole, explained] = [0, 0];
  for (const { model, times } of replayed) {
    const typical = withTypicalWaits(model);
    whole += totalOf(stepLengths(model, times));
    explained += totalOf(stepLengths(typical, replay(typical)!));
  }
  return whole > 0 ? Math.min(1, Math.max(0, 1 - explained / whole)) : 0;
}

/** The changes one after the other on a copy, and its replay; undefined where that deadlocks. */
function applyAll(models: readonly ReplayModel[], changes: readonly Change[], input: ChangeInput) {
  const edited = models.map(copyOf);
  const outcomes = changes.map(change => change.apply(edited, input));
  const replayed = edited.map(model => ({ model, times: replay(model) }));
  return {
    outcomes,
    replayed: replayed.every((one): one is Replayed => one.times !== undefined) ? replayed : undefined,
  };
}

type Skip = (k: number, model: ReplayModel) => boolean;

function changesPerStep(before: readonly Replayed[], after: readonly Replayed[], skip: Skip): number[] {
  return before.flatMap(({ model, times }, m) => {
    const [old, now] = [stepLengths(model, times), stepLengths(after[m].model, after[m].times)];
    return model.steps.flatMap((_, k) => (skip(k, model) ? [] : [now[k] - old[k]]));
  });
}

export function meanParts(replayed: readonly Replayed[], skip: Skip): Parts {
  const all = replayed.flatMap(({ model, times }) => replayedParts(model, times, k => !skip(k, model)));
  const sums = new Map<string, number>();
  for (const parts of all)
    for (const [part, ns] of parts) sums.set(part, (sums.get(part) ?? 0) + ns / all.length);
  return sums;
}

function changeInput(analyzer: Analyzer, phase: Phase, settings: PredictionSettings): ChangeInput {
  const { profile } = analyzer;
  const facts = analyzer.get(workFacts);
  const steps = analyzer.get(stepsOf)!.steps;
  const { model } = analyzer.settings;
  const moe = model === undefined ? undefined : parseModelConfig(model).moe;
  const gpu = profile.gpus.find(({ name }) => findGpu(name)) ?? profile.gpus[0];
  return {
    ...settings,
    tracingCost: settings.tracingCost ?? tracingCosts[profile.capture.profiler],
    phase,
    policy: analyzer.settings.policy ?? defaultPolicy,
    limits: peakFromProfile(gpu),
    factsOf: facts,
    tracedEvents: analyzer.get(tracedEvents),
    requestsOf: ({ steps: own }, k) => steps[own[k].step].facts.generationRequests ?? settings.batch?.now,
    ...(moe ? { experts: { count: moe.experts, perToken: moe.expertsPerToken } } : {}),
    hasNarrowWeights: analyzer.get(program).hasNarrowWeights,
    gcWatched: isWatched(analyzer),
  };
}

function isWatched(analyzer: Analyzer): boolean {
  return analyzer.run(gc).status === 'ok' || Boolean(analyzer.profile.capture.settings[GC_WATCHED]);
}

function requestsPerStep(models: readonly ReplayModel[], input: ChangeInput, batch: number | undefined) {
  const counts = models.flatMap(model => model.steps.map((_, k) => input.requestsOf(model, k)));
  if (counts.length === 0 || counts.includes(undefined)) return undefined;
  const from = meanOf(counts as number[]);
  return from > 0 ? { from, to: batch ?? from } : undefined;
}
