/** Two configurations compared: per phase an equation that adds up, whether it is more than noise, and what to doubt. */
import type { Static } from '../base/document.js';
import { formatCount } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { TRACED_EVENT_NS } from '../catalog/tracing-cost.js';
import { type Interval, stepDifference } from '../run/difference.js';
import { type Pairing, type PhasePair, pairPhases } from '../run/pair-phases.js';
import type { CellFacts, Configuration } from '../run/run.js';
import type { Sameness } from '../run/sameness.js';
import { type SideMeans, sideMeans } from '../run/side-means.js';
import { checkComparability, effectOf } from './comparability.js';
import type { phaseSchema } from './compare-schema.js';
import {
  type FamilyChange,
  type FigureChange,
  familyChanges,
  figureChanges,
  type LayerChange,
  layerChanges,
} from './details.js';
import type { Term } from './term-rows.js';
import { termsOf } from './terms.js';
import { type UndisturbedSteps, undisturbedSteps } from './undisturbed-steps.js';

interface CompareOptions {
  /** Changes below this part of the base's step are none that matters. */
  readonly threshold: number;
  /** Refuse where something had to be downgraded. */
  readonly onlyComparable?: boolean;
}

export const DEFAULT_THRESHOLD = 0.01;

/** `identical`: nothing differs at all. `unknown`: too few steps to tell. */
type StepVerdict = Static<typeof phaseSchema>['verdict'];

export interface PhaseComparison {
  readonly phase: CellFacts['phase'];
  readonly mixes: readonly { readonly mix: string; readonly weight: number }[];
  readonly onlyFrom: readonly string[];
  readonly onlyTo: readonly string[];
  readonly mixesDiffer: boolean;
  readonly from: SideMeans;
  readonly to: SideMeans;
  readonly changeNs: number;
  /** Of the base's step. */
  readonly changeShare: number;
  readonly interval: Interval | undefined;
  readonly noiseFloorNs: number | undefined;
  /** Two profilers cost the host different times: changes below this may be theirs. */
  readonly tracingFloorNs: number | undefined;
  readonly verdict: StepVerdict;
  readonly terms: readonly Term[];
  readonly families: readonly FamilyChange[];
  readonly figures: readonly FigureChange[];
  readonly layers: readonly LayerChange[];
  readonly stepNs: { readonly from: readonly number[]; readonly to: readonly number[] };
}

export interface Comparison {
  readonly from: Configuration;
  readonly to: Configuration;
  readonly comparable: 'yes' | 'with-reservations';
  readonly runsMeasured: boolean;
  readonly threshold: number;
  readonly checks: readonly Sameness[];
  readonly phases: readonly PhaseComparison[];
  readonly onlyFrom: Pairing['onlyFrom'];
  readonly onlyTo: Pairing['onlyTo'];
}

export function compareConfigurations(
  from: Configuration,
  to: Configuration,
  options: CompareOptions,
): Comparison {
  for (const side of [from, to]) requireGpuWork(side);
  const pairing = pairPhases(from, to);
  if (pairing.pairs.length === 0) throw nothingInCommon(from, to, pairing);
  const phases = pairing.pairs.map(pair => comparePhase(from, to, pair, options));
  const [main] = phases;
  requireStepsOfOneKind(from, to, kernelsOf(main.from), kernelsOf(main.to));
  const checks = checkComparability(from, to, pairing.pairs, main);
  const doubts = checks.filter(check => effectOf(check) === 'weakens');
  if (options.onlyComparable && doubts.length > 0) throw notComparable(from, to, doubts);
  return {
    from,
    to,
    comparable: doubts.length > 0 ? 'with-reservations' : 'yes',
    runsMeasured: from.runs.length > 1 || to.runs.length > 1,
    threshold: options.threshold,
    checks,
    phases,
    onlyFrom: pairing.onlyFrom,
    onlyTo: pairing.onlyTo,
  };
}

