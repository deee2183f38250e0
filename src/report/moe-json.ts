/** The JSON Schema of `stepscope moe --json`. */
import { type JsonSchema, list, note, number, object, text } from '../base/json-schema.js';

const maybe = (description: string): JsonSchema => ({ type: ['number', 'null'], description });
const nullable = (schema: JsonSchema): JsonSchema => ({ oneOf: [{ type: 'null' }, schema] });

const heat = object({
  rows: list(text('layer'), 'names of the rows'),
  columns: number('how many'),
  from: text('first column'),
  to: text('last column'),
  values: list({ type: ['number', 'null'] }, 'row after row, four digits; 1 is even'),
});

const layer = object({
  layer: number('number the engine gives it'),
  gpuImbalance: maybe('busiest by mean GPU, mean over iterations'),
  lostShare: number('part of its expert time spent waiting for the busiest GPU'),
  maxOverMean: maybe('busiest by mean expert, of the sums over the run'),
  iterationMean: maybe('busiest by mean expert within an iteration, mean'),
  iterationP99: maybe('the same, 99th percentile'),
  iterationWorst: maybe('the same, worst'),
  variation: maybe('standard deviation by mean over experts, mean over iterations'),
  gini: maybe('of the sums: 0 even, towards 1 one has everything'),
  entropy: maybe('of the sums, by that of an even spread'),
  idleShare: maybe('part of the experts without a token, mean over iterations'),
  hotOverlap: maybe('part of the hot tenth of the first third that is hot in the last third'),
  shareCorrelation: maybe('of the experts’ shares in the first and last third'),
  autocorrelation: maybe('of busiest by mean with itself an iteration later'),
  hottest: list(
    object({ expert: number('number'), share: number('of the layer’s tokens') }),
    'most tokens first',
  ),
});

const inferred = object({
  kind: { const: 'inferred' },
  maxOverMean: number('slowest by mean rank in grouped GEMMs, median over steps'),
  waitNs: number('communication and combine beyond the quickest rank’s, mean (nanoseconds)'),
  devices: list(
    object({
      device: number('device'),
      rank: maybe('rank'),
      expertNs: number('grouped GEMMs per step'),
      waitNs: number('waiting per step'),
      slowestShare: number('part of the steps in which it was the slowest'),
    }),
    'one each',
  ),
});

export const moeSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'stepscope-moe-1',
  title: 'Routing imbalance',
  description: 'Whether uneven routing to experts is a bottleneck, what it costs and what would fix it.',
  ...(object({
    schema: { const: 'stepscope-moe/1' },
    files: list(text('path'), 'as given'),
    basis: {
      enum: ['counted', 'logged', 'inferred'],
      description: 'counts per expert, an engine’s log, or the time of ranks',
    },
    source: nullable(object({ file: text('file'), format: text('id of the format') })),
    lines: list(text('sentence'), 'the answer'),
    verdict: { enum: ['yes', 'no', 'depends'] },
    shareForBottleneck: maybe('with depends: experts’ share of a step above which routing is the bottleneck'),
    hostBound: { type: 'boolean', description: 'the GPU waits for the host more than half of a step' },
    machine: object({
      gpus: maybe('GPUs the experts are spread over'),
      from: { enum: ['given', 'ranks', 'profile', 'assumed', 'logged'] },
      nodes: number('machines'),
    }),
    expertTime: object({
      floorNs: number('of one layer on one GPU, however few tokens (nanoseconds)'),
      nsPerPair: number('per token and expert (nanoseconds; relative when assumed)'),
      basis: { enum: ['fitted', 'given', 'assumed'] },
      about: text('how it was come by'),
      explains: maybe('part of the spread of measurements it explains'),
    }),
    gpuImbalance: maybe('busiest by mean GPU, mean over layers and iterations'),
    lostShare: maybe('part of expert time spent waiting for the busiest GPU'),
    lostInterval: list({ type: ['number', 'null'] }, '95% interval over iterations'),
    lostNs: maybe('per step (nanoseconds)'),
    expertShare: nullable(object({ share: number('of a step'), from: { enum: ['profile', 'given'] } })),
    ceiling: object({
      expertSpeedup: number('experts with perfect routing, how many times as fast'),
      stepGain: maybe('steps per second with perfect routing by without, − 1'),
    }),
    loads: nullable(
      object({
        layers: number('with experts'),
        experts: number('per layer'),
        topK: maybe('experts per token'),
        ranks: maybe('added up'),
        iterations: number('read'),
        span: list({ type: 'number' }, 'first and last'),
        judgedIterations: number('kept in full for cost and placement'),
        phases: list(
          object({
            phase: { enum: ['prefill', 'decode', 'mixed'] },
            iterations: number('of it'),
            maxOverMean: maybe('busiest by mean expert, mean over layers and iterations'),
            gpuImbalance: maybe('busiest by mean GPU'),
            lostShare: number('part of expert time spent waiting for the busiest GPU'),
          }),
          'where known',
        ),
      }),
    ),
    layers: list(layer, 'one each'),
    gpus: list(
      object({
        gpu: number('number'),
        pairs: number('token-expert pairs per layer, mean'),
        criticalShare: number('part of layers and iterations in which it had most'),
      }),
      'experts in order',
    ),
    placements: list(
      object({
        method: {
          enum: ['plain', 'eplb-hierarchical', 'eplb-global', 'stepscope-hierarchical', 'stepscope'],
        },
        label: text('in words'),
        replicas: number('beside the experts'),
        gpuImbalance: number('busiest by mean GPU'),
        lostShare: number('of expert time'),
        recovered: number('part of the loss it wins back'),
        stepGain: maybe('steps per second, − 1'),
      }),
      'what would fix it',
    ),
    heldOut: { type: 'boolean', description: 'placements were judged on iterations they were not made from' },
    profile: nullable(
      object({
        steps: number('looked at'),
        devices: number('with experts'),
        expertNs: number('grouped GEMMs per step on the slowest device (nanoseconds)'),
        stepNs: number('per step (nanoseconds)'),
        idleShare: number('of a step'),
        inferred: nullable(inferred),
      }),
    ),
    logged: nullable(
      object({
        engine: text('that printed it'),
        points: number('lines'),
        mean: number('busiest by mean GPU'),
        p99: number('99th percentile'),
        worst: number('most'),
      }),
    ),
    heatMaps: nullable(object({ experts: heat, time: nullable(heat) })),
    notes: list(note('what it means'), 'what was lost or odd'),
  }) as object),
};
