/** The table of what runs are asked about: where it is read, how far it may differ, what a difference does to whom. */
import type { Phase } from '../catalog/phases.js';
import { thresholds } from '../catalog/policy.js';
import { benchTraits } from './bench-traits.js';
import type { PhaseFacts } from './run.js';
import { type Effect, type Side, sameValue, type Trait } from './trait.js';
import {
  byGraphs,
  byHardware,
  flags,
  gpu,
  gpus,
  graphWords,
  hidesKernels,
  ofCapture,
  ofFacts,
  once,
  precision,
  profilersOf,
  type Said,
  sameLayers,
  samePrecision,
} from './trait-values.js';

/**
 * Batches move a little from step to step. 5% and not more: the time of a step follows its batch nearly in
 * proportion, so that 10% would let pass more than the changes people gate on.
 */
const SAME_BATCH = 0.05;
/** GPU clocks vary this much by themselves. */
const SAME_CLOCK = 0.02;
const FEW_STEPS = thresholds.fewSteps.value;

/** One line of the table: what a difference does to compare, check, frameworks and the perfect router; null: not asked. */
function trait(
  id: string,
  label: string,
  values: Trait['values'],
  effects: readonly [compare: ByPurpose, check: ByPurpose, frameworks: ByPurpose, router: ByPurpose],
  why: Trait['why'],
  more: Pick<Trait, 'alike' | 'tolerance' | 'silent' | 'kind'> & { readonly of?: Trait['of'] } = {},
): Trait {
  const named = (['compare', 'check', 'frameworks', 'router'] as const).map((name, i) => [name, effects[i]]);
  const asked = Object.fromEntries(named.filter(([, effect]) => effect !== null));
  return { id, label, of: 'profile', values, effects: asked, why, ...more };
}
type ByPurpose = Effect | ((sides: readonly Side[]) => Effect) | null;

/** Steps are matched by their batch in a comparison, so that another mix of work is no change of speed there. */
function batch(id: string, label: string, phase: Phase, of: (known: PhaseFacts) => Said): Trait {
  const values = ofFacts(({ phases }) => phases[phase] && of(phases[phase]));
  const why = 'time per token falls as the batch grows: profiles with different batches are not comparable';
  return trait(id, label, values, ['explains', 'prevents', 'prevents', 'prevents'], why, {
    tolerance: SAME_BATCH,
    silent: ['check'],
    kind: 'batch',
  });
}

function ofPhase(phase: Phase): Trait[] {
  const isThere = (side: Side) => [side.some(run => run.facts.phases[phase]) ? 'some' : 'none'];
  const missing = 'a requested phase is missing on one side';
  return [
    trait('phases', `${phase} steps`, isThere, [null, 'prevents', null, 'prevents'], missing, {
      kind: 'phases',
    }),
    ...(phase === 'prefill' ? [] : [batch('batch', `requests per ${phase} step`, phase, own => own.batch)]),
    ...(phase === 'prefill' || phase === 'mixed'
      ? [batch('contextTokens', `prompt tokens per ${phase} step`, phase, own => own.contextTokens)]
      : []),
  ];
}

const sameClock = (a: Side, b: Side): boolean => {
  const [ours, theirs] = [a, b].map(side => side.find(run => run.profile)!.profile!.capture.clockHz!);
  return sameValue(ours, theirs, SAME_CLOCK);
};
const whole = (side: Side): boolean => side.every(({ profile }) => profile?.capture.broken === null);
/** A measure that each side must meet. */
const steady = (side: Side): boolean =>
  side.every(
    ({ profile }) =>
      !profile ||
      (profile.capture.steadySteps === profile.capture.selectedSteps &&
        profile.capture.selectedSteps >= FEW_STEPS),
  );
const graphsWhy = (sides: readonly Side[]): string =>
  hidesKernels(sides)
    ? 'some captures recorded replays as blocks, which hide kernels and the gaps between them: capture with --cuda-graph-trace=node'
    : 'not all use CUDA graphs';
/** Between two profilers it means nothing. */
const version: Trait['values'] = (side, sides) =>
  profilersOf(sides.flat()).length > 1 ? [] : ofFacts(({ profilerVersion }) => profilerVersion)(side);

