/**
 * Is uneven routing to experts what makes a mixture-of-experts model slow? A run with the learned router beside one in
 * which every expert gets the same share (ENABLE_PERFECT_ROUTER=1). As TensorRT-LLM's guides read the pair: similar,
 * look elsewhere; more than 10% faster, routing is the bottleneck. Here with how sure that is, and what speaks against.
 */

import type { Static } from '../../base/document.js';
import { benchMetrics } from '../../catalog/bench-metrics.js';
import type { Phase } from '../../catalog/phases.js';
import type { BenchRun } from '../../model/bench-run.js';
import { benchDifference } from '../../run/bench-difference.js';
import { benchedRun } from '../../run/collect.js';
import { asGain, stepDifference } from '../../run/difference.js';
import { type PhasePair, pairPhases } from '../../run/pair-phases.js';
import { isCommunication, type ProfiledRun, REPLAY } from '../../run/run.js';
import { type Sameness, samenessOf } from '../../run/sameness.js';
import { type SideMeans, sideMeans } from '../../run/side-means.js';
import type { meansSchema, perfectRouterSchema } from './router-schema.js';

export interface RouterSide {
  /** Repeats of a benchmark. */
  readonly runs: readonly BenchRun[];
  readonly profile?: ProfiledRun;
}

type RouterDocument = Static<typeof perfectRouterSchema>;
export type StepMeans = Static<typeof meansSchema>;
export type RouterEvidence = RouterDocument['evidence'][number];
/** What the step's parts say about where a gain comes from; of a profile alone. */
export type RouterParts = RouterDocument['parts'][number];
export type RouterConclusion = RouterDocument['conclusion'];

export interface RouterVerdict extends Omit<RouterDocument, 'schema' | 'files' | 'lines' | 'checks'> {
  readonly checks: readonly Sameness[];
}

/** The guides' figure: a gain above it makes routing the bottleneck. */
export const ROUTER_THRESHOLD = 0.1;
/** Closer than this is similar, whatever the repeats say. */
const SIMILAR = 0.03;
/** 110 by 100 is a gain of 10% and not a bit more, whatever the last digit of the quotient says. */
const EXACT = 1e-9;
const ENOUGH_RUNS = 3;
const ENOUGH_STEPS = 4;

export function judgeRouter(
  normal: RouterSide,
  perfect: RouterSide,
  threshold = ROUTER_THRESHOLD,
): RouterVerdict {
  const benched = benchEvidence(normal.runs, perfect.runs);
  const pairs = phasePairs(normal.profile, perfect.profile);
  const profiled = pairs.map(({ evidence: own }) => own);
  const parts = pairs.map(({ parts: own }) => own);
  const evidence = [...benched, ...profiled];
  const main = evidence[0] ?? null;
  const checks = checkPair(normal, perfect);
  const { gpus = normal.profile?.facts.gpus ?? null } = normal.runs[0]?.load ?? {};
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
      return 'The benchmark gains, but the steps in the profile do not: the profile used a different load, or the gain is outside the steps.';
    if (isNone(conclusion) && others.some(isGain))
      return 'The steps in the profile gain, but the benchmark does not: the profile used a different load, or the benchmark is limited outside the steps.';
  }
  const own = parts.find(({ phase }) => phase === main.phase);
  if (main.source === 'profile' && isGain(conclusion) && own && own.gpuGain < threshold / 2)
    return 'The step is faster, but not on the GPU: kernels, communication and device waits hardly changed, so routing is not the cause. The host was faster in one of the two runs.';
  return null;
}

/** Throughput first; latency only where nothing else was printed. */
function benchEvidence(normal: readonly BenchRun[], perfect: readonly BenchRun[]): RouterEvidence[] {
  const order = [
    'outputTokensPerSecond',
    'requestsPerSecond',
    'totalTokensPerSecond',
    'e2eMeanNs',
    'tpotMeanNs',
  ];
  return order.flatMap(id => {
    const metric = benchMetrics.find(candidate => candidate.id === id)!;
    const found = benchDifference(metric, normal, perfect);
    if (!found || found.from === 0) return [];
    const { from, to, change, interval } = found;
    const gain =
      metric.kind === 'rate'
        ? {
            gain: change / from,
            interval: interval ? ([interval[0] / from, interval[1] / from] as const) : null,
          }
        : asGain(found);
    const samples = [normal, perfect].map(
      runs => runs.filter(run => metric.of(run) !== undefined).length,
    ) as unknown as [number, number];
    return [
      {
        source: 'benchmark' as const,
        measure: metric.header,
        kind: metric.kind,
        phase: null,
        normal: from,
        perfect: to,
        ...gain,
        samples,
      },
    ];
  });
}

