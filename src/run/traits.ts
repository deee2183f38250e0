/** The table of what runs are asked about: where it is read, how far it may differ, what a difference does to whom. */
import { formatShare } from '../base/units.js';
import { type BenchSetting, benchSettings } from '../catalog/bench-metrics.js';
import type { Phase } from '../catalog/phases.js';
import { thresholds } from '../catalog/policy.js';
import type { CaptureFacts, RunFacts } from './run.js';
import { type Effect, isProfiled, type Purpose, type Side, type Trait, type Value } from './trait.js';

/**
 * Batches move a little from step to step. 5% and not more: the time of a step follows its batch nearly in
 * proportion, so that 10% would let pass more than the changes people gate on.
 */
const SAME_BATCH = 0.05;
/** GPU clocks vary this much by themselves. */
const SAME_CLOCK = 0.02;
/** Of GEMM time: what a number type may gain or lose, and below which it is not told. */
const SAME_SHARE = 0.1;

export const graphWords = { none: 'none', nodes: 'node by node', blocks: 'as blocks' } as const;
export const profilerNames = {
  nsys: 'nsys',
  kineto: 'PyTorch profiler',
  agent: 'PyTorch profiler',
  none: '',
} as const;

type Said = Value | null | undefined;

const once = (values: readonly Said[]): Value[] =>
  [...new Set(values.filter(value => value !== null && value !== undefined && value !== ''))] as Value[];

/** Of the runs that have a profile. */
const facts = (of: (facts: RunFacts) => Said) => (side: Side) =>
  once(side.filter(isProfiled).map(run => of(run.facts)));
const capture = (of: (facts: CaptureFacts) => Said) => (side: Side) =>
  once(side.map(({ profile }) => profile && of(profile.capture)));

/** What a benchmark prints, where it is a run of its own beside the profile. */
const printed = (of: (facts: RunFacts) => Said) => (side: Side) =>
  once(side.filter(run => !isProfiled(run)).map(run => of(run.facts)));

/** A profile of a part of the GPUs and a benchmark of all say both. */
function gpus(side: Side): Value[] {
  const [[profiled], [all]] = [facts, printed].map(of => of(({ gpus: count }) => count || null)(side));
  return profiled === undefined || all === undefined || profiled === all
    ? once([profiled ?? all])
    : [`${profiled} of ${all}`];
}

const gpu = (side: Side): Value[] => {
  const [profiled, all] = [facts, printed].map(of => of(({ gpu: name }) => name)(side));
  return profiled.length > 0 ? profiled : all;
};
const byHardware = (sides: readonly Side[]): Effect =>
  sides.some(side => side.some(isProfiled)) ? 'weakens' : 'explains';

/** Layers by a pattern may miss the first or span two: then a difference is not known to be one. */
function sameLayers(a: Side, b: Side): boolean | undefined {
  const [ours, theirs] = [a, b].map(side => side.find(run => run.facts.model)!.facts.model!);
  if (ours.layers === theirs.layers) return true;
  const total = (model: typeof ours) => model.layers * model.kernelsPerLayer;
  // Two layers that alternate may be found as one repetition: the stretch that repeats is then as long.
  if (total(ours) === total(theirs)) return true;
  const [least, most] = [ours.layers, theirs.layers].sort((x, y) => x - y);
  const mayBeSame = most - least <= 1 || Math.abs(most - 2 * least) <= Math.max(1, 0.06 * most);
  return (ours.guessed || theirs.guessed) && mayBeSame ? undefined : false;
}

/** As the benchmark prints it, else the number types most GEMM time is spent in. */
function precision(side: Side): Value[] {
  const printed = once(side.map(({ bench }) => sameSpelling(bench?.quantization ?? bench?.dtype)));
  return printed.length > 0 ? printed : capture(({ gemmTypes }) => typesText(gemmTypes))(side);
}

