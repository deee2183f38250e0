/** The JSON Schema of `stepscope frameworks --json`. */
import { object as allOf, type JsonSchema, list, number, text } from '../base/json-schema.js';

const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });
const orNull = (type: string, description: string): JsonSchema => ({ type: [type, 'null'], description });
const choice = (values: readonly (string | null)[], description: string): JsonSchema => ({
  enum: values,
  description,
});

/** All keys are there unless they are named as optional. */
const object = (properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema =>
  allOf(
    properties,
    Object.keys(properties).filter(name => !optional.includes(name)),
  );

const missing = object({
  value: { type: 'null' },
  what: text('what was not recorded'),
  hint: text('how to record it'),
});

const figure: JsonSchema = {
  oneOf: [object({ value: number('in base units'), note: text('how to read it') }, ['note']), missing],
};

const parts = ['kernels', 'communication', 'copies', 'host', 'otherIdle'];
const phase = choice(['prefill', 'mixed', 'decode', 'speculative', 'draft', 'unknown'], 'of the steps');

const budget = object({
  steps: count('steps whose tokens are known'),
  stepsWithoutTokens: count('steps of the phase that were left out'),
  tokens: count('once per step and device'),
  windows: count('steps times devices'),
  wallNs: number('the sum of partsNs, exactly (nanoseconds)'),
  partsNs: object(
    Object.fromEntries(parts.map(part => [part, number('whole nanoseconds over all windows')])),
  ),
  graphReplayNs: number('part of kernels: graph replays recorded as blocks (nanoseconds)'),
});

const family = object({
  family: text('see docs/kernel-families.md'),
  nsPerToken: number('sum of durations by tokens (nanoseconds)'),
  kernelsPerStep: number('per step and device'),
});

const capture = object({
  files: list({ type: 'string' }, 'base names'),
  profiler: text('name and version'),
  gpu: orNull('string', 'name of the GPUs with work'),
  gpusWithWork: count('GPUs with work in the capture'),
  driver: orNull('string', 'version'),
  graphMode: choice(['none', 'nodes', 'blocks'], 'how CUDA graphs appear in the capture'),
  engine: orNull('string', 'whose step markers were found'),
  stepsFoundBy: orNull('string', 'marker, graph-launches or kernel-sequence'),
  steps: count('in the capture'),
  selectedSteps: count('counted in the figures'),
  steadySteps: count('of those, in the steady state'),
  layers: orNull('integer', 'marked, or by the repeating pattern'),
  layersGuessed: { type: 'boolean', description: 'by a repeating pattern, which may span two layers' },
});

const bench = object({
  loads: count('different loads in the files'),
  runs: list(
    object(
      {
        source: { type: 'object' },
        label: text('what the author called it'),
        tool: text('the program that measured'),
        framework: text('as printed'),
        frameworkVersion: text('as printed'),
        model: text('as printed'),
        load: { type: 'object', description: 'as in stepscope-bench/1' },
      },
      ['label', 'framework', 'frameworkVersion', 'model'],
    ),
    'runs at the load that is compared',
  ),
});

const framework = object({
  name: text('as in CONFIG'),
  notes: orNull('string', 'as in CONFIG'),
  capture: { oneOf: [capture, { type: 'null' }] },
  bench: { oneOf: [bench, { type: 'null' }] },
  measured: {
    type: 'object',
    additionalProperties: figure,
    description: 'figures of the benchmark, means over its runs',
  },
  gpus: orNull('integer', 'GPUs the engine ran on'),
  phases: list(
    object({
      phase,
      wallNs: number('of the selected steps (nanoseconds)'),
      batch: orNull('number', 'median requests per step; prompt tokens in prefill'),
      precision: orNull('string', 'data type most GEMM time is spent in'),
      budget: { oneOf: [budget, missing] },
      figures: { type: 'object', additionalProperties: figure },
      families: { oneOf: [list(family, 'most time first'), missing] },
    }),
    'phases in the capture',
  ),
  why: { oneOf: [missing, { type: 'null' }], description: 'why there are no phases' },
});

const correlation = object({
  points: count('frameworks with both figures'),
  pearson: orNull('number', 'linear, −1 to 1'),
  spearman: orNull('number', 'of the ranks, −1 to 1'),
  chance: orNull('number', 'share of all orders that go together at least this closely'),
  warning: text('how much that proves'),
});

const ranked = list(object({ name: text('framework'), value: number('in base units') }), 'best first');

export const frameworksSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'stepscope-frameworks-1',
  title: 'Frameworks',
  description:
    'What stepscope frameworks --json prints: how frameworks compare, why, and whether that is fair.',
  ...(object({
    schema: { const: 'stepscope-frameworks/1' },
    title: orNull('string', 'as in CONFIG'),
    frameworks: list(framework, 'in the order of CONFIG'),
    phase: { oneOf: [phase, { type: 'null' }], description: 'the phase that is compared' },
    checks: list(
      object({
        id: text('of the check'),
        label: text('for people'),
        status: choice(['same', 'differs', 'unknown'], 'what is not stated by all is unknown'),
        effect: choice(['prevents', 'weakens', 'explains'], 'what a difference does to the verdict'),
        values: list({ type: ['string', 'null'] }, 'per framework; null: not stated'),
        why: text('what a difference means'),
      }),
      'whether they were asked the same question',
    ),
    throughput: object({
      measure: orNull('string', 'figure of the benchmark that ranks them'),
      label: orNull('string', 'for people'),
      points: list(
        object({
          name: text('framework'),
          kernelNsPerToken: number('nanoseconds'),
          wallNsPerToken: number('nanoseconds'),
          throughput: number('per second'),
        }),
        'frameworks with both figures',
      ),
      byKernels: correlation,
      byWall: correlation,
    }),
    verdict: object({
      fairness: choice(['fair', 'reservations', 'unfair'], 'unfair: none is declared faster'),
      speed: {
        oneOf: [
          object({
            measure: text('figure of the benchmark'),
            perGpu: { type: 'boolean', description: 'divided by GPUs, because their number differs' },
            label: text('for people'),
            ranked,
            lead: choice(['proven', 'within-noise', 'unproven', null], 'of the first against the second'),
          }),
          { type: 'null' },
        ],
      },
      profiled: ranked,
      kernels: ranked,
      why: {
        oneOf: [
          object({
            from: text('least time per token'),
            to: text('most time per token'),
            changeNs: number('per token (nanoseconds)'),
            terms: list(
              object({ part: choice(parts, 'of the equation'), changeNs: number('nanoseconds') }),
              'they sum to changeNs',
            ),
            stepInterval: {
              oneOf: [
                { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
                { type: 'null' },
              ],
              description: '95% interval of the change of a step (nanoseconds); null: too few steps',
            },
          }),
          { type: 'null' },
        ],
      },
      lines: list({ type: 'string' }, 'the answer in words'),
    }),
  }) as object),
};
