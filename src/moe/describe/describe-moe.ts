/** The page of `stepscope moe` as blocks: the answer first, then what it rests on. */
import type { Block, HeatBlock, TableBlock } from '../../analyze/block.js';
import type { MoeAnswer } from '../answer.js';
import { expertHeat, type HeatMap, timeHeat } from '../loads/heat-maps.js';
import { answerLines, headerLine, ratio } from './moe-words.js';

const SHOWN_LAYERS = 12;
const SHOWN_GPUS = 16;

export function describeMoe(answer: MoeAnswer, everything = false): Block[] {
  return [
    { kind: 'statement', id: 'moe-what', title: '', lines: [headerLine(answer)], quiet: true },
    { kind: 'statement', id: 'moe-answer', title: 'Answer', lines: answerLines(answer) },
    ...fixTable(answer),
    ...phaseTable(answer),
    ...layerTable(answer, everything ? Infinity : SHOWN_LAYERS),
    ...gpuTable(answer, everything ? Infinity : SHOWN_GPUS),
    ...inferredTable(answer),
    ...heatBlocks(answer),
    ...notesBlock(answer),
  ];
}

function fixTable({ plans, heldOut, machine }: MoeAnswer): TableBlock[] {
  if (plans.length === 0) return [];
  return [
    {
      kind: 'table',
      id: 'moe-placements',
      title: `Placements on ${machine.gpus} GPUs`,
      rows: plans.length,
      columns: [
        { header: 'Placement', kind: 'text', values: plans.map(({ plan }) => plan.label) },
        { header: 'Replicas', kind: 'count', values: plans.map(({ replicas }) => replicas) },
        {
          header: 'Busiest by mean',
          kind: 'text',
          values: plans.map(({ plan }) => ratio(plan.cost.imbalance)),
        },
        {
          header: 'Lost of expert time (%)',
          kind: 'share',
          values: plans.map(({ plan }) => plan.cost.lostShare),
        },
        { header: 'Won back (%)', kind: 'share', values: plans.map(({ recovered }) => recovered) },
        {
          header: 'Steps',
          kind: 'text',
          values: plans.map(({ stepGain }) =>
            stepGain === null ? '–' : `${stepGain >= 0 ? '+' : '−'}${Math.abs(stepGain * 100).toFixed(1)}%`,
          ),
        },
      ],
      advice: heldOut
        ? 'Made from the first half of the run, judged on iterations of the second.'
        : 'Made from and judged on the same loads: there is too little to hold some back.',
    },
  ];
}

function phaseTable({ phases }: MoeAnswer): TableBlock[] {
  if (phases.length === 0) return [];
  return [
    {
      kind: 'table',
      id: 'moe-phases',
      title: 'Phases',
      rows: phases.length,
      columns: [
        { header: 'Phase', kind: 'text', values: phases.map(({ phase }) => phase) },
        { header: 'Iterations', kind: 'count', values: phases.map(({ iterations }) => iterations) },
        {
          header: 'Busiest GPU',
          kind: 'text',
          values: phases.map(({ gpuImbalance }) => ratio(gpuImbalance)),
        },
        {
          header: 'Busiest expert',
          kind: 'text',
          values: phases.map(({ maxOverMean }) => ratio(maxOverMean)),
        },
        {
          header: 'Lost of expert time (%)',
          kind: 'share',
          values: phases.map(({ lostShare }) => lostShare),
        },
      ],
    },
  ];
}

