/**
 * Whether the frameworks were asked the same question. Each check says what each framework has, whether that is equal,
 * and what a difference means. What nobody stated is unknown, not equal.
 */
import { formatCount, formatDuration } from '../../base/units.js';
import { benchSettings } from '../../catalog/bench-metrics.js';
import type { Phase } from '../../catalog/phases.js';
import { thresholds } from '../../catalog/policy.js';
import { budgetOf, type Framework, phaseOf } from './framework.js';

export interface FairnessCheck {
  readonly id: string;
  readonly label: string;
  readonly status: 'ok' | 'differs' | 'unknown';
  /**
   * What a difference does. `unfair`: another question was asked. `weakens`: the same question, measured less well.
   * `explains`: it may be what is being compared.
   */
  readonly effect: 'unfair' | 'weakens' | 'explains';
  /** What each framework has, in their order; null: not stated or not recorded. */
  readonly values: readonly (string | null)[];
  /** What a difference, or not knowing, means for the reader. */
  readonly meaning: string;
}

type Value = string | number | null | undefined;

/** Batches and lengths are drawn at random: this much apart is still the same load. */
const SAME_LOAD = 0.05;
/** A profile and a benchmark are of one load when batch and step time agree this well; profilers cost some time. */
const SAME_RUN = 0.25;

export function checkFairness(all: readonly Framework[], phase: Phase | null): FairnessCheck[] {
  const setting = (id: string) => (framework: Framework) => {
    const { of } = benchSettings.find(known => known.id === id)!;
    const run = framework.bench?.runs[0];
    return run && of(run);
  };
  const check = (
    id: string,
    label: string,
    effect: FairnessCheck['effect'],
    meaning: string,
    of: (framework: Framework) => Value,
    tolerance = 0,
  ) => compareValues({ id, label, effect, meaning }, all.map(of), tolerance);
  const list = [
    check('model', 'model', 'unfair', 'another model was benchmarked', setting('model')),
    checkLayers(all),
    check(
      'precision',
      'precision',
      'unfair',
      'lower precision reads fewer bytes and is faster by itself',
      framework => precision(framework, phase),
    ),
    check(
      'kvCacheDtype',
      'KV cache type',
      'explains',
      'a smaller cache type reads fewer bytes in attention',
      setting('kvCacheDtype'),
    ),
    check(
      'batch',
      phase === 'prefill' ? 'prompt tokens per step' : 'requests per step',
      'unfair',
      'time per token falls with the batch: profiles of different batches do not compare',
      framework => phaseOf(framework, phase)?.batch,
      SAME_LOAD,
    ),
    check(
      'maxConcurrency',
      'concurrency',
      'unfair',
      'throughput follows concurrency',
      concurrency,
      SAME_LOAD,
    ),
    check('requestRate', 'request rate', 'unfair', 'throughput follows the rate', setting('requestRate')),
    check(
      'inputTokens',
      'input length',
      'unfair',
      'longer prompts cost more',
      setting('inputTokens'),
      SAME_LOAD,
    ),
    check(
      'outputTokens',
      'output length',
      'unfair',
      'longer answers cost more',
      setting('outputTokens'),
      SAME_LOAD,
    ),
    check('tool', 'benchmark tool', 'weakens', 'tools define some figures differently', setting('tool')),
    check(
      'gpu',
      'GPU',
      'unfair',
      'the hardware differs',
      ({ bench, capture }) => capture?.gpu ?? bench?.runs[0].gpu,
    ),
    check('gpus', 'GPUs', 'unfair', 'compare per GPU, and mind the communication', ({ gpus }) => gpus),
    check(
      'driver',
      'driver',
      'weakens',
      'drivers launch at different speeds',
      ({ capture }) => capture?.driver,
    ),
    check(
      'graphs',
      'CUDA graphs',
      all.some(({ capture }) => capture?.graphMode === 'blocks') ? 'weakens' : 'explains',
      'where replays are blocks, kernels inside are hidden and waits inside count as kernel time; where only some replay graphs, that may be the difference you look for',
      ({ capture }) => capture && graphWords[capture.graphMode],
    ),
    check(
      'profiler',
      'profiler',
      'weakens',
      'profilers slow the host differently: compare kernel time, not host time',
      ({ capture }) => capture?.profiler.split(/ \d/)[0],
    ),
    steadyState(all),
    ...sameLoad(all, phase),
    errors(all),
  ];
  // Nobody has it and nobody needs it.
  const optional = ['kvCacheDtype', 'driver', 'requestRate'];
  return list.filter(({ id, values }) => !optional.includes(id) || values.some(value => value !== null));
}

const graphWords = { none: 'none', nodes: 'node by node', blocks: 'as blocks' } as const;

const precision = (framework: Framework, phase: Phase | null): Value =>
  sameSpelling(
    framework.bench?.runs[0].quantization ??
      framework.bench?.runs[0].dtype ??
      phaseOf(framework, phase)?.precision,
  );

