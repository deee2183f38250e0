/** JSON Schema (2020-12) of what `stepscope compare --json` prints; docs/schemas/compare.schema.json is its copy. */
import type { Json } from '../analyze/analysis.js';
import { COMPARE_SCHEMA } from './comparison-json.js';

const text = (description: string): Json => ({ type: 'string', description });
const number = (description: string): Json => ({ type: 'number', description });
const whole = (description: string): Json => ({ type: 'integer', description });
const choice = (values: readonly string[], description: string): Json => ({ enum: values, description });
const orNull = (schema: { readonly [name: string]: Json }): Json => ({ oneOf: [schema, { type: 'null' }] });
const list = (items: Json, description = ''): Json => ({
  type: 'array',
  items,
  ...(description ? { description } : {}),
});
const object = (properties: { readonly [name: string]: Json }, description = '') =>
  ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...(description ? { description } : {}),
  }) as const;

const configuration = object({
  name: text('short and distinct'),
  runs: list(
    object({
      files: list(text('base name')),
      steps: whole('found in the capture'),
      selectedSteps: whole('steady state, or as chosen'),
      notes: list(
        object({
          code: text('kind of note'),
          severity: choice(['info', 'warning', 'loss'], ''),
          text: text('what it means'),
          count: whole('how often'),
          example: text('one case'),
        }),
        'what was lost or odd while reading',
      ),
    }),
    'one per repeat',
  ),
});

const rowSide = orNull(
  object({
    kernel: text('short name'),
    name: text('as the profiler wrote it'),
    count: number('launches per step'),
    ns: whole('nanoseconds of the step that are its own'),
  }),
);

const term = object({
  key: text('unique in the phase'),
  kind: choice(
    ['same', 'replaced', 'regrouped', 'removed', 'added', 'hidden', 'communication', 'copies', 'idle'],
    'see docs/metrics.md#compare',
  ),
  of: text('kernel family, or idle cause'),
  label: text('in words'),
  fromNs: whole('nanoseconds of the mean step of the base'),
  toNs: whole('nanoseconds of the mean step of the other'),
  changeNs: whole('toNs − fromNs; over all terms these sum to the changeNs of the phase'),
  fromCount: { type: ['number', 'null'], description: 'launches per step; null: nothing to count' },
  toCount: { type: ['number', 'null'], description: 'launches per step; null: nothing to count' },
  rows: list(object({ from: rowSide, to: rowSide, changeNs: whole('sums to the term') })),
});

const side = object({
  meanNs: whole('mean time of a step, rounded'),
  steps: whole('that were compared'),
  windows: whole('steps times devices'),
  stepNs: list(number('mean over its devices, nanoseconds'), 'each step'),
});

const phase = object({
  phase: { type: ['string', 'null'], description: 'null: the whole trace, or outside steps' },
  mixes: list(object({ mix: text('requests'), weight: number('the same on both sides; they sum to 1') })),
  mixesOnlyInBase: list(text('left out')),
  mixesOnlyInTo: list(text('left out')),
  from: side,
  to: side,
  changeNs: whole('to.meanNs − from.meanNs'),
  changeShare: number('of from.meanNs'),
  interval95: orNull(
    object(
      { lowNs: number('nanoseconds'), highNs: number('nanoseconds') },
      '95% interval of the change; null: a side has one step',
    ),
  ),
  noiseFloorNs: { type: ['number', 'null'], description: 'run to run; null: not measured' },
  tracingFloorNs: { type: ['integer', 'null'], description: 'null: the same profiler' },
  verdict: choice(
    ['faster', 'slower', 'not-measurable', 'below-threshold', 'identical', 'unknown'],
    'of the other against the base',
  ),
  terms: list(term),
  families: list(
    object({
      family: text('see docs/kernel-families.md'),
      label: text('for people'),
      fromCount: number('launches per step'),
      toCount: number('launches per step'),
      fromNs: number('sum of durations per step, nanoseconds'),
      toNs: number('sum of durations per step, nanoseconds'),
    }),
  ),
  figures: list(
    object({
      id: text('unique in the phase'),
      label: text('for people'),
      unit: choice(['ns', 'count', 'share', 'bytes', 'percent', 'hertz'], ''),
      from: { type: ['number', 'null'], description: 'null: not recorded, or none' },
      to: { type: ['number', 'null'], description: 'null: not recorded, or none' },
    }),
  ),
  layers: list(
    object({
      layer: { type: ['integer', 'null'], description: 'null: outside layers' },
      part: text('of the layer; empty: all of it'),
      fromKernels: number('per step'),
      toKernels: number('per step'),
      fromNs: number('sum of durations per step, nanoseconds'),
      toNs: number('sum of durations per step, nanoseconds'),
    }),
  ),
});

export const compareSchema: Json = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: COMPARE_SCHEMA.replace('/', '-'),
  title: 'Comparison of runs',
  description: 'Did a change help, and why? Each run is compared with the base.',
  ...object({
    schema: { const: COMPARE_SCHEMA },
    threshold: number('changes below this part of a step are none that matters, 0 to 1'),
    base: configuration,
    comparisons: list(
      object({
        to: configuration,
        comparable: choice(['yes', 'with-reservations'], ''),
        runToRunNoiseMeasured: { type: 'boolean', description: 'some side has repeats' },
        checks: list(
          object({
            id: text('what was looked at'),
            label: text('for people'),
            from: text('of the base'),
            to: text('of the other'),
            status: choice(['same', 'differs', 'unknown'], ''),
            effect: choice(['none', 'explains', 'weakens'], 'of a difference'),
            why: text('what it means for the figures'),
          }),
        ),
        phasesOnlyInBase: list(text('null: outside steps')),
        phasesOnlyInTo: list(text('null: outside steps')),
        phases: list(phase, 'those both sides have, the longest first'),
      }),
    ),
  }),
};
