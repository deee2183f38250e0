/** `stepscope moe place FILE`: placements by every method, judged on what they have not seen, and written for engines. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { type Traffic, trafficOf } from '../../moe/cost/all-to-all.js';
import { proportional } from '../../moe/cost/expert-time.js';
import { fitFromProfile } from '../../moe/cost/fit-profile.js';
import { measureExperts } from '../../moe/cost/measured-experts.js';
import { describePlans, type TrafficRow } from '../../moe/describe/describe-plans.js';
import type { LoadSummary } from '../../moe/loads/load-summary.js';
import { rowOf } from '../../moe/loads/load-summary.js';
import { type MappingFormat, mappingFormats } from '../../moe/placement/export-mapping.js';
import { type Plans, placeBy, planLayers } from '../../moe/placement/plan-layers.js';
import { type SweepRow, sweep } from '../../moe/placement/sweep.js';
import { markdown } from '../../report/markdown.js';
import { MOE_PLACE_SCHEMA } from '../../report/moe-place-json.js';
import { text } from '../../report/text.js';
import type { Output } from '../command.js';
import { writeResult } from '../write-result.js';
import type { MachineSettings } from './moe-options.js';
import { noCounts, readMoeFiles } from './read-moe.js';

interface PlaceOptions {
  readonly format: 'table' | 'json' | 'csv' | 'markdown';
  /** Write the mapping of these engines into the folder. */
  readonly engines: readonly MappingFormat[];
  readonly folder: string;
  readonly force: boolean;
  readonly sweep: boolean;
  /** For traffic: tokens a GPU brings to a layer, and the width of the model. */
  readonly tokens?: number;
  readonly hidden: number;
  readonly topK?: number;
  readonly topGroups?: number;
}

export async function moePlace(
  files: readonly string[],
  settings: MachineSettings,
  options: PlaceOptions,
  output: Output,
): Promise<number> {
  const { summary, profile } = await readMoeFiles(files, settings, output);
  if (!summary) throw noCounts(files[0]);
  const { gpus = summary.ranks ?? 8, nodes = 1, replicas = 0, groups } = settings;
  const places = replicas > 0 ? summary.experts + replicas : Math.ceil(summary.experts / gpus) * gpus;
  const shape = { gpus, nodes, places, ...(groups === undefined ? {} : { groups }) };
  const inOrder = () => placeBy('plain', summary.totals.subarray(0, summary.experts), { ...shape, nodes: 1 });
  const time = settings.time ?? (profile && fitFromProfile(summary, profile, inOrder())) ?? proportional;
  const expertShare = settings.expertShare ?? (profile && measureExperts(profile).expertShare);
  const plans = planLayers(summary, shape, time, {
    onProgress: done => output.progress('placing experts', done),
  });
  output.clearProgress();
  const best = plans.plans.reduce((a, b) => (b.cost.ns < a.cost.ns ? b : a));
  const traffic = trafficRows(summary, plans, options);
  const swept = options.sweep ? sweep(summary, time) : [];
  if (options.format === 'json')
    output.out(`${JSON.stringify(document(files, summary, plans, traffic, swept), null, 1)}\n`);
  else if (options.format === 'csv') output.out(layersCsv(summary, plans));
  else {
    const renderer = options.format === 'markdown' ? markdown : text;
    const described = { summary, plans, best, traffic, swept, about: time.about };
    const share = expertShare === undefined ? {} : { expertShare };
    output.out(renderer.render(describePlans({ ...described, ...share }), output));
  }
  if (options.engines.length > 0) fs.mkdirSync(options.folder, { recursive: true });
  for (const engine of options.engines) {
    const { file, write } = mappingFormats[engine];
    const mapped = {
      layers: summary.layers,
      recordedLayers: summary.recordedLayers,
      placements: best.placements,
    };
    writeResult(path.join(options.folder, file), write(mapped), options.force, output);
  }
  return 0;
}

/** The mean over layers; where nobody said how many tokens there are, the measured iterations do. */
function trafficRows(
  summary: LoadSummary,
  { plans, shape }: Plans,
  { tokens, hidden, topK, topGroups }: PlaceOptions,
): TrafficRow[] {
  const k = topK ?? summary.topK;
  if (k === undefined) return [];
  const pairs =
    summary.totals.reduce((sum, count) => sum + count, 0) / summary.iterations / summary.layers.length;
  const tokensPerGpu = tokens ?? pairs / k / shape.gpus;
  return plans.map(plan => {
    const each = plan.placements.map((placement, layer) =>
      trafficOf(placement, rowOf(summary.totals, layer, summary.experts), {
        nodes: shape.nodes,
        tokensPerGpu,
        topK: k,
        hidden,
        ...(shape.groups === undefined ? {} : { groups: shape.groups }),
        ...(topGroups === undefined ? {} : { topGroups }),
      }),
    );
    return { plan, traffic: meanTraffic(each) };
  });
}

function meanTraffic(each: readonly Traffic[]): Traffic {
  const mean = (of: (traffic: Traffic) => number) =>
    each.reduce((sum, traffic) => sum + of(traffic), 0) / each.length;
  const link = (of: (traffic: Traffic) => Traffic['eachCopy']) => ({
    localBytes: mean(traffic => of(traffic).localBytes),
    intraBytes: mean(traffic => of(traffic).intraBytes),
    interBytes: mean(traffic => of(traffic).interBytes),
    busiestGpuBytes: mean(traffic => of(traffic).busiestGpuBytes),
    busiestNodeBytes: mean(traffic => of(traffic).busiestNodeBytes),
  });
  return {
    eachCopy: link(traffic => traffic.eachCopy),
    oncePerNode: link(traffic => traffic.oncePerNode),
    nodesPerToken: mean(traffic => traffic.nodesPerToken),
    gpusPerToken: mean(traffic => traffic.gpusPerToken),
  };
}

function document(
  files: readonly string[],
  summary: LoadSummary,
  plans: Plans,
  traffic: readonly TrafficRow[],
  swept: readonly SweepRow[],
): unknown {
  return {
    schema: MOE_PLACE_SCHEMA,
    files,
    machine: plans.shape,
    heldOut: plans.heldOut,
    layers: summary.layers,
    placements: plans.plans.map(({ method, label, cost, placements }, i) => ({
      method,
      label,
      gpuImbalance: cost.imbalance,
      lostShare: cost.lostShare,
      layers: cost.layers.map(({ imbalance, worst }, layer) => ({
        layer: summary.layers[layer],
        gpuImbalance: imbalance,
        worst,
      })),
      physicalToLogical: placements.map(({ expertOf }) => [...expertOf]),
      traffic: traffic[i]?.traffic ?? null,
    })),
    sweep: swept,
  };
}

function layersCsv(summary: LoadSummary, { plans }: Plans): string {
  const lines = summary.layers.map((layer, l) =>
    [layer, ...plans.map(({ cost }) => cost.layers[l].imbalance)].join(','),
  );
  return `${[['layer', ...plans.map(({ method }) => method)].join(','), ...lines].join('\n')}\n`;
}

export function requireOneFormat(engines: readonly string[], folder: string | undefined): void {
  if (engines.length > 0 || folder === undefined) return;
  throw new UserError('usage', '-o was given, but no engine to write for.', 'Add --for trtllm,sglang');
}