/** A pattern that repeats may miss the first layer or span two: then a difference is not known to be one. */
function checkLayers(all: readonly Framework[]): FairnessCheck {
  const about = {
    id: 'layers',
    label: 'layers',
    effect: 'unfair',
    meaning: 'another model was profiled, or a repeating pattern spans several layers',
  } as const;
  const found = compareValues(
    about,
    all.map(({ capture }) => capture?.layers),
    0,
  );
  const counts = all.flatMap(({ capture }) => capture?.layers ?? []);
  const isGuess = all.some(({ capture }) => capture?.layersGuessed);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const mayBeSame = most - least <= 1 || Math.abs(most - 2 * least) <= Math.max(1, 0.06 * most);
  return found.status === 'differs' && isGuess && mayBeSame ? { ...found, status: 'unknown' } : found;
}

/** `bfloat16` and `BF16` are one. */
function sameSpelling(dtype: string | null | undefined): Value {
  return dtype
    ?.toLowerCase()
    .replace(/^bfloat16$/, 'bf16')
    .replace(/^(float16|half)$/, 'fp16')
    .replace(/^float32$/, 'fp32')
    .replace(/^(float8|fp8)?_?(e4m3|e5m2)(fn)?$/, 'fp8');
}

const concurrency = ({ bench }: Framework): Value =>
  bench?.runs[0].load.maxConcurrency ?? bench?.runs[0].load.batchSize;

function compareValues(
  about: Pick<FairnessCheck, 'id' | 'label' | 'effect' | 'meaning'>,
  values: readonly Value[],
  tolerance: number,
): FairnessCheck {
  const known = values.filter(value => value !== null && value !== undefined);
  const isSame = known.every(value => same(value, known[0], tolerance));
  const status = !isSame ? 'differs' : known.length < values.length || known.length === 0 ? 'unknown' : 'ok';
  return { ...about, status, values: values.map(words) };
}

function same(a: string | number, b: string | number, tolerance: number): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  return String(a).toLowerCase() === String(b).toLowerCase();
}

const words = (value: Value): string | null =>
  value === null || value === undefined
    ? null
    : typeof value === 'number'
      ? formatCount(Number(value.toFixed(1)))
      : value;

function steadyState(all: readonly Framework[]): FairnessCheck {
  const few = thresholds.fewSteps.value;
  const captures = all.map(({ capture }) => capture);
  const isWeak = captures.some(
    capture => capture && (capture.steadySteps < capture.selectedSteps || capture.selectedSteps < few),
  );
  const isUnknown = captures.some(capture => capture === null || capture.steps === 0);
  return {
    id: 'steadyState',
    label: 'steady state',
    status: isWeak ? 'differs' : isUnknown ? 'unknown' : 'ok',
    effect: 'weakens',
    values: captures.map(capture =>
      capture && capture.steps > 0 ? `${capture.steadySteps} steady of ${capture.selectedSteps} steps` : null,
    ),
    meaning: `fewer than ${few} steady steps: means move with every capture`,
  };
}

/** Per framework: is the profile of the run that was benchmarked? By its batch, and by the time between tokens. */
function sameLoad(all: readonly Framework[], phase: Phase | null): FairnessCheck[] {
  if (phase !== 'decode' && phase !== 'mixed') return [];
  const batch = all.map(framework => {
    const { maxConcurrency, meanConcurrency, batchSize } = framework.bench?.runs[0].load ?? {};
    return pair(phaseOf(framework, phase)?.batch, batchSize ?? meanConcurrency ?? maxConcurrency, size =>
      formatCount(Number(size.toFixed(1))),
    );
  });
  const time = all.map(framework => {
    const budget = budgetOf(framework, phase);
    const token = framework.measured.tpotMeanNs?.value ?? framework.measured.itlMeanNs?.value;
    return pair(budget && budget.wallNs / budget.windows, token, formatDuration);
  });
  const check = (id: string, label: string, pairs: typeof batch, meaning: string): FairnessCheck => ({
    id,
    label,
    status: pairs.some(found => found && !found.agrees)
      ? 'differs'
      : pairs.some(found => found === null)
        ? 'unknown'
        : 'ok',
    effect: 'weakens',
    values: pairs.map(found => found?.text ?? null),
    meaning,
  });
  return [
    check(
      'profiledLoad',
      'profiled load',
      batch,
      'the batch in the profile is not the concurrency of the benchmark: the profile explains another run',
    ),
    check(
      'profiledSpeed',
      'profiled speed',
      time,
      'the step in the profile does not take the time of a token in the benchmark: the profiler’s cost, or another load',
    ),
  ];
}

function pair(
  profile: number | null | undefined,
  bench: number | null | undefined,
  format: (n: number) => string,
) {
  if (profile === null || profile === undefined || bench === null || bench === undefined) return null;
  const agrees = Math.abs(profile - bench) <= SAME_RUN * Math.max(profile, bench);
  return { agrees, text: `${format(profile)} profiled, ${format(bench)} benchmarked` };
}

function errors(all: readonly Framework[]): FairnessCheck {
  const counts = all.map(({ bench }) => bench?.runs.reduce((sum, run) => sum + (run.counts.errors ?? 0), 0));
  return {
    id: 'errors',
    label: 'failed requests',
    status: counts.some(count => (count ?? 0) > 0)
      ? 'differs'
      : counts.includes(undefined)
        ? 'unknown'
        : 'ok',
    effect: 'weakens',
    values: counts.map(count => (count === undefined ? null : formatCount(count))),
    meaning: 'failed requests are left out of throughput and latency',
  };
}
