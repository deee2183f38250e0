/** What `stepscope compare --json` prints, declared: did a change help, and why? */
import {
  choice,
  document,
  flag,
  integer,
  list,
  note,
  number,
  object,
  orNull,
  string,
} from '../base/document.js';
import type { Phase } from '../catalog/phases.js';

const configuration = object({
  name: string('short and distinct'),
  runs: list(
    object({
      files: list(string('base name')),
      steps: integer('found in the capture'),
      selectedSteps: integer('steps in the steady state, or as selected'),
      notes: list(note, 'data lost or anomalies found while reading'),
    }),
    'one per repeat',
  ),
});

const rowSide = orNull(
  object({
    kernel: string('short name'),
    name: string('as the profiler wrote it'),
    count: number('launches per step'),
    ns: integer('nanoseconds of the step attributed to it'),
  }),
);

export const termSchema = object({
  key: string('unique in the phase'),
  kind: choice(
    [
      'same',
      'replaced',
      'regrouped',
      'removed',
      'added',
      'hidden',
      'communication',
      'waiting',
      'copies',
      'idle',
    ],
    'see docs/metrics.md#compare',
  ),
  of: string('kernel family, or idle cause'),
  label: string('readable label'),
  fromNs: integer('nanoseconds in the mean step of the base'),
  toNs: integer('nanoseconds in the mean step of the other side'),
  changeNs: integer('toNs − fromNs; over all terms these sum to the changeNs of the phase'),
  fromCount: orNull(number('launches per step; null: not countable')),
  toCount: orNull(number('launches per step; null: not countable')),
  rows: list(object({ from: rowSide, to: rowSide, changeNs: integer('sums to the term') })),
});

const side = object({
  meanNs: integer('mean time of a step, rounded'),
  steps: integer('steps compared'),
  windows: integer('steps times devices'),
  stepNs: list(number('mean over its devices, nanoseconds'), 'each step'),
});

export const phaseSchema = object({
  phase: orNull(string<Phase>('null: the whole trace, or time outside steps')),
  mixes: list(
    object({ mix: string('requests'), weight: number('weights, the same on both sides; they sum to 1') }),
  ),
  mixesOnlyInBase: list(string('left out')),
  mixesOnlyInTo: list(string('left out')),
  from: side,
  to: side,
  changeNs: integer('to.meanNs − from.meanNs'),
  changeShare: number('of from.meanNs'),
  interval95: orNull(
    object(
      { lowNs: number('nanoseconds'), highNs: number('nanoseconds') },
      '95% confidence interval of the change; null: a side has only one step',
    ),
  ),
  noiseFloorNs: orNull(number('run-to-run noise; null: not measured')),
  tracingFloorNs: orNull(integer('null: the same profiler')),
  verdict: choice(
    ['faster', 'slower', 'not-measurable', 'below-threshold', 'identical', 'unknown'],
    'of the other side relative to the base',
  ),
  terms: list(termSchema),
  families: list(
    object({
      family: string('see docs/kernel-families.md'),
      label: string('readable label'),
      fromCount: number('launches per step'),
      toCount: number('launches per step'),
      // Overlapping kernels count twice.
      fromNs: number('sum of durations per step, nanoseconds'),
      toNs: number('sum of durations per step, nanoseconds'),
    }),
  ),
  figures: list(
    object({
      id: string('unique in the phase'),
      label: string('readable label'),
      unit: choice(['ns', 'count', 'share', 'bytes', 'percent', 'hertz']),
      from: orNull(number('null: not recorded, or none')),
      to: orNull(number('null: not recorded, or none')),
    }),
  ),
  layers: list(
    object({
      layer: orNull(integer('null: outside layers')),
      part: string('part of the layer; empty: the whole layer'),
      fromKernels: number('per step'),
      toKernels: number('per step'),
      fromNs: number('sum of durations per step, nanoseconds'),
      toNs: number('sum of durations per step, nanoseconds'),
    }),
  ),
});

export const comparisonSchema = object({
  to: configuration,
  comparable: choice(['yes', 'with-reservations']),
  runToRunNoiseMeasured: flag('a side has repeated runs'),
  checks: list(
    object({
      id: string('what was checked'),
      label: string('readable label'),
      from: string('of the base'),
      to: string('of the other'),
      status: choice(['same', 'differs', 'unknown']),
      effect: choice(['none', 'explains', 'weakens'], 'of a difference'),
      why: string('what the difference means for the figures'),
    }),
  ),
  phasesOnlyInBase: list(string('null: outside steps')),
  phasesOnlyInTo: list(string('null: outside steps')),
  phases: list(phaseSchema, 'phases present on both sides, longest first'),
});

export const compareSchema = document(
  'stepscope-compare/1',
  'Comparison of runs',
  'Did a change help, and why? Each run is compared with the base.',
  {
    threshold: number('changes below this share of a step are negligible, 0 to 1'),
    base: configuration,
    comparisons: list(comparisonSchema),
  },
);
