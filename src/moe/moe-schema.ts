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
  rows: list(string('layer'), 'row names'),
  columns: number('how many'),
  from: string('first column'),
  to: string('last column'),
  values: list(numberOrNull(), 'row by row, four digits; 1 is even'),
});

const layer = object({
  layer: number('layer number in the engine'),
  gpuImbalance: numberOrNull('load of the busiest GPU divided by the mean, mean over iterations'),
  lostShare: number('share of its expert time spent waiting for the busiest GPU'),
  maxOverMean: numberOrNull('load of the busiest expert divided by the mean, over the whole run'),
  iterationMean: numberOrNull('load of the busiest expert divided by the mean within an iteration, mean'),
  iterationP99: numberOrNull('the same, 99th percentile'),
  iterationWorst: numberOrNull('the same, worst'),
  variation: numberOrNull('coefficient of variation over experts, mean over iterations'),
  gini: numberOrNull('Gini coefficient of the totals: 0 is even, near 1 one expert gets everything'),
  entropy: numberOrNull('entropy of the totals, relative to an even distribution'),
  idleShare: numberOrNull('share of experts without tokens, mean over iterations'),
  hotOverlap: numberOrNull(
    'share of the hottest tenth in the first third of the run that is still hot in the last third',
  ),
  shareCorrelation: numberOrNull('correlation of expert shares between the first and last third'),
  autocorrelation: numberOrNull('autocorrelation of max/mean at a lag of one iteration'),
  hottest: list(
    object({ expert: number('number'), share: number('of the layer’s tokens') }),
    'most tokens first',
  ),
});

