/** What `stepscope moe --json` prints, declared. What is not known is null. */
import {
  choice,
  document,
  flag,
  list,
  note,
  number,
  object,
  only,
  orNull,
  string,
} from '../base/document.js';

const numberOrNull = (description?: string) => orNull(number(description));

const heat = object({
  rows: list(string('layer'), 'names of the rows'),
  columns: number('how many'),
  from: string('first column'),
  to: string('last column'),
  values: list(numberOrNull(), 'row after row, four digits; 1 is even'),
});

const layer = object({
  layer: number('number the engine gives it'),
  gpuImbalance: numberOrNull('busiest by mean GPU, mean over iterations'),
  lostShare: number('part of its expert time spent waiting for the busiest GPU'),
  maxOverMean: numberOrNull('busiest by mean expert, of the sums over the run'),
  iterationMean: numberOrNull('busiest by mean expert within an iteration, mean'),
  iterationP99: numberOrNull('the same, 99th percentile'),
  iterationWorst: numberOrNull('the same, worst'),
  variation: numberOrNull('standard deviation by mean over experts, mean over iterations'),
  gini: numberOrNull('of the sums: 0 even, towards 1 one has everything'),
  entropy: numberOrNull('of the sums, by that of an even spread'),
  idleShare: numberOrNull('part of the experts without a token, mean over iterations'),
  hotOverlap: numberOrNull('part of the hot tenth of the first third that is hot in the last third'),
  shareCorrelation: numberOrNull('of the experts’ shares in the first and last third'),
  autocorrelation: numberOrNull('of busiest by mean with itself an iteration later'),
  hottest: list(
    object({ expert: number('number'), share: number('of the layer’s tokens') }),
    'most tokens first',
  ),
});

/** No counts: ranks' time in grouped GEMMs stands for their tokens. */
export const inferredSchema = object({
  kind: only('inferred'),
  // It is below the imbalance of tokens where experts have a floor.
  maxOverMean: number('slowest by mean rank in grouped GEMMs, median over steps'),
  waitNs: number('communication and combine beyond the quickest rank’s, mean (nanoseconds)'),
  devices: list(
    object({
      device: number('device'),
      rank: numberOrNull('rank'),
      expertNs: number('grouped GEMMs per step'),
      waitNs: number('waiting per step'),
      slowestShare: number('part of the steps in which it was the slowest'),
    }),
    'one each',
  ),
});

export const planMethod = choice([
  'plain',
  'eplb-hierarchical',
  'eplb-global',
  'stepscope-hierarchical',
  'stepscope',
]);

const loads = object({
  layers: number('with experts'),
  experts: number('per layer'),
  topK: numberOrNull('experts per token'),
  ranks: numberOrNull('added up'),
  iterations: number('read'),
  span: list(number(), 'first and last'),
  judgedIterations: number('kept in full for cost and placement'),
  phases: list(
    object({
      phase: choice(['prefill', 'decode', 'mixed']),
      iterations: number('of it'),
      maxOverMean: numberOrNull('busiest by mean expert, mean over layers and iterations'),
      gpuImbalance: numberOrNull('busiest by mean GPU'),
      lostShare: number('part of expert time spent waiting for the busiest GPU'),
    }),
    'where known',
  ),
});

export const moeSchema = document(
  'stepscope-moe/1',
  'Routing imbalance',
  'Whether uneven routing to experts is a bottleneck, what it costs and what would fix it.',
  {
    files: list(string('path'), 'as given'),
    basis: choice(
      ['counted', 'logged', 'inferred'],
      'counts per expert, an engine’s log, or the time of ranks',
    ),
    source: orNull(object({ file: string('file'), format: string('id of the format') })),
    lines: list(string('sentence'), 'the answer'),
    verdict: choice(['yes', 'no', 'depends']),
    shareForBottleneck: numberOrNull(
      'with depends: experts’ share of a step above which routing is the bottleneck',
    ),
    hostBound: flag('the GPU waits for the host more than half of a step'),
    machine: object({
      gpus: numberOrNull('GPUs the experts are spread over'),
      from: choice(['given', 'ranks', 'profile', 'assumed', 'logged']),
      nodes: number('machines'),
    }),
    expertTime: object({
      floorNs: number('of one layer on one GPU, however few tokens (nanoseconds)'),
      nsPerPair: number('per token and expert (nanoseconds; relative when assumed)'),
      basis: choice(['fitted', 'given', 'assumed']),
      about: string('how it was come by'),
      explains: numberOrNull('part of the spread of measurements it explains'),
    }),
    gpuImbalance: numberOrNull('busiest by mean GPU, mean over layers and iterations'),
    lostShare: numberOrNull('part of expert time spent waiting for the busiest GPU'),
    lostInterval: list(numberOrNull(), '95% interval over iterations'),
    lostNs: numberOrNull('per step (nanoseconds)'),
    expertShare: orNull(object({ share: number('of a step'), from: choice(['profile', 'given']) })),
    ceiling: object({
      expertSpeedup: number('experts with perfect routing, how many times as fast'),
      stepGain: numberOrNull('steps per second with perfect routing by without, − 1'),
    }),
    loads: orNull(loads),
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
        method: planMethod,
        label: string('in words'),
        replicas: number('beside the experts'),
        gpuImbalance: number('busiest by mean GPU'),
        lostShare: number('of expert time'),
        recovered: number('part of the loss it wins back'),
        stepGain: numberOrNull('steps per second, − 1'),
      }),
      'what would fix it',
    ),
    heldOut: flag('placements were judged on iterations they were not made from'),
    profile: orNull(
      object({
        steps: number('looked at'),
        devices: number('with experts'),
        expertNs: number('grouped GEMMs per step on the slowest device (nanoseconds)'),
        stepNs: number('per step (nanoseconds)'),
        idleShare: number('of a step'),
        inferred: orNull(inferredSchema),
      }),
    ),
    logged: orNull(
      object({
        engine: string('that printed it'),
        points: number('lines'),
        mean: number('busiest by mean GPU'),
        p99: number('99th percentile'),
        worst: number('most'),
      }),
    ),
    heatMaps: orNull(object({ experts: heat, time: orNull(heat) })),
    notes: list(note, 'what was lost or odd'),
  },
);
