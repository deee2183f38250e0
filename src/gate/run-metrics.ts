/** The metrics of one run, from its profile. Absent where not recorded. */
import type { Analysis, AnalysisResult, Analyzer, Derived } from '../analyze/analysis.js';
import { NotRecorded } from '../analyze/analysis.js';
import { graphCoverage } from '../analyze/gpu/graph-coverage.js';
import { kernelFamilies } from '../analyze/gpu/kernel-families.js';
import { kernelsPerStep } from '../analyze/gpu/kernels-per-step.js';
import { memoryInUse } from '../analyze/gpu/memory-in-use.js';
import { gc } from '../analyze/host/gc.js';
import { gil } from '../analyze/host/gil.js';
import { iterations } from '../analyze/inference/iterations.js';
import { layers } from '../analyze/inference/layers.js';
import { stepBudget } from '../analyze/inference/step-budget.js';
import { tokenTime } from '../analyze/inference/token-time.js';
import { LEAST_SAMPLES, percentile, ratioError } from '../base/resample.js';
import { type IdleCause, idleCauses } from '../catalog/idle-causes.js';
import { families } from '../catalog/kernels/families.js';
import type { Phase } from '../catalog/phases.js';
import { metrics } from './metrics.js';
import { cleanText, type RunFacts, runFacts } from './run-facts.js';
import { partOf, type StepSamples, sampleSources, stepSamples } from './step-samples.js';

interface Figure {
  readonly value: number;
  /** Standard error from the spread between the steps of the run; absent where that says nothing. */
  readonly error?: number;
}

/** A phase, or `run` for what is about the whole run. */
export type Scope = Phase | 'run';
export type Figures = { readonly [metric: string]: Figure };

export interface RunMetrics {
  /** Base names of the files. */
  readonly files: readonly string[];
  readonly facts: RunFacts;
  readonly figures: { readonly [Name in Scope]?: Figures };
  /** Wall times of the steps in order, nanoseconds rounded to five digits, at most MOST_STEPS of each phase. */
  readonly steps: { readonly [Name in Phase]?: readonly number[] };
}

/** Everything the metrics are made from: what a command has to read of a file. */
export const metricSources: readonly Derived<unknown>[] = [
  ...sampleSources,
  iterations,
  stepBudget,
  kernelFamilies,
  kernelsPerStep,
  graphCoverage,
  tokenTime,
  memoryInUse,
  layers,
  gc,
  gil,
];

const MOST_STEPS = 512;
/** Both sides of a comparison are rounded alike, so that a file of baselines stays readable and loses nothing. */
const rounded = (value: number, digits = 8): number => Number(value.toPrecision(digits));

/** Causes that can be told from API calls alone; the others are zero only where something of the kind was recorded. */
const ALWAYS_TOLD: readonly IdleCause[] = [
  'launch-bound',
  'synchronisation',
  'allocation',
  'host-code',
  'device-wait',
];

/** The run as its profile shows it; `withBench` adds what a benchmark of it said. */
export function measureRun(analyzer: Analyzer): RunMetrics {
  const facts = runFacts(analyzer);
  const samples = ask(() => stepSamples(analyzer)) ?? new Map<Phase, StepSamples>();
  const walls = wallTimes(analyzer);
  const figures: { [Name in Scope]?: Figures } = {};
  for (const phase of Object.keys(facts.phases) as Phase[]) {
    const own = samples.get(phase);
    figures[phase] = figuresInOrder([
      ...stepFigures(walls.get(phase) ?? []),
      ...(own ? budgetFigures(analyzer, own, samples) : []),
      ...workFigures(analyzer, phase, own),
    ]);
  }
  const ofRun = figuresInOrder(runFigures(analyzer));
  if (Object.keys(ofRun).length > 0) figures.run = ofRun;
  return {
    files: analyzer.profile.capture.files.map(cleanText),
    facts,
    figures,
    steps: Object.fromEntries(
      (Object.keys(facts.phases) as Phase[]).map(phase => [phase, thin(walls.get(phase) ?? [])]),
    ),
  };
}

type Entry = readonly [id: string, value: number, error?: number];

/** In the order of the registry, so that files are the same whatever the order they were computed in. */
export function figuresInOrder(entries: readonly Entry[]): Figures {
  const known = new Map(entries.map(([id, value, error]) => [id, { value, error }]));
  return Object.fromEntries(
    metrics.flatMap(({ id }): [string, Figure][] => {
      const found = known.get(id);
      if (!found || !Number.isFinite(found.value)) return [];
      const value = rounded(found.value);
      return [[id, found.error === undefined ? { value } : { value, error: rounded(found.error, 3) }]];
    }),
  );
}

function ask<Result>(get: () => Result): Result | undefined {
  try {
    return get();
  } catch (error) {
    if (error instanceof NotRecorded) return undefined;
    throw error;
  }
}

const rowsOf = <Row extends { readonly key: string }>(
  analyzer: Analyzer,
  analysis: Analysis<Row, AnalysisResult<Row>>,
): readonly Row[] => ask(() => analyzer.get(analysis))?.rows ?? [];