function comparePhase(
  from: Configuration,
  to: Configuration,
  pair: PhasePair,
  { threshold }: CompareOptions,
): PhaseComparison {
  const ours = sideMeans(pair, 'from', from.runs);
  const theirs = sideMeans(pair, 'to', to.runs);
  const profilers = ({ runs }: Configuration) =>
    [...new Set(runs.map(run => run.facts.profiler))].sort().join();
  const spellings = new Set(
    [...from.runs, ...to.runs].map(({ facts }) => `${facts.profiler} ${facts.profilerVersion}`),
  );
  const changeNs = theirs.wallNs - ours.wallNs;
  const changeShare = ours.wallNs > 0 ? changeNs / ours.wallNs : 0;
  const { interval, noise } = stepDifference(pair.mixes);
  const events = [...from.runs, ...to.runs].map(({ profile }) => profile.capture.hostEventsPerStep);
  const tracingFloorNs =
    profilers(from) !== profilers(to) ? Math.round(Math.max(...events) * TRACED_EVENT_NS) : undefined;
  const terms = termsOf(ours, theirs, spellings.size > 1);
  const figures = figureChanges(from, to, pair.phase, ours, theirs);
  const isZero = changeNs === 0 && terms.every(term => term.changeNs === 0);
  const inNoise =
    interval !== undefined &&
    ((interval[0] <= 0 && interval[1] >= 0) ||
      Math.abs(changeNs) <= (tracingFloorNs ?? 0) ||
      isReversed(changeNs, undisturbedSteps(figures)));
  const verdict: StepVerdict = isZero
    ? 'identical'
    : interval === undefined
      ? 'unknown'
      : inNoise
        ? 'not-measurable'
        : Math.abs(changeShare) < threshold
          ? 'below-threshold'
          : changeNs < 0
            ? 'faster'
            : 'slower';
  const stepNs = (side: 'from' | 'to') =>
    pair.mixes.flatMap(mix =>
      mix[side].flat().flatMap(cell => cell.stepNs.map((ns, i) => ns / cell.stepWindows[i])),
    );
  return {
    phase: pair.phase,
    mixes: pair.mixes.map(({ mix, weight }) => ({ mix, weight })),
    onlyFrom: pair.onlyFrom,
    onlyTo: pair.onlyTo,
    mixesDiffer: pair.mixesDiffer,
    from: ours,
    to: theirs,
    changeNs,
    changeShare,
    interval,
    noiseFloorNs: interval && noise.source === 'repeats' ? (interval[1] - interval[0]) / 2 : undefined,
    tracingFloorNs,
    verdict,
    terms,
    families: familyChanges(ours, theirs),
    figures,
    layers: layerChanges(ours, theirs),
    stepNs: { from: stepNs('from'), to: stepNs('to') },
  };
}

/** Without the profiler the other side is the faster one: recording alone may have made the difference. */
const isReversed = (changeNs: number, steps: UndisturbedSteps | undefined): boolean =>
  steps !== undefined && Math.sign(steps.to.ns - steps.from.ns) === -Math.sign(changeNs);

function requireGpuWork({ name, runs }: Configuration): void {
  const empty = runs.find(run => run.profile.cells.length === 0);
  if (!empty) return;
  throw new UserError(
    'usage',
    `${name} cannot be compared: no GPU work was recorded in ${empty.files.join(', ')}.`,
    'Profile the process that runs the model, not its client (stepscope info shows what a file contains).',
  );
}

/** A step guessed from repeating kernels may be a layer: beside steps that are known it must be of their size. */
const GUESSED_STEPS = 2;

const kernelsOf = ({ parts, kernels }: SideMeans): number =>
  [...parts].reduce((sum, [part, { count }]) => sum + (kernels.has(part) ? count : 0), 0);

function requireStepsOfOneKind(from: Configuration, to: Configuration, ours: number, theirs: number): void {
  const isGuess = ({ runs }: Configuration) =>
    runs.some(({ facts }) => facts.stepsFoundBy === 'kernel-sequence');
  if (isGuess(from) === isGuess(to)) return;
  if (Math.max(ours, theirs) < GUESSED_STEPS * Math.min(ours, theirs)) return;
  const [guessed, known] = isGuess(from) ? [from, to] : [to, from];
  throw new UserError(
    'usage',
    `${from.name} and ${to.name} are not comparable: the steps of ${guessed.name} were inferred from repeating kernels and may be layers; those of ${known.name} were not (${formatCount(Math.round(ours))} and ${formatCount(Math.round(theirs))} kernels per step).`,
    `Define the steps of ${guessed.name}: mark them with NVTX, or give --marker REGEX.`,
  );
}

const phaseWords = (phases: Pairing['onlyFrom']) =>
  phases.map(phase => phase ?? 'no steps').join(', ') || 'nothing';

function nothingInCommon(from: Configuration, to: Configuration, { onlyFrom, onlyTo }: Pairing): UserError {
  const speculates = (phases: Pairing['onlyFrom']) => phases.includes('speculative');
  const hint =
    speculates(onlyFrom) !== speculates(onlyTo)
      ? 'A speculative step generates several tokens: compare time per token (analyze --only token-time), not per step.'
      : 'Capture the same phase on both sides, or define the step marker with --marker REGEX.';
  return new UserError(
    'usage',
    `${from.name} and ${to.name} have no phase in common: ${phaseWords(onlyFrom)} vs ${phaseWords(onlyTo)}.`,
    hint,
  );
}

function notComparable(from: Configuration, to: Configuration, doubts: readonly Sameness[]): UserError {
  const list = doubts.map(({ label, values: [a, b] }) => `${label} (${a} vs ${b})`).join('; ');
  return new UserError(
    'usage',
    `${from.name} and ${to.name} are not comparable: ${list}.`,
    'Without --only-comparable, the figures are shown with this caveat.',
  );
}