/** No counts: ranks' time in grouped GEMMs stands for their tokens. */
export const inferredSchema = object({
  kind: only('inferred'),
  // It is below the imbalance of tokens where experts have a floor.
  maxOverMean: number('grouped GEMM time of the slowest rank divided by the mean, median over steps'),
  waitNs: number('communication and combine time above the fastest rank’s, mean (nanoseconds)'),
  devices: list(
    object({
      device: number('device'),
      rank: numberOrNull('rank'),
      expertNs: number('grouped GEMMs per step'),
      waitNs: number('waiting per step'),
      slowestShare: number('share of steps in which it was the slowest'),
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
  judgedIterations: number('iterations kept in full for cost and placement'),
  phases: list(
    object({
      phase: choice(['prefill', 'decode', 'mixed']),
      iterations: number('of it'),
      maxOverMean: numberOrNull(
        'load of the busiest expert divided by the mean, mean over layers and iterations',
      ),
      gpuImbalance: numberOrNull('load of the busiest GPU divided by the mean'),
      lostShare: number('share of expert time spent waiting for the busiest GPU'),
    }),
    'where known',
  ),
});

export const moeSchema = document(
  'stepscope-moe/1',
  'Routing imbalance',
  'Whether uneven expert routing is a bottleneck, what it costs and what would fix it.',
  {
    files: list(string('path'), 'as given'),
    basis: choice(['counted', 'logged', 'inferred'], 'counts per expert, an engine log, or time per rank'),
    source: orNull(object({ file: string('file'), format: string('id of the format') })),
    lines: list(string('sentence'), 'the answer'),
    verdict: choice(['yes', 'no', 'depends']),
    shareForBottleneck: numberOrNull(
      'for depends: expert share of a step above which routing is the bottleneck',
    ),
    hostBound: flag('the GPU waits for the host more than half of a step'),
    machine: object({
      gpus: numberOrNull('GPUs that hold the experts'),
      from: choice(['given', 'ranks', 'profile', 'assumed', 'logged']),
      nodes: number('machines'),
    }),
    expertTime: object({
      floorNs: number('minimum time of one layer on one GPU, regardless of tokens (nanoseconds)'),
      nsPerPair: number('per token and expert (nanoseconds; relative when assumed)'),
      basis: choice(['fitted', 'given', 'assumed']),
      about: string('how it was obtained'),
      explains: numberOrNull('share of the variance of the measurements it explains (R²)'),
    }),
    gpuImbalance: numberOrNull(
      'load of the busiest GPU divided by the mean, mean over layers and iterations',
    ),
    lostShare: numberOrNull('share of expert time spent waiting for the busiest GPU'),
    lostInterval: list(numberOrNull(), '95% confidence interval over iterations'),
    lostNs: numberOrNull('per step (nanoseconds)'),
    expertShare: orNull(object({ share: number('of a step'), from: choice(['profile', 'given']) })),
    ceiling: object({
      expertSpeedup: number('speed-up of expert time with perfect routing'),
      stepGain: numberOrNull('increase in steps per second with perfect routing'),
    }),
    loads: orNull(loads),
    layers: list(layer, 'one each'),
    gpus: list(
      object({
        gpu: number('number'),
        pairs: number('token-expert pairs per layer, mean'),
        criticalShare: number('share of layers and iterations in which it had the most tokens'),
      }),
      'experts in order',
    ),
    placements: list(
      object({
        method: planMethod,
        label: string('readable label'),
        replicas: number('in addition to the experts'),
        gpuImbalance: number('load of the busiest GPU divided by the mean'),
        lostShare: number('of expert time'),
        recovered: number('share of the loss it recovers'),
        stepGain: numberOrNull('increase in steps per second'),
      }),
      'what would fix it',
    ),
    heldOut: flag('placements were evaluated on held-out iterations'),
    profile: orNull(
      object({
        steps: number('steps analyzed'),
        devices: number('with experts'),
        expertNs: number('grouped GEMMs per step on the slowest device (nanoseconds)'),
        stepNs: number('per step (nanoseconds)'),
        idleShare: number('of a step'),
        inferred: orNull(inferredSchema),
      }),
    ),
    timeline: orNull(
      object({
        steps: number('steps analyzed'),
        layersPerStep: number('layers with experts between two matched collectives'),
        ranks: number('ranks that take part'),
        maxOverMean: number(
          'grouped GEMMs of the slowest rank divided by the mean, mean over layers and steps',
        ),
        slowestNs: number('per step: the slowest rank of each layer, summed (nanoseconds)'),
        savedNs: number('per step, inferred: every rank takes the mean time of its layer (nanoseconds)'),
        lowNs: number('per step: lower bound, experts summed over a step first (nanoseconds)'),
        highNs: number('per step: upper bound, measured waits behind experts (nanoseconds)'),
        layers: list(
          object({
            layer: number('layer number'),
            maxOverMean: number('slowest rank divided by the mean, mean over steps'),
            slowestRank: numberOrNull('slowest most often'),
            slowestShare: number('share of steps in which it is slowest'),
            expertNs: number('grouped GEMMs per step, mean over ranks (nanoseconds)'),
            waitNs: number('waits behind them per step, mean over ranks (nanoseconds)'),
            savedNs: number('per step, inferred (nanoseconds)'),
          }),
          'one each, where layers are known',
        ),
        perRank: list(
          object({
            rank: numberOrNull('rank'),
            expertNs: number('grouped GEMMs per step (nanoseconds)'),
            waitNs: number('waits behind experts per step (nanoseconds)'),
            slowestShare: number('share of layers in which it is the slowest'),
          }),
          'one each',
        ),
        stepGain: number('increase in steps per second with perfect balance, inferred'),
        gainInterval: list(number(), 'its lower and upper bound'),
        agrees: orNull(flag('the gain from counts lies between the bounds')),
      }),
    ),
    logged: orNull(
      object({
        engine: string('engine that printed the log'),
        points: number('lines'),
        mean: number('load of the busiest GPU divided by the mean'),
        p99: number('99th percentile'),
        worst: number('most'),
      }),
    ),
    heatMaps: orNull(object({ experts: heat, time: orNull(heat) })),
    notes: list(note, 'data lost or anomalies found'),
  },
);
