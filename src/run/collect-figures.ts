/** The metrics of a run, from its profile. Absent where not recorded. */
import type { AnalysisInput, Derived } from '../analyze/analysis.js';
import { graphCoverage } from '../analyze/gpu/graph-coverage.js';
import { kernelFamilies } from '../analyze/gpu/kernel-families.js';
import { kernelsPerStep } from '../analyze/gpu/kernels-per-step.js';
import { memoryInUse } from '../analyze/gpu/memory-in-use.js';
import { gc } from '../analyze/host/gc.js';
import { gil } from '../analyze/host/gil.js';
import { iterations } from '../analyze/inference/iterations.js';
import { stepBudget } from '../analyze/inference/step-budget.js';
import { tokenTime } from '../analyze/inference/token-time.js';
import { undisturbedStep } from '../analyze/undisturbed/undisturbed-step.js';
import { type IdleCause, idleCauses } from '../catalog/idle-causes.js';
import { families } from '../catalog/kernels/families.js';
import { type Phase, phases } from '../catalog/phases.js';
import { totalOf } from '../stats/mean.js';
import { percentile } from '../stats/percentile.js';
import { blockBootstrapError, degreesOf, type Estimate, estimate } from '../stats/resample.js';
import { type Metric, metrics } from './metrics.js';
import type { Figures, Run, Scope } from './run.js';
import { partOf, type StepSamples, stepSamples } from './step-samples.js';

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

/** Figures of every phase and of the run, and the wall times of its steps. */
export const runFigures: Derived<Pick<Run, 'figures' | 'steps'>> = {
  id: 'run-figures',
  reads: {},
  uses: [
    stepSamples,
    iterations,
    stepBudget,
    undisturbedStep,
    kernelFamilies,
    kernelsPerStep,
    graphCoverage,
    tokenTime,
    memoryInUse,
    gc,
    gil,
  ],
  compute(input) {
    const samples = input.useIfRecorded(stepSamples) ?? new Map<Phase, StepSamples>();
    const walls = new Map<Phase, number[]>();
    for (const { selected, phase, wallNs } of input.use(iterations).rows) {
      if (!selected) continue;
      const own = walls.get(phase);
      if (own) own.push(wallNs);
      else walls.set(phase, [wallNs]);
    }
    const figures: { [Name in Scope]?: Figures } = {};
    for (const [phase, own] of walls)
      figures[phase] = figuresInOrder([
        ...stepFigures(own, samples.get(phase)),
        ...budgetFigures(input, samples.get(phase), samples),
        ...workFigures(input, phase, samples.get(phase)),
      ]);
    const peaks = input.useIfRecorded(memoryInUse)?.rows.map(row => row.peakBytes) ?? [];
    if (peaks.length > 0) figures.run = figuresInOrder([['memory.peak', Math.max(...peaks)]]);
    const steps = Object.fromEntries([...walls].map(([phase, own]) => [phase, thin(own)]));
    return { figures: inOrder(figures), steps: inOrder(steps) };
  },
};

/** Phases as the catalogue has them, so that files are the same whatever came first in the capture. */
const inOrder = <Value>(byPhase: { readonly [name: string]: Value }): { [name: string]: Value } =>
  Object.fromEntries(
    [...phases.map(({ id }) => id as string), 'run'].flatMap(id =>
      id in byPhase ? [[id, byPhase[id]]] : [],
    ),
  );

type Entry = readonly [id: string, value: number, error?: number];

/** In the order of the registry, so that files are the same whatever the order they were computed in. */
export function figuresInOrder(entries: readonly Entry[]): Figures {
  const known = new Map(entries.map(([id, value, error]) => [id, { value, error }]));
  return Object.fromEntries(
    metrics.flatMap(({ id }): [string, Estimate][] => {
      const found = known.get(id);
      if (!found || !Number.isFinite(found.value)) return [];
      const value = rounded(found.value);
      return [[id, found.error === undefined ? { value } : { value, error: rounded(found.error) }]];
    }),
  );
}

/** Evenly over the capture: what comes later must be seen too. */
function thin(walls: readonly number[]): number[] {
  const stride = Math.ceil(walls.length / MOST_STEPS);
  return walls.filter((_, i) => i % stride === 0).map(ns => rounded(ns, 5));
}

/** Of sum(part) by sum(whole) over the steps. */
const ratio = (id: string, part: ArrayLike<number>, whole: ArrayLike<number>): Entry => {
  const { value, error } = estimate([{ weight: 1, part, whole }]);
  return [id, value, error];
};

/** The mean is over steps and devices, as everywhere a step is compared; percentiles are of steps. */
function stepFigures(walls: readonly number[], own: StepSamples | undefined): Entry[] {
  const ones = walls.map(() => 1);
  return [
    ...[50, 90, 99].map((percent): Entry => [`step.p${percent}`, percentile(walls, percent)]),
    ratio('step.mean', own?.wallNs ?? walls, own?.windows ?? ones),
  ];
}