function samePrecision(a: Side, b: Side): boolean {
  const typesOf = (side: Side) => side.find(run => run.profile)?.profile?.capture.gemmTypes ?? {};
  const [ours, theirs] = [typesOf(a), typesOf(b)];
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  const isPrinted = [a, b].some(side => side.some(({ bench }) => bench?.quantization ?? bench?.dtype));
  if (isPrinted || names.length === 0) return precision(a).join() === precision(b).join();
  return names.every(type => Math.abs((ours[type] ?? 0) - (theirs[type] ?? 0)) <= SAME_SHARE);
}

/** `bfloat16` and `BF16` are one. */
const sameSpelling = (dtype: string | undefined): string | undefined =>
  dtype
    ?.toLowerCase()
    .replace(/^bfloat16$/, 'bf16')
    .replace(/^(float16|half)$/, 'fp16')
    .replace(/^float32$/, 'fp32')
    .replace(/^(float8|fp8)?_?(e4m3|e5m2)(fn)?$/, 'fp8');

function typesText(types: CaptureFacts['gemmTypes']): string {
  const most = Object.entries(types).filter(([, share]) => share >= SAME_SHARE);
  return most.map(([type, share]) => (most.length === 1 ? type : `${type} ${formatShare(share)}`)).join(', ');
}

const hidesKernels = (sides: readonly Side[]): boolean =>
  sides.some(side => side.some(run => run.facts.graphs === 'blocks')) &&
  !sides.every(side => side.some(run => run.facts.graphs === 'blocks'));
const byGraphs = (sides: readonly Side[]): Effect => (hidesKernels(sides) ? 'weakens' : 'explains');

/** What was recorded and how, less what only says when. */
const ABOUT_TIME = /DURATION|DELAY|TRIGGER|FLUSH|START|STOP|INCLUDE_CHILDREN/;

/** Only flags that differ are told. */
function flags(side: Side, sides: readonly Side[]): Value[] {
  const settingsOf = (one: Side) => one.find(run => run.profile)?.profile?.capture.settings ?? {};
  const all = sides.map(settingsOf);
  const own = settingsOf(side);
  if (Object.keys(own).length === 0 || profilers(sides.flat()).length > 1) return [];
  const names = [...new Set(all.flatMap(Object.keys))].filter(
    name => !ABOUT_TIME.test(name) && all.some(other => other[name] !== all[0][name]),
  );
  return [
    names
      .sort()
      .map(name => `${name}=${own[name] ?? ''}`)
      .join(' ') || 'the same',
  ];
}

const profilers = facts(({ profiler }) => profilerNames[profiler]);

const isSteady = ({ selectedSteps, steadySteps }: CaptureFacts): boolean =>
  steadySteps === selectedSteps && selectedSteps >= thresholds.fewSteps.value;

const settingEffects = ({ id, difference }: BenchSetting): Trait['effects'] => ({
  compare: difference,
  // The rest is often the change under test, and not kept.
  ...(difference === 'prevents' ? { check: 'prevents' } : {}),
  ...(id in frameworksAsk ? { frameworks: frameworksAsk[id] } : {}),
  router: 'prevents',
});
const frameworksAsk: Readonly<Record<string, Effect>> = {
  model: 'prevents',
  inputTokens: 'prevents',
  outputTokens: 'prevents',
  maxConcurrency: 'prevents',
  batchSize: 'prevents',
  requestRate: 'prevents',
  kvCacheDtype: 'explains',
  tool: 'weakens',
};
/** What a pair of benchmarks stands on is missed where nobody prints it. */
const routerNeeds = /^(dataset|model|inputTokens|outputTokens)$/;
const settingWords: Readonly<Record<string, string>> = {
  model: 'another model was benchmarked',
  inputTokens: 'longer prompts cost more',
  outputTokens: 'longer answers cost more',
  maxConcurrency: 'throughput follows concurrency',
  batchSize: 'throughput follows the batch',
  requestRate: 'throughput follows the rate',
  kvCacheDtype: 'a smaller cache type reads fewer bytes in attention',
  tool: 'tools define some figures differently',
};

