/**
 * Placements as the files engines load.
 *
 *   trtllm       moe_config.load_balancer: initial_global_assignments by layer, num_slots (examples/wide_ep/ep_load_balancer)
 *   sglang       --init-expert-location FILE: {"physical_to_logical_map": [layer][place]} (srt/eplb/expert_location.py);
 *                a row for every layer of the model, dense ones too
 *   vllm         [layer][place], layers with experts alone, as proposed in vllm-project/vllm#49572
 *                (eplb_config.initial_expert_map_path); releases without it rearrange by themselves
 *   vllm-ascend  expert_map_path: moe_layer_count, layer_list with device_list
 */
import { UserError } from '../../base/user-error.js';
import type { Placement } from './placement.js';

interface MappedLayers {
  /** Engine's numbers of the layers, one per placement. */
  readonly layers: readonly number[];
  /** All layers, dense ones among them. */
  readonly recordedLayers: readonly number[];
  readonly placements: readonly Placement[];
}

export const mappingFormats = {
  trtllm: { file: 'moe_load_balancer.yaml', write: trtllm },
  sglang: { file: 'expert_location.json', write: sglang },
  vllm: { file: 'expert_map_vllm.json', write: vllm },
  'vllm-ascend': { file: 'expert_map_ascend.json', write: vllmAscend },
} as const satisfies Record<string, { file: string; write(mapped: MappedLayers): string }>;

type MappingFormat = keyof typeof mappingFormats;

export function readMappingFormat(text: string): MappingFormat {
  if (Object.hasOwn(mappingFormats, text)) return text as MappingFormat;
  throw new UserError(
    'usage',
    `Unknown mapping format ${JSON.stringify(text)}.`,
    `Use one of: ${Object.keys(mappingFormats).join(', ')}`,
  );
}

function trtllm({ layers, placements }: MappedLayers): string {
  const rows = layers.map((layer, i) => `  ${layer}: [${placements[i].expertOf.join(', ')}]`);
  return `initial_global_assignments:\n${rows.join('\n')}\nnum_slots: ${placements[0].expertOf.length}\nlayer_updates_per_iter: 0\n`;
}

function sglang({ layers, recordedLayers, placements }: MappedLayers): string {
  const byLayer = new Map(layers.map((layer, i) => [layer, placements[i]]));
  const { expertOf, replicas } = placements[0];
  // What SGLang itself does with a layer nobody planned.
  const inOrder = Array.from({ length: expertOf.length }, (_, i) => i % replicas.length);
  const count = Math.max(...recordedLayers) + 1;
  const rows = Array.from({ length: count }, (_, layer) => [...(byLayer.get(layer)?.expertOf ?? inOrder)]);
  return `${JSON.stringify({ physical_to_logical_map: rows })}\n`;
}

function vllm({ placements }: MappedLayers): string {
  return `${JSON.stringify(placements.map(({ expertOf }) => [...expertOf]))}\n`;
}

function vllmAscend({ placements }: MappedLayers): string {
  const layerList = placements.map(({ expertOf, gpus }, layer) => ({
    layer_id: layer,
    device_count: gpus,
    device_list: Array.from({ length: gpus }, (_, gpu) => {
      const perGpu = expertOf.length / gpus;
      return { device_id: gpu, device_expert: [...expertOf.subarray(gpu * perGpu, (gpu + 1) * perGpu)] };
    }),
  }));
  return `${JSON.stringify({ moe_layer_count: placements.length, layer_list: layerList })}\n`;
}