function budgetFigures(
  input: AnalysisInput,
  own: StepSamples | undefined,
  all: ReadonlyMap<Phase, StepSamples>,
): Entry[] {
  if (!own || totalOf(own.wallNs) === 0) return [];
  const hidden = input.useIfRecorded(stepBudget)?.summary?.graphReplaysHidden === true;
  const share = (id: string): Entry => ratio(id, partOf(own, id), own.wallNs);
  const causes = idleCauses.filter(({ id }) => isTold(input, id, all));
  return [
    share('idle'),
    ...causes.map(({ id }) => share(`idle.${id}`)),
    // Inside replays recorded as blocks both may run unseen.
    ...(hidden ? [] : [share('communication.exposed'), share('copies.exposed')]),
    ...(own.parts.has('communication.waiting')
      ? [share('communication.waiting'), share('communication.transferring')]
      : []),
  ];
}

/** Whether no idle time of a cause means that there was none. */
function isTold(
  { profile: { tables }, useIfRecorded }: AnalysisInput,
  cause: IdleCause,
  all: ReadonlyMap<Phase, StepSamples>,
): boolean {
  if ([...all.values()].some(samples => partOf(samples, `idle.${cause}`).some(ns => ns > 0))) return true;
  if (ALWAYS_TOLD.includes(cause)) return tables.apiCalls !== undefined;
  if (cause === 'garbage-collection') return useIfRecorded(gc) !== undefined;
  if (cause === 'gil') return useIfRecorded(gil) !== undefined;
  if (cause === 'os-call') return tables.osCalls !== undefined;
  return false;
}

function workFigures({ useIfRecorded }: AnalysisInput, phase: Phase, own: StepSamples | undefined): Entry[] {
  const entries: Entry[] = [];
  const error = (part: number[], whole = own?.windows) =>
    own && estimate([{ weight: 1, part, whole: whole! }]).error;
  const undisturbed = useIfRecorded(undisturbedStep)?.rows.find(row => row.phase === phase);
  if (undisturbed) {
    // Both bounds are about twice a standard error away.
    const spread = (undisturbed.highNs - undisturbed.lowNs) / 4;
    entries.push(['step.undisturbed', undisturbed.undisturbedNs, spread]);
  }
  const counts = useIfRecorded(kernelsPerStep)?.rows.find(row => row.phase === phase);
  if (counts) {
    const spread = counts.fewest === counts.most ? 0 : error(own?.kernels ?? []);
    entries.push(['kernels', counts.kernels, spread]);
    entries.push(['kernel-time', counts.kernelNs, error(own?.kernelNs ?? [])]);
  }
  for (const { family, phases: parts } of useIfRecorded(kernelFamilies)?.rows ?? []) {
    const part = parts.find(candidate => candidate.phase === phase);
    const index = families.findIndex(({ id }) => id === family);
    if (part) entries.push([`family.${family}`, part.nsPerStep, error(own?.familyNs[index] ?? [])]);
  }
  const coverage = useIfRecorded(graphCoverage)?.rows.find(row => row.phase === phase);
  if (coverage) entries.push(['graph.coverage', coverage.timeShare]);
  const token = useIfRecorded(tokenTime)?.rows.find(row => row.phase === phase);
  if (token) {
    const spread = error(own?.wallNs ?? [], own?.tokens);
    const rate = 1e9 / token.perTokenNs;
    entries.push(['token.time', token.perTokenNs, spread]);
    entries.push(['token.rate', rate, spread && (rate * spread) / token.perTokenNs]);
  }
  return entries;
}

/** A family without kernels took no time, where kernels were recorded at all. */
export function runFigure(run: Run, scope: Scope, metric: string): Estimate | undefined {
  const own = run.figures[scope];
  const found = own && Object.hasOwn(own, metric) ? own[metric] : undefined;
  if (found || !own || !metric.startsWith('family.')) return found;
  return Object.hasOwn(own, 'kernel-time') ? { value: 0, error: 0 } : undefined;
}

/** The figure with its error over the steps and how much that error can be relied on. */
export function estimateOf(run: Run, scope: Scope, metric: Metric): Estimate | undefined {
  const figure = runFigure(run, scope, metric.id);
  if (!figure) return undefined;
  const { percentile: percent } = metric;
  const steps = run.steps[scope as Phase] ?? [];
  const error =
    percent === undefined ? figure.error : blockBootstrapError(steps, drawn => percentile(drawn, percent));
  const degrees = degreesOf(run.facts.phases[scope as Phase]?.steps ?? 0);
  return error === undefined ? { value: figure.value } : { value: figure.value, error, degrees };
}
