/** What `stepscope moe place --json` prints, declared. */
import { choice, document, flag, list, number, object, optional, orNull, string } from '../base/document.js';
import { planMethod } from './moe-schema.js';

const link = object({
  localBytes: number('stays on its GPU'),
  intraBytes: number('crosses inside nodes'),
  interBytes: number('crosses between nodes'),
  busiestGpuBytes: number('most that one GPU receives inside its node'),
  busiestNodeBytes: number('most that one node receives from others'),
});

export const trafficSchema = object({
  eachCopy: link,
  oncePerNode: link,
  nodesPerToken: number('expected'),
  gpusPerToken: number('expected'),
});

const placement = object({
  method: planMethod,
  label: string('in words'),
  gpuImbalance: number('busiest by mean GPU, mean over layers and judged iterations'),
  lostShare: number('part of expert time spent waiting for the busiest GPU'),
  layers: list(
    object({
      layer: number('number'),
      gpuImbalance: number('mean over iterations'),
      worst: number('worst iteration'),
    }),
    'one each',
  ),
  physicalToLogical: list(list(number()), 'per layer the expert of each place'),
  traffic: orNull(trafficSchema, 'per layer and step, there and back; null: experts per token are not known'),
});

export const sweepRowSchema = object({
  phase: choice(['prefill', 'decode', 'mixed', 'all']),
  gpus: number('GPUs'),
  replicas: number('beside the experts'),
  // Token-expert pairs of a step by those measured: 0.25 is a quarter of the batch.
  batch: number('of the measured one'),
  plainImbalance: number('in order'),
  placedImbalance: number('placed by EPLB'),
  relativeTime: number('expert time by that on the fewest GPUs at this batch'),
});

export const moePlaceSchema = document(
  'stepscope-moe-place/1',
  'Placements of experts',
  'Where experts go by several methods, and how even that is on iterations they were not made from.',
  {
    files: list(string('path'), 'as given'),
    machine: object({
      gpus: number('GPUs'),
      nodes: number('machines'),
      places: number('experts and replicas'),
      groups: optional(number('groups of experts')),
    }),
    heldOut: flag('judged on iterations they were not made from'),
    layers: list(number(), 'numbers of the layers with experts'),
    placements: list(placement, 'by method'),
    sweep: list(sweepRowSchema, 'with --sweep'),
  },
);