const settings: readonly Trait[] = benchSettings
  // Told with the profile's own.
  .filter(({ id }) => id !== 'gpu' && id !== 'gpus')
  .map(setting => {
    const { id, label, difference, tolerance, of } = setting;
    const silent: Purpose[] = [
      ...(difference === 'explains' ? (['compare'] as const) : []),
      ...(routerNeeds.test(id) ? [] : (['router'] as const)),
      ...(/^(kvCacheDtype|requestRate|batchSize)$/.test(id) ? (['frameworks'] as const) : []),
      'check',
    ];
    return {
      id,
      label,
      of: 'benchmark',
      // A baseline keeps what would prevent a comparison; the rest only the benchmark itself tells.
      values: side => once(side.map(({ facts: { load }, bench }) => load?.[id] ?? (bench && of(bench)))),
      ...(tolerance === undefined ? {} : { tolerance }),
      effects: settingEffects(setting),
      why: settingWords[id] ?? 'another question was asked',
      silent,
      kind: 'load',
    };
  });

/** Told by phase; a phase that only one side has is told too. */
function ofPhase(phase: Phase): Trait[] {
  const of = (read: (of: NonNullable<RunFacts['phases'][Phase]>) => Said) =>
    facts(({ phases }) => phases[phase] && read(phases[phase]));
  const batch = (id: string, label: string, read: Parameters<typeof of>[0]): Trait => ({
    id,
    label,
    of: 'profile',
    values: of(read),
    tolerance: SAME_BATCH,
    // Steps are matched by their batch there, so that another mix of work is no change of speed.
    effects: { compare: 'explains', check: 'prevents', frameworks: 'prevents', router: 'prevents' },
    why: 'time per token falls with the batch: profiles of different batches do not compare',
    silent: ['check'],
    kind: 'batch',
  });
  return [
    {
      id: 'phases',
      label: `${phase} steps`,
      of: 'profile',
      values: side => [side.some(run => run.facts.phases[phase]) ? 'some' : 'none'],
      effects: { check: 'prevents', router: 'prevents' },
      why: 'a phase that a limit is about is missing on one side',
      kind: 'phases',
    },
    ...(phase === 'prefill'
      ? []
      : [batch('batch', `requests per ${phase} step`, ({ batch: requests }) => requests)]),
    ...(phase === 'prefill' || phase === 'mixed'
      ? [batch('contextTokens', `prompt tokens per ${phase} step`, ({ contextTokens }) => contextTokens)]
      : []),
  ];
}

