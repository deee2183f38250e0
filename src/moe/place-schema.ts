/** What `stepscope moe place --json` prints, declared. */
import { choice, document, flag, list, number, object, optional, orNull, string } from '../base/document.js';
import { planMethod } from './moe-schema.js';

const link = object({
  localBytes: number('bytes that stay on their GPU'),
  intraBytes: number('bytes that cross GPUs within nodes'),
  interBytes: number('bytes that cross nodes'),
  busiestGpuBytes: number('maximum one GPU receives within its node'),
  busiestNodeBytes: number('maximum one node receives from other nodes'),
});

export const trafficSchema = object({
  eachCopy: link,
  oncePerNode: link,
  nodesPerToken: number('expected'),
  gpusPerToken: number('expected'),
});

const placement = object({
  method: planMethod,
  label: string('readable label'),
  gpuImbalance: number(
    'load of the busiest GPU divided by the mean, mean over layers and evaluated iterations',
  ),
  lostShare: number('share of expert time spent waiting for the busiest GPU'),
  layers: list(
    object({
      layer: number('number'),
      gpuImbalance: number('mean over iterations'),
      worst: number('worst iteration'),
    }),
    'one each',
  ),
  physicalToLogical: list(list(number()), 'expert of each slot, per layer'),
  traffic: orNull(
    trafficSchema,
    'per layer and step, dispatch and combine; null: experts per token are unknown',
  ),
});

export const sweepRowSchema = object({
  phase: choice(['prefill', 'decode', 'mixed', 'all']),
  gpus: number('GPUs'),
  replicas: number('in addition to the experts'),
  // Token-expert pairs of a step by those measured: 0.25 is a quarter of the batch.
  batch: number('relative to the measured batch'),
  plainImbalance: number('in order'),
  placedImbalance: number('with EPLB placement'),
  relativeTime: number('expert time relative to the fewest GPUs at this batch'),
});

export const moePlaceSchema = document(
  'stepscope-moe-place/1',
  'Placements of experts',
  'Expert placements by several methods, and how even each is on held-out iterations.',
  {
    files: list(string('path'), 'as given'),
    machine: object({
      gpus: number('GPUs'),
      nodes: number('machines'),
      places: number('experts and replicas'),
      groups: optional(number('groups of experts')),
    }),
    heldOut: flag('evaluated on held-out iterations'),
    layers: list(number(), 'numbers of the layers with experts'),
    placements: list(placement, 'by method'),
    sweep: list(sweepRowSchema, 'with --sweep'),
  },
);
