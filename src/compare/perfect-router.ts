/**
 * Is uneven routing to experts what makes a mixture-of-experts model slow? A run with the learned router beside one in
 * which every expert gets the same share (ENABLE_PERFECT_ROUTER=1). As TensorRT-LLM's guides read the pair: similar,
 * look elsewhere; more than 10% faster, routing is the bottleneck. Here with how sure that is, and what speaks against.
 */
import { seededRandom } from '../base/random.js';
import { benchMetrics } from '../catalog/bench-metrics.js';
import type { Phase } from '../catalog/phases.js';
import type { BenchRun } from '../model/bench-run.js';
import { compareBenchRuns } from './bench-difference.js';
import { checkPair, type PairCheck } from './perfect-router-checks.js';
import type { RouterPhase, RouterProfile, RouterSide, StepMeans } from './perfect-router-steps.js';

export interface RouterEvidence {
  readonly source: 'benchmark' | 'profile';
  readonly measure: string;
  readonly kind: 'rate' | 'ns';
  readonly phase: Phase | null;
  readonly normal: number;
  readonly perfect: number;
  /** Throughput with the perfect router by throughput without, − 1. */
  readonly gain: number;
  /** 95%: from repeats of the benchmark, or by drawing steps again; null: one run, or too few steps. */
  readonly interval: readonly [number, number] | null;
  /** Runs or steps on each side. */
  readonly samples: readonly [number, number];
}

/** What the step's parts say about where a gain comes from; of a profile alone. */
export interface RouterParts {
  readonly phase: Phase;
  readonly normalNs: StepMeans;
  readonly perfectNs: StepMeans;
  /** The gain, had only the time changed that routing can change: kernels, communication, waiting devices. */
  readonly gpuGain: number;
  /** That time itself, without by with, − 1: what routing does to the GPU, however long the host takes. */
  readonly routedGain: number;
  /** Of the normal step: the GPU waits, and not for another GPU. */
  readonly hostShare: number;
}

export type RouterConclusion =
  | 'similar'
  | 'small-gain'
  | 'bottleneck'
  | 'slower'
  | 'inconclusive'
  | 'contradictory'
  | 'not-comparable';

export interface RouterVerdict {
  readonly threshold: number;
  readonly conclusion: RouterConclusion;
  readonly confidence: 'certain' | 'likely' | 'possible';
  /** What the conclusion rests on; null: nothing both sides have. */
  readonly main: RouterEvidence | null;
  readonly evidence: readonly RouterEvidence[];
  readonly parts: readonly RouterParts[];
  readonly checks: readonly PairCheck[];
  /** Why the data contradict each other, where they do. */
  readonly contradiction: string | null;
  /** GPUs of the normal run, where that is known: on one, GPUs cannot wait for each other. */
  readonly gpus: number | null;
}

/** The guides' figure: a gain above it makes routing the bottleneck. */
export const ROUTER_THRESHOLD = 0.1;
/** Closer than this is similar, whatever the repeats say. */
const SIMILAR = 0.03;
/** 110 by 100 is a gain of 10% and not a bit more, whatever the last digit of the quotient says. */
const EXACT = 1e-9;
const ENOUGH_RUNS = 3;
const ENOUGH_STEPS = 4;
const DRAWS = 2000;
const SEED = 20_250_301;

export function judgeRouter(
  normal: RouterSide,
  perfect: RouterSide,
  threshold = ROUTER_THRESHOLD,
): RouterVerdict {
  const benched = benchEvidence(normal.runs, perfect.runs);
  const pairs = phasePairs(normal.profile, perfect.profile);
  const profiled = pairs.map(([a, b]) => stepEvidence(a, b));
  const parts = pairs.map(([a, b]) => partsOf(a, b));
  const evidence = [...benched, ...profiled];
  const main = benched[0] ?? profiled[0] ?? null;
  const checks = checkPair(normal, perfect, pairs);
  const { gpus = normal.profile?.gpus ?? null } = normal.runs[0]?.load ?? {};
  const base = { threshold, main, evidence, parts, checks, gpus };
  if (main === null || checks.some(({ status }) => status === 'differs'))
    return { ...base, conclusion: 'not-comparable', confidence: 'possible', contradiction: null };
  const conclusion = conclude(main, threshold);
  const contradiction = contradictionOf(conclusion, main, profiled, parts, threshold);
  if (contradiction) return { ...base, conclusion: 'contradictory', confidence: 'possible', contradiction };
  return { ...base, conclusion, confidence: confidenceOf(main, conclusion, threshold), contradiction: null };
}

function conclude({ gain, interval }: RouterEvidence, threshold: number): RouterConclusion {
  const [low, high] = interval ?? [gain, gain];
  // The interval leaves both open: nothing gained, and more than the threshold.
  if (low <= 0 && high > threshold) return 'inconclusive';
  if (gain > threshold + EXACT) return 'bottleneck';
  if (gain < -SIMILAR && high < 0) return 'slower';
  return gain > SIMILAR && low > 0 ? 'small-gain' : 'similar';
}

function confidenceOf(
  { source, interval, samples }: RouterEvidence,
  conclusion: RouterConclusion,
  threshold: number,
): RouterVerdict['confidence'] {
  if (!interval || conclusion === 'inconclusive') return 'possible';
  const [low, high] = interval;
  const clear = conclusion === 'bottleneck' ? low > threshold : high <= threshold;
  if (!clear) return 'possible';
  // Steps of one capture do not show how far two runs differ by chance.
  return source === 'benchmark' && Math.min(...samples) >= ENOUGH_RUNS ? 'certain' : 'likely';
}