function wallTimes(analyzer: Analyzer): Map<Phase, number[]> {
  const walls = new Map<Phase, number[]>();
  for (const row of rowsOf(analyzer, iterations)) {
    if (!row.selected) continue;
    const list = walls.get(row.phase);
    if (list) list.push(row.wallNs);
    else walls.set(row.phase, [row.wallNs]);
  }
  return walls;
}

/** Evenly over the capture: what comes later must be seen too. */
function thin(walls: readonly number[]): number[] {
  const stride = Math.ceil(walls.length / MOST_STEPS);
  return walls.filter((_, i) => i % stride === 0).map(ns => rounded(ns, 5));
}

function stepFigures(walls: readonly number[]): Entry[] {
  if (walls.length === 0) return [];
  const mean = walls.reduce((sum, ns) => sum + ns, 0) / walls.length;
  const ones = walls.map(() => 1);
  return [
    ...[50, 90, 99].map((percent): Entry => [`step.p${percent}`, percentile(walls, percent)]),
    ['step.mean', mean, ratioError(walls, ones)],
  ];
}

function budgetFigures(analyzer: Analyzer, own: StepSamples, all: ReadonlyMap<Phase, StepSamples>): Entry[] {
  const wallNs = own.wallNs.reduce((sum, ns) => sum + ns, 0);
  if (wallNs === 0) return [];
  const hidden = ask(() => analyzer.get(stepBudget))?.summary?.graphReplaysHidden === true;
  const share = (id: string): Entry => {
    const part = partOf(own, id);
    return [id, part.reduce((sum, ns) => sum + ns, 0) / wallNs, ratioError(part, own.wallNs)];
  };
  const causes = idleCauses.filter(({ id }) => isTold(analyzer, id, all));
  return [
    share('idle'),
    ...causes.map(({ id }) => share(`idle.${id}`)),
    // Inside replays recorded as blocks both may run unseen.
    ...(hidden ? [] : [share('communication.exposed'), share('copies.exposed')]),
  ];
}

/** Whether no idle time of a cause means that there was none. */
function isTold(analyzer: Analyzer, cause: IdleCause, all: ReadonlyMap<Phase, StepSamples>): boolean {
  const { tables } = analyzer.profile;
  if ([...all.values()].some(samples => samples.parts.has(`idle.${cause}`) && hasTime(samples, cause)))
    return true;
  if (ALWAYS_TOLD.includes(cause)) return tables.apiCalls !== undefined;
  if (cause === 'garbage-collection') return analyzer.run(gc).status === 'ok';
  if (cause === 'gil') return analyzer.run(gil).status === 'ok';
  if (cause === 'os-call') return tables.osCalls !== undefined;
  return false;
}

const hasTime = (samples: StepSamples, cause: IdleCause): boolean =>
  partOf(samples, `idle.${cause}`).some(ns => ns > 0);

function workFigures(analyzer: Analyzer, phase: Phase, own: StepSamples | undefined): Entry[] {
  const entries: Entry[] = [];
  const perWindow = (list: number[] | undefined) => own && list && ratioError(list, own.windows);
  const counts = rowsOf(analyzer, kernelsPerStep).find(row => row.phase === phase);
  if (counts) {
    const spread = counts.fewest === counts.most ? 0 : perWindow(own?.kernels);
    entries.push(['kernels', counts.kernels, spread]);
    entries.push(['kernel-time', counts.kernelNs, perWindow(own?.kernelNs)]);
  }
  for (const { family, phases } of rowsOf(analyzer, kernelFamilies)) {
    const part = phases.find(candidate => candidate.phase === phase);
    const index = families.findIndex(({ id }) => id === family);
    if (part) entries.push([`family.${family}`, part.nsPerStep, perWindow(own?.familyNs[index])]);
  }
  const coverage = rowsOf(analyzer, graphCoverage).find(row => row.phase === phase);
  if (coverage) entries.push(['graph.coverage', coverage.timeShare]);
  const token = rowsOf(analyzer, tokenTime).find(row => row.phase === phase);
  if (token) {
    const error = own && own.wallNs.length >= LEAST_SAMPLES ? ratioError(own.wallNs, own.tokens) : undefined;
    const rate = 1e9 / token.perTokenNs;
    entries.push(['token.time', token.perTokenNs, error]);
    entries.push(['token.rate', rate, error === undefined ? undefined : (rate * error) / token.perTokenNs]);
  }
  return entries;
}

function runFigures(analyzer: Analyzer): Entry[] {
  const peaks = rowsOf(analyzer, memoryInUse).map(row => row.peakBytes);
  return peaks.length === 0 ? [] : [['memory.peak', peaks.reduce((a, b) => Math.max(a, b))]];
}

/** A family without kernels took no time, where kernels were recorded at all. */
export function figureOf(run: RunMetrics, scope: Scope, metric: string): Figure | undefined {
  const own = run.figures[scope];
  const found = own && Object.hasOwn(own, metric) ? own[metric] : undefined;
  if (found || !own || !metric.startsWith('family.')) return found;
  return Object.hasOwn(own, 'kernel-time') ? { value: 0, error: 0 } : undefined;
}