const ofProfile = (phases: readonly Phase[]): Trait[] => [
  {
    id: 'files',
    label: 'files',
    of: 'profile',
    values: capture(({ broken }) => (broken === null ? 'whole' : 'cut off or damaged')),
    alike: (a, b) => [...a, ...b].every(({ profile }) => profile?.capture.broken === null),
    effects: { compare: 'weakens' },
    why: 'its figures are of what is left of it',
  },
  {
    id: 'gpu',
    label: 'GPU',
    of: 'either',
    values: gpu,
    effects: { compare: byHardware, check: 'prevents', frameworks: 'prevents', router: 'prevents' },
    why: 'kernel times are those of other hardware',
    silent: ['compare', 'check', 'router'],
    kind: 'gpu',
  },
  {
    id: 'gpus',
    label: 'GPUs',
    of: 'either',
    values: gpus,
    effects: { compare: byHardware, check: 'prevents', frameworks: 'prevents', router: 'prevents' },
    why: 'compare per GPU, and mind the communication',
    silent: ['compare', 'check', 'router'],
    kind: 'gpus',
  },
  {
    id: 'clock',
    label: 'GPU clock',
    of: 'profile',
    values: capture(({ clockHz }) => clockHz && `${(clockHz / 1e9).toFixed(2)} GHz`),
    alike: (a, b) => {
      const [ours, theirs] = [a, b].map(side => side.find(run => run.profile)!.profile!.capture.clockHz!);
      return Math.abs(ours - theirs) <= SAME_CLOCK * Math.max(ours, theirs);
    },
    effects: { compare: 'weakens' },
    why: 'a higher clock makes every kernel faster',
  },
  {
    id: 'driver',
    label: 'driver',
    of: 'profile',
    values: facts(({ driver }) => driver),
    effects: { compare: 'explains', check: 'explains', frameworks: 'weakens' },
    why: 'launches may cost more or less',
    silent: ['frameworks', 'check'],
  },
  {
    id: 'cuda',
    label: 'CUDA',
    of: 'profile',
    values: capture(({ cuda }) => cuda),
    effects: { compare: 'explains' },
    why: 'libraries may choose other kernels',
  },
  {
    id: 'engine',
    label: 'engine',
    of: 'either',
    values: side => once(side.map(run => run.facts.engine)),
    effects: { check: 'prevents' },
    why: 'its steps are made of other things',
    kind: 'engine',
  },
  {
    id: 'layers',
    label: 'layers',
    of: 'profile',
    values: facts(({ model }) => model?.layers),
    alike: sameLayers,
    effects: { compare: 'weakens', check: 'prevents', frameworks: 'prevents', router: 'prevents' },
    why: 'another model was profiled, or a repeating pattern spans several layers',
    kind: 'model',
  },
  {
    id: 'kernelsPerLayer',
    label: 'kernels per layer',
    of: 'profile',
    values: facts(({ model }) => model?.kernelsPerLayer),
    effects: { check: 'explains' },
    why: 'more or less is fused',
    silent: ['check'],
  },
  {
    id: 'precision',
    label: 'precision',
    of: 'profile',
    values: precision,
    alike: samePrecision,
    effects: { compare: 'explains', frameworks: 'prevents' },
    why: 'lower precision reads fewer bytes and is faster by itself',
  },
  ...phases.flatMap(ofPhase),
  {
    id: 'steadyState',
    label: 'steady state',
    of: 'profile',
    values: capture(({ steps, steadySteps, selectedSteps }) =>
      steps > 0 ? `${steadySteps} steady of ${selectedSteps} steps` : null,
    ),
    // A measure that each side must meet.
    alike: (a, b) => [...a, ...b].every(({ profile }) => !profile || isSteady(profile.capture)),
    effects: { compare: 'explains', frameworks: 'weakens' },
    why: `fewer than ${thresholds.fewSteps.value} steady steps: means move with every capture`,
  },
  {
    id: 'stepsFoundBy',
    label: 'steps found by',
    of: 'profile',
    values: facts(({ stepsFoundBy }) => (stepsFoundBy ?? 'nothing: whole trace').replace('-', ' ')),
    effects: { compare: 'weakens', check: 'prevents' },
    why: 'a step does not begin and end at the same point on both sides',
    kind: 'steps',
  },
  {
    id: 'graphs',
    label: 'CUDA graphs',
    of: 'profile',
    values: facts(({ graphs }) => graphWords[graphs]),
    effects: { compare: byGraphs, check: 'prevents', frameworks: byGraphs, router: 'prevents' },
    why: sides =>
      hidesKernels(sides)
        ? 'some recorded replays as blocks, which hide their kernels and the waits between them: capture with --cuda-graph-trace=node'
        : 'not all replay graphs',
    kind: 'graphs',
  },
  {
    id: 'profiler',
    label: 'profiler',
    of: 'profile',
    values: profilers,
    effects: { compare: 'explains', check: 'prevents', frameworks: 'weakens', router: 'prevents' },
    why: 'profilers slow the host differently: compare kernel time, not host time',
    kind: 'profiler',
  },
  {
    id: 'profilerVersion',
    label: 'version of the profiler',
    of: 'profile',
    // Between two profilers it means nothing.
    values: (side, sides) =>
      profilers(sides.flat()).length > 1 ? [] : facts(({ profilerVersion }) => profilerVersion)(side),
    effects: { compare: 'explains', check: 'explains' },
    why: 'what is traced may cost another time',
    silent: ['compare', 'check'],
  },
  {
    id: 'flags',
    label: 'profiler flags',
    of: 'profile',
    values: flags,
    effects: { compare: 'explains' },
    why: 'what is traced costs time',
    silent: ['compare'],
  },
];

export const traits = (phases: readonly Phase[]): Trait[] => [...settings, ...ofProfile(phases)];
