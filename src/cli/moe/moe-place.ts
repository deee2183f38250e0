/** `stepscope moe place FILE`: placements by every method, judged on what they have not seen, and written for engines. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Block, TableBlock } from '../../analyze/block.js';
import { formatBytes, formatShare, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { type Traffic, trafficOf } from '../../moe/cost/all-to-all.js';
import { proportional } from '../../moe/cost/expert-time.js';
import { ratio } from '../../moe/describe/moe-words.js';
import type { LoadSummary } from '../../moe/loads/load-summary.js';
import { rowOf } from '../../moe/loads/load-summary.js';
import { type MappingFormat, mappingFormats } from '../../moe/placement/export-mapping.js';
import { type Plan, type Plans, planLayers } from '../../moe/placement/plan-layers.js';
import { type SweepRow, sweep } from '../../moe/placement/sweep.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import type { Output } from '../command.js';
import { writeResult } from '../write-result.js';
import type { MachineSettings } from './moe-options.js';
import { readSummary } from './read-moe.js';

export interface PlaceOptions {
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
  const summary = await readSummary(files, settings, output);
  const { gpus = summary.ranks ?? 8, nodes = 1, replicas = 0, groups } = settings;
  const places = replicas > 0 ? summary.experts + replicas : Math.ceil(summary.experts / gpus) * gpus;
  const shape = { gpus, nodes, places, ...(groups === undefined ? {} : { groups }) };
  const plans = planLayers(summary, shape, settings.time ?? proportional, {
    onProgress: done => output.progress('placing experts', done),
  });
  output.clearProgress();
  const best = plans.plans.reduce((a, b) => (b.cost.ns < a.cost.ns ? b : a));
  const traffic = trafficRows(summary, plans, options);
  const swept = options.sweep ? sweep(summary, settings.time ?? proportional) : [];
  if (options.format === 'json')
    output.out(`${JSON.stringify(document(files, summary, plans, traffic, swept), null, 1)}\n`);
  else if (options.format === 'csv') output.out(layersCsv(summary, plans));
  else {
    const renderer = options.format === 'markdown' ? markdown : text;
    output.out(renderer.render(blocks(summary, plans, best, traffic, swept), output));
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

interface TrafficRow {
  readonly plan: Plan;
  readonly traffic: Traffic;
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

function blocks(
  summary: LoadSummary,
  { plans, shape, heldOut }: Plans,
  best: Plan,
  traffic: readonly TrafficRow[],
  swept: readonly SweepRow[],
): Block[] {
  const base = plans[0].cost;
  const lines = [
    `${best.label} is best: the busiest of ${plural(shape.gpus, 'GPU')} gets ${ratio(best.cost.imbalance)} the mean, in order ${ratio(base.imbalance)}; expert time ${formatShare(1 - best.cost.ns / base.ns)} less.`,
    heldOut
      ? `Made from the first half of ${plural(summary.iterations, 'iteration')}, judged on ${plural(best.cost.iterations, 'iteration')} of the second. One placement per layer.`
      : 'Made from and judged on the same loads, which flatters every method: record more iterations. One placement per layer.',
  ];
  const table: TableBlock = {
    kind: 'table',
    id: 'moe-place',
    title: `Placements: ${shape.places} places, ${shape.places - summary.experts} replicas, ${shape.gpus} GPUs, ${plural(shape.nodes, 'node')}`,
    rows: plans.length,
    columns: [
      { header: 'Placement', kind: 'text', values: plans.map(({ label }) => label) },
      { header: 'Busiest by mean', kind: 'text', values: plans.map(({ cost }) => ratio(cost.imbalance)) },
      {
        header: 'Worst layer',
        kind: 'text',
        values: plans.map(({ cost }) => ratio(Math.max(...cost.layers.map(layer => layer.imbalance)))),
      },
      { header: 'Lost of expert time (%)', kind: 'share', values: plans.map(({ cost }) => cost.lostShare) },
      {
        header: 'Expert time saved (%)',
        kind: 'share',
        values: plans.map(({ cost }) => 1 - cost.ns / base.ns),
      },
    ],
  };
  return [
    { kind: 'statement', id: 'moe-place-answer', title: '', lines },
    table,
    ...(traffic.length > 0 ? [trafficTable(traffic)] : []),
    ...(swept.length > 0 ? [sweepTable(swept)] : []),
  ];
}

const trafficTable = (rows: readonly TrafficRow[]): TableBlock => ({
  kind: 'table',
  id: 'moe-traffic',
  title: 'All-to-all per layer and step, there and back',
  rows: rows.length,
  columns: [
    { header: 'Placement', kind: 'text', values: rows.map(({ plan }) => plan.label) },
    {
      header: 'Inside nodes',
      kind: 'text',
      values: rows.map(({ traffic }) => formatBytes(Math.round(traffic.eachCopy.intraBytes))),
    },
    {
      header: 'Between nodes',
      kind: 'text',
      values: rows.map(({ traffic }) => formatBytes(Math.round(traffic.eachCopy.interBytes))),
    },
    {
      header: 'once per node',
      kind: 'text',
      values: rows.map(({ traffic }) => formatBytes(Math.round(traffic.oncePerNode.interBytes))),
    },
    {
      header: 'Busiest node, once',
      kind: 'text',
      values: rows.map(({ traffic }) => formatBytes(Math.round(traffic.oncePerNode.busiestNodeBytes))),
    },
    { header: 'Nodes per token', kind: 'mean', values: rows.map(({ traffic }) => traffic.nodesPerToken) },
  ],
  advice:
    'FP8 there, BF16 back. Once per node: a token crosses to a node once and spreads inside it, as DeepEP does. A token’s experts are taken as independent; group-limited routing visits fewer nodes.',
});

const sweepTable = (rows: readonly SweepRow[]): TableBlock => ({
  kind: 'table',
  id: 'moe-sweep',
  title: 'Other machines and batches (EPLB, global)',
  rows: rows.length,
  columns: [
    { header: 'Phase', kind: 'text', values: rows.map(({ phase }) => phase) },
    { header: 'GPUs', kind: 'count', values: rows.map(({ gpus }) => gpus) },
    { header: 'Replicas', kind: 'count', values: rows.map(({ replicas }) => replicas) },
    { header: 'Batch', kind: 'text', values: rows.map(({ batch }) => `${batch}×`) },
    { header: 'In order', kind: 'text', values: rows.map(({ plainImbalance }) => ratio(plainImbalance)) },
    { header: 'Placed', kind: 'text', values: rows.map(({ placedImbalance }) => ratio(placedImbalance)) },
    { header: 'Expert time', kind: 'text', values: rows.map(({ relativeTime }) => ratio(relativeTime)) },
  ],
  advice:
    'Busiest by mean GPU. Batch: of the measured one; smaller ones are drawn from it, larger ones scaled. Expert time: against the fewest GPUs at that batch.',
});

function document(
  files: readonly string[],
  summary: LoadSummary,
  plans: Plans,
  traffic: readonly TrafficRow[],
  swept: readonly SweepRow[],
): unknown {
  return {
    schema: 'stepscope-moe-place/1',
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
