/** The JSON Schema of the verdict on a pair with and without the perfect router. */
import { type JsonSchema, list, number, object, text } from '../base/json-schema.js';

export const PERFECT_ROUTER_SCHEMA = 'stepscope-perfect-router/1';

const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
const pairOf = (type: string, description: string): JsonSchema => ({
  type: 'array',
  items: { type },
  minItems: 2,
  maxItems: 2,
  description,
});

const evidence = object({
  source: { enum: ['benchmark', 'profile'] },
  measure: text('what was measured'),
  kind: { enum: ['rate', 'ns'], description: 'per second, or nanoseconds' },
  phase: textOrNull('of the steps; null for a benchmark'),
  normal: number('mean with the learned router'),
  perfect: number('mean with the perfect router'),
  gain: number('throughput with by throughput without, − 1'),
  interval: {
    oneOf: [pairOf('number', '95% of the gain'), { type: 'null' }],
    description: 'from repeats, or from the steps; null: not known',
  },
  samples: pairOf('integer', 'runs or steps on each side'),
});

const means = object(
  Object.fromEntries(
    ['compute', 'communication', 'copies', 'deviceWait', 'otherIdle'].map(name => [
      name,
      number('mean per step (nanoseconds)'),
    ]),
  ),
);

export const perfectRouterSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'stepscope-perfect-router-1',
  title: 'Perfect router',
  description: 'Whether uneven routing to experts is the bottleneck, by a pair of runs with and without it.',
  ...(object({
    schema: { const: PERFECT_ROUTER_SCHEMA },
    files: object({
      normal: list({ type: 'string' }, 'as given'),
      perfect: list({ type: 'string' }, 'as given'),
    }),
    threshold: number('gain above which routing is the bottleneck'),
    conclusion: {
      enum: [
        'similar',
        'small-gain',
        'bottleneck',
        'slower',
        'inconclusive',
        'contradictory',
        'not-comparable',
      ],
    },
    confidence: { enum: ['certain', 'likely', 'possible'], description: 'single runs: possible' },
    main: { oneOf: [evidence, { type: 'null' }], description: 'what the conclusion rests on' },
    evidence: list(evidence, 'everything both sides have'),
    parts: list(
      object({
        phase: text('of the steps'),
        normalNs: means,
        perfectNs: means,
        gpuGain: number('the gain, had only kernels, communication and waiting devices changed'),
        routedGain: number('of the time of those alone'),
        hostShare: number('of the normal step: the GPU waits, and not for another GPU (0 to 1)'),
      }),
      'where the step changed',
    ),
    checks: list(
      object({
        id: text('of the check'),
        label: text('for people'),
        status: { enum: ['same', 'differs', 'unknown'] },
        normal: textOrNull('null: not stated'),
        perfect: textOrNull('null: not stated'),
      }),
      'whether only the router changed',
    ),
    contradiction: textOrNull('why the data contradict each other'),
    gpus: { type: ['integer', 'null'], description: 'of the normal run' },
    lines: list({ type: 'string' }, 'the verdict in words'),
  }) as object),
};
