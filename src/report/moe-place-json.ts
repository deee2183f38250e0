/** The JSON Schema of `stepscope moe place --json`, and the version of its form. */
import { type JsonSchema, list, number, object, text } from '../base/json-schema.js';

export const MOE_PLACE_SCHEMA = 'stepscope-moe-place/1';

const link = object({
  localBytes: number('stays on its GPU'),
  intraBytes: number('crosses inside nodes'),
  interBytes: number('crosses between nodes'),
  busiestGpuBytes: number('most that one GPU receives inside its node'),
  busiestNodeBytes: number('most that one node receives from others'),
});

const placement = object({
  method: { enum: ['plain', 'eplb-hierarchical', 'eplb-global', 'stepscope-hierarchical', 'stepscope'] },
  label: text('in words'),
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
  physicalToLogical: list({ type: 'array', items: { type: 'number' } }, 'per layer the expert of each place'),
  traffic: {
    oneOf: [
      { type: 'null' },
      object({
        eachCopy: link,
        oncePerNode: link,
        nodesPerToken: number('expected'),
        gpusPerToken: number('expected'),
      }),
    ],
    description: 'per layer and step, there and back; null: experts per token are not known',
  },
});

export const moePlaceSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'stepscope-moe-place-1',
  title: 'Placements of experts',
  description:
    'Where experts go by several methods, and how even that is on iterations they were not made from.',
  ...(object({
    schema: { const: MOE_PLACE_SCHEMA },
    files: list(text('path'), 'as given'),
    machine: object(
      {
        gpus: number('GPUs'),
        nodes: number('machines'),
        places: number('experts and replicas'),
        groups: number('groups of experts'),
      },
      ['gpus', 'nodes', 'places'],
    ),
    heldOut: { type: 'boolean', description: 'judged on iterations they were not made from' },
    layers: list({ type: 'number' }, 'numbers of the layers with experts'),
    placements: list(placement, 'by method'),
    sweep: list(
      object({
        phase: { enum: ['prefill', 'decode', 'mixed', 'all'] },
        gpus: number('GPUs'),
        replicas: number('beside the experts'),
        batch: number('of the measured one'),
        plainImbalance: number('in order'),
        placedImbalance: number('placed by EPLB'),
        relativeTime: number('expert time by that on the fewest GPUs at this batch'),
      }),
      'with --sweep',
    ),
  }) as object),
};