const hardware = { of: 'either', silent: ['compare', 'check', 'router'] } as const;

const ofProfile = (phases: readonly Phase[]): Trait[] => [
  trait(
    'files',
    'files',
    ofCapture(({ broken }) => (broken === null ? 'whole' : 'cut off or damaged')),
    ['weakens', null, null, null],
    'its figures cover only the readable part',
    { alike: (a, b) => whole(a) && whole(b) },
  ),
  trait(
    'gpu',
    'GPU',
    gpu,
    [byHardware, 'prevents', 'prevents', 'prevents'],
    'kernel times depend on the hardware',
    { ...hardware, kind: 'gpu' },
  ),
  trait(
    'gpus',
    'GPUs',
    gpus,
    [byHardware, 'prevents', 'prevents', 'prevents'],
    'compare per GPU, and account for communication',
    { ...hardware, kind: 'gpus' },
  ),
  trait(
    'clock',
    'GPU clock',
    ofCapture(({ clockHz }) => clockHz && `${(clockHz / 1e9).toFixed(2)} GHz`),
    ['weakens', null, null, null],
    'a higher clock makes every kernel faster',
    { alike: sameClock },
  ),
  trait(
    'driver',
    'driver',
    ofFacts(({ driver }) => driver),
    ['explains', 'explains', 'weakens', null],
    'launch overhead may differ',
    { silent: ['frameworks', 'check'] },
  ),
  trait(
    'cuda',
    'CUDA',
    ofCapture(({ cuda }) => cuda),
    ['explains', null, null, null],
    'libraries may select different kernels',
  ),
  trait(
    'engine',
    'engine',
    side => once(side.map(run => run.facts.engine)),
    [null, 'prevents', null, null],
    'a step means something different in each engine',
    { of: 'either', kind: 'engine' },
  ),
  trait(
    'layers',
    'layers',
    ofFacts(({ model }) => model?.layers),
    ['weakens', 'prevents', 'prevents', 'prevents'],
    'a different model was profiled, or a repeating pattern spans several layers',
    { alike: sameLayers, kind: 'model' },
  ),
  trait(
    'kernelsPerLayer',
    'kernels per layer',
    ofFacts(({ model }) => model?.kernelsPerLayer),
    [null, 'explains', null, null],
    'kernel fusion differs',
    { silent: ['check'] },
  ),
  trait(
    'precision',
    'precision',
    precision,
    ['explains', null, 'prevents', null],
    'lower precision reads fewer bytes and is inherently faster',
    { alike: samePrecision },
  ),
  ...phases.flatMap(ofPhase),
  trait(
    'steadyState',
    'steady state',
    ofCapture(({ steps, steadySteps, selectedSteps }) =>
      steps > 0 ? `${steadySteps} steady of ${selectedSteps} steps` : null,
    ),
    ['explains', null, 'weakens', null],
    `fewer than ${FEW_STEPS} steady steps: means vary between captures`,
    { alike: (a, b) => steady(a) && steady(b) },
  ),
  trait(
    'stepsFoundBy',
    'steps found by',
    ofFacts(({ stepsFoundBy }) => (stepsFoundBy ?? 'none: whole trace').replace('-', ' ')),
    ['weakens', 'prevents', null, null],
    'a step starts and ends at different points on the two sides',
    { kind: 'steps' },
  ),
  trait(
    'graphs',
    'CUDA graphs',
    ofFacts(({ graphs }) => graphWords[graphs]),
    [byGraphs, 'prevents', byGraphs, 'prevents'],
    graphsWhy,
    { kind: 'graphs' },
  ),
  trait(
    'profiler',
    'profiler',
    profilersOf,
    ['explains', 'prevents', 'weakens', 'prevents'],
    'profilers have different host overhead: compare kernel time, not host time',
    { kind: 'profiler' },
  ),
  trait(
    'profilerVersion',
    'profiler version',
    version,
    ['explains', 'explains', null, null],
    'tracing overhead may differ',
    { silent: ['compare', 'check'] },
  ),
  trait('flags', 'profiler flags', flags, ['explains', null, null, null], 'tracing adds overhead', {
    silent: ['compare'],
  }),
];

export const traits = (phases: readonly Phase[]): Trait[] => [...benchTraits, ...ofProfile(phases)];