function layerTable({ layers, cost }: MoeAnswer, most: number): TableBlock[] {
  if (layers.length === 0 || !cost) return [];
  const order = layers
    .map((_, i) => i)
    .sort((a, b) => cost.layers[b].imbalance - cost.layers[a].imbalance || a - b)
    .slice(0, most);
  const rows = order.map(i => ({ ...layers[i], cost: cost.layers[i] }));
  const text = (of: (row: (typeof rows)[number]) => string) => rows.map(of);
  return [
    {
      kind: 'table',
      id: 'moe-layers',
      title:
        order.length < layers.length ? `Layers, the ${order.length} worst of ${layers.length}` : 'Layers',
      rows: rows.length,
      columns: [
        { header: 'Layer', kind: 'id', values: rows.map(({ layer }) => layer) },
        { header: 'Busiest GPU', kind: 'text', values: text(row => ratio(row.cost.imbalance)) },
        { header: 'Busiest expert', kind: 'text', values: text(row => ratio(row.perIteration.mean)) },
        { header: 'p99', kind: 'text', values: text(row => ratio(row.perIteration.p99)) },
        { header: 'Whole run', kind: 'text', values: text(row => ratio(row.overall.maxOverMean)) },
        { header: 'Variation', kind: 'text', values: text(row => row.meanVariation.toFixed(2)) },
        { header: 'Gini', kind: 'text', values: text(row => row.overall.gini.toFixed(2)) },
        { header: 'Entropy', kind: 'text', values: text(row => row.overall.entropy.toFixed(3)) },
        { header: 'Idle experts (%)', kind: 'share', values: rows.map(row => row.meanIdleShare) },
        { header: 'Hot stays hot (%)', kind: 'share', values: rows.map(row => row.stability.hotOverlap) },
        {
          header: 'Hottest',
          kind: 'text',
          values: text(row =>
            row.hottest
              .slice(0, 3)
              .map(({ expert, share }) => `${expert} (${(share * 100).toFixed(1)}%)`)
              .join(' '),
          ),
        },
      ],
    },
  ];
}

function gpuTable({ cost, machine }: MoeAnswer, most: number): TableBlock[] {
  if (!cost || machine.gpus === 1) return [];
  const rows = cost.gpus
    .map((gpu, index) => ({ ...gpu, index }))
    .sort((a, b) => b.criticalShare - a.criticalShare || b.pairs - a.pairs)
    .slice(0, most);
  const mean = cost.gpus.reduce((sum, { pairs }) => sum + pairs, 0) / cost.gpus.length;
  return [
    {
      kind: 'table',
      id: 'moe-gpus',
      title: rows.length < cost.gpus.length ? `GPUs, the ${rows.length} most often waited for` : 'GPUs',
      rows: rows.length,
      columns: [
        { header: 'GPU', kind: 'id', values: rows.map(({ index }) => index) },
        { header: 'Tokens by mean', kind: 'text', values: rows.map(({ pairs }) => ratio(pairs / mean)) },
        { header: 'Waited for (%)', kind: 'share', values: rows.map(({ criticalShare }) => criticalShare) },
      ],
      advice: 'Experts in order. Waited for: part of layers and iterations in which this GPU had most.',
    },
  ];
}

function inferredTable({ measured, basis }: MoeAnswer): TableBlock[] {
  if (!measured?.inferred) return [];
  const rows = measured.inferred.devices;
  const title =
    basis === 'inferred' ? 'Ranks (inferred from time, tokens were not counted)' : 'Ranks in the profile';
  return [
    {
      kind: 'table',
      id: 'moe-ranks',
      title,
      rows: rows.length,
      columns: [
        { header: 'Rank', kind: 'id', values: rows.map(({ rank, device }) => rank ?? device) },
        { header: 'Grouped GEMMs', kind: 'ns-mean', values: rows.map(({ expertNs }) => expertNs) },
        { header: 'Waits for others', kind: 'ns-mean', values: rows.map(({ waitNs }) => waitNs) },
        { header: 'Slowest (%)', kind: 'share', values: rows.map(({ slowestShare }) => slowestShare) },
      ],
      advice: 'Per step. Waits: communication and combine beyond that of the quickest rank of the step.',
    },
  ];
}

function heatBlocks({ summary }: MoeAnswer): HeatBlock[] {
  if (!summary) return [];
  const block = (id: string, title: string, caption: string, map: HeatMap): HeatBlock => ({
    kind: 'heat',
    id,
    title,
    caption,
    ...map,
  });
  return [
    block(
      'moe-heat-experts',
      'Experts',
      'tokens of an expert by the mean of its layer, whole run',
      expertHeat(summary),
    ),
    ...(summary.iterations > 1
      ? [block('moe-heat-time', 'Over time', 'busiest expert by mean, per layer', timeHeat(summary))]
      : []),
  ];
}

function notesBlock({ notes }: MoeAnswer): Block[] {
  if (notes.length === 0) return [];
  return [
    {
      kind: 'facts',
      id: 'moe-notes',
      title: 'Notes',
      facts: notes.map(({ count, text, example, severity }) => ({
        label: String(count),
        text: `${text}${example ? ` (e.g. ${example})` : ''}`,
        tone: severity === 'loss' ? 'bad' : 'quiet',
      })),
    },
  ];
}