interface PhaseEvidence {
  readonly evidence: RouterEvidence;
  readonly parts: RouterParts;
}

/** The phases both profiles show: those with enough steps to judge by first, then the one that takes most time. */
function phasePairs(normal: ProfiledRun | undefined, perfect: ProfiledRun | undefined): PhaseEvidence[] {
  if (!normal || !perfect) return [];
  const isEnough = ({ evidence }: PhaseEvidence) => Number(Math.min(...evidence.samples) >= ENOUGH_STEPS);
  const time = ({ evidence }: PhaseEvidence) => evidence.normal * evidence.samples[0];
  return pairPhases({ runs: [normal] }, { runs: [perfect] })
    .pairs.flatMap(pair => (pair.phase === null ? [] : [judgePhase(pair.phase, pair, normal, perfect)]))
    .sort((a, b) => isEnough(b) - isEnough(a) || time(b) - time(a));
}

function judgePhase(phase: Phase, pair: PhasePair, normal: ProfiledRun, perfect: ProfiledRun): PhaseEvidence {
  const difference = stepDifference(pair.mixes);
  const before = sideMeans(pair, 'from', [normal]);
  const after = sideMeans(pair, 'to', [perfect]);
  return {
    evidence: {
      source: 'profile',
      measure: 'step',
      kind: 'ns',
      phase,
      normal: difference.from,
      perfect: difference.to,
      ...asGain(difference),
      samples: [before.steps, after.steps],
    },
    parts: partsOf(phase, stepMeans(before), stepMeans(after)),
  };
}

function stepMeans({ parts }: SideMeans): StepMeans {
  const sum = (wanted: (part: string) => boolean) =>
    [...parts].reduce((total, [part, { ns }]) => total + (wanted(part) ? ns : 0), 0);
  const deviceWait = sum(part => part === 'idle:device-wait');
  return {
    compute: sum(part => part.startsWith('kernel:') || part === REPLAY),
    communication: sum(isCommunication),
    copies: sum(part => part.startsWith('copy:')),
    deviceWait,
    otherIdle: sum(part => part.startsWith('idle:')) - deviceWait,
  };
}

function partsOf(phase: Phase, normalNs: StepMeans, perfectNs: StepMeans): RouterParts {
  const routed = ({ compute, communication, deviceWait }: StepMeans) => compute + communication + deviceWait;
  const before = Object.values(normalNs).reduce((sum, ns) => sum + ns, 0);
  const saved = routed(normalNs) - routed(perfectNs);
  return {
    phase,
    normalNs,
    perfectNs,
    gpuGain: before / (before - saved) - 1,
    routedGain: routed(normalNs) / routed(perfectNs) - 1,
    hostShare: normalNs.otherIdle / before,
  };
}

/** Whether nothing but the router changed, as far as both sides have benchmarks or profiles to tell it by. */
function checkPair(normal: RouterSide, perfect: RouterSide): Sameness[] {
  const both = [normal, perfect];
  const isBenched = both.every(({ runs }) => runs.length > 0);
  const isProfiled = both.every(({ profile }) => profile !== undefined);
  const sides = both.map(({ runs, profile }) => [
    ...(isProfiled ? [profile!] : []),
    ...(isBenched ? runs.map(benchedRun) : []),
  ]);
  const phasesOf = ({ profile }: RouterSide) => Object.keys(profile?.facts.phases ?? {}) as Phase[];
  const all = [...new Set(both.flatMap(phasesOf))];
  const shared = all.filter(phase => both.every(side => phasesOf(side).includes(phase)));
  return samenessOf('router', sides, shared.length > 0 ? shared : all).filter(
    ({ id, status }) => id !== 'phases' || (status === 'differs' && shared.length === 0),
  );
}