function contradictionOf(
  conclusion: RouterConclusion,
  main: RouterEvidence,
  profiled: readonly RouterEvidence[],
  parts: readonly RouterParts[],
  threshold: number,
): string | null {
  const isGain = (verdict: RouterConclusion) => verdict === 'bottleneck';
  const isNone = (verdict: RouterConclusion) => verdict === 'similar' || verdict === 'slower';
  if (main.source === 'benchmark' && profiled.length > 0) {
    const others = profiled.map(own => conclude(own, threshold));
    if (isGain(conclusion) && others.every(isNone))
      return 'The benchmark gains, the steps in the profile do not: the profile is of another load, or the gain is not in the steps.';
    if (isNone(conclusion) && others.some(isGain))
      return 'The steps in the profile gain, the benchmark does not: the profile is of another load, or what limits the benchmark is not the steps.';
  }
  const own = parts.find(({ phase }) => phase === main.phase);
  if (main.source === 'profile' && isGain(conclusion) && own && own.gpuGain < threshold / 2)
    return 'The step is faster, but not on the GPU: kernels, communication and waiting devices hardly changed, so routing is not the reason. The host was faster in one of the two runs.';
  return null;
}

/** Throughput first; latency only where nothing else was printed. */
function benchEvidence(normal: readonly BenchRun[], perfect: readonly BenchRun[]): RouterEvidence[] {
  const { metrics } = compareBenchRuns(normal, perfect);
  const order = [
    'outputTokensPerSecond',
    'requestsPerSecond',
    'totalTokensPerSecond',
    'e2eMeanNs',
    'tpotMeanNs',
  ];
  return order.flatMap(id => {
    const found = metrics.find(metric => metric.id === id);
    if (!found) return [];
    const { kind, before, after, noise } = found;
    const isRate = kind === 'rate';
    const gain = isRate ? after.mean / before.mean - 1 : before.mean / after.mean - 1;
    // Noise is a share of the mean before; of a time, it is turned into a share of throughput.
    const spread = noise === undefined ? undefined : isRate ? noise : noise * (before.mean / after.mean) ** 2;
    return [
      {
        source: 'benchmark' as const,
        measure: benchMetrics.find(metric => metric.id === id)!.header,
        kind,
        phase: null,
        normal: before.mean,
        perfect: after.mean,
        gain,
        interval: spread === undefined ? null : ([gain - spread, gain + spread] as const),
        samples: [before.runs, after.runs] as const,
      },
    ];
  });
}

/** The phases both profiles show: those with enough steps to judge by first, then the one that takes most time. */
function phasePairs(
  a: RouterProfile | undefined,
  b: RouterProfile | undefined,
): [RouterPhase, RouterPhase][] {
  const time = ({ stepNs }: RouterPhase) => stepNs.reduce((sum, ns) => sum + ns, 0);
  const isEnough = (pair: readonly RouterPhase[]) =>
    Number(pair.every(({ stepNs }) => stepNs.length >= ENOUGH_STEPS));
  return (a?.phases ?? [])
    .flatMap((own): [RouterPhase, RouterPhase][] => {
      const other = b?.phases.find(({ phase }) => phase === own.phase);
      return other ? [[own, other]] : [];
    })
    .sort((x, y) => isEnough(y) - isEnough(x) || time(y[0]) - time(x[0]));
}

const meanOf = (values: ArrayLike<number>) =>
  Array.from(values).reduce((sum, v) => sum + v, 0) / values.length;

function stepEvidence(normal: RouterPhase, perfect: RouterPhase): RouterEvidence {
  const [a, b] = [meanOf(normal.stepNs), meanOf(perfect.stepNs)];
  return {
    source: 'profile',
    measure: 'step',
    kind: 'ns',
    phase: normal.phase,
    normal: a,
    perfect: b,
    gain: a / b - 1,
    interval: bootstrap(normal.stepNs, perfect.stepNs),
    samples: [normal.stepNs.length, perfect.stepNs.length],
  };
}

/** How far the gain moves when other steps had been captured: both sides drawn again with replacement. */
export function bootstrap(normal: readonly number[], perfect: readonly number[]): [number, number] | null {
  if (Math.min(normal.length, perfect.length) < ENOUGH_STEPS) return null;
  const random = seededRandom(SEED);
  const drawn = (values: readonly number[]) => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)];
    return sum / values.length;
  };
  const gains = Float64Array.from({ length: DRAWS }, () => drawn(normal) / drawn(perfect) - 1).sort();
  return [gains[Math.floor(0.025 * DRAWS)], gains[Math.ceil(0.975 * DRAWS) - 1]];
}

function partsOf(normal: RouterPhase, perfect: RouterPhase): RouterParts {
  const routed = ({ compute, communication, deviceWait }: StepMeans) => compute + communication + deviceWait;
  const before = meanOf(normal.stepNs);
  const saved = routed(normal.meansNs) - routed(perfect.meansNs);
  return {
    phase: normal.phase,
    normalNs: normal.meansNs,
    perfectNs: perfect.meansNs,
    gpuGain: before / (before - saved) - 1,
    routedGain: routed(normal.meansNs) / routed(perfect.meansNs) - 1,
    hostShare: normal.meansNs.otherIdle / before,
  };
}
