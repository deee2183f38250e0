/** The page of `stepscope moe` as blocks: the answer first, then what it rests on. */

import type { Block, HeatBlock, TableBlock } from '../../analyze/block.js';
import { tableOf } from '../../analyze/table-of.js';
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
    ...timelineTable(answer, everything ? Infinity : SHOWN_LAYERS),
    ...heatBlocks(answer),
    ...notesBlock(answer),
  ];
}

function fixTable({ plans, heldOut, machine }: MoeAnswer): TableBlock[] {
  if (plans.length === 0) return [];
  return [
    tableOf(
      plans,
      {
        id: 'moe-placements',
        title: `Placements on ${machine.gpus} GPUs`,
        advice: heldOut
          ? 'Computed from the first half of the run, evaluated on the second half.'
          : 'Computed from and evaluated on the same loads: there are too few iterations to hold some out.',
      },
      [
        ['Placement', 'text', ({ plan }) => plan.label],
        ['Replicas', 'count', ({ replicas }) => replicas],
        ['Max/mean', 'text', ({ plan }) => ratio(plan.cost.imbalance)],
        ['Expert time lost (%)', 'share', ({ plan }) => plan.cost.lostShare],
        ['Recovered (%)', 'share', ({ recovered }) => recovered],
        [
          'Steps',
          'text',
          ({ stepGain }) =>
            stepGain === null ? '–' : `${stepGain >= 0 ? '+' : '−'}${Math.abs(stepGain * 100).toFixed(1)}%`,
        ],
      ],
    ),
  ];
}

function phaseTable({ phases }: MoeAnswer): TableBlock[] {
  if (phases.length === 0) return [];
  return [
    tableOf(phases, { id: 'moe-phases', title: 'Phases' }, [
      ['Phase', 'text', ({ phase }) => phase],
      ['Iterations', 'count', ({ iterations }) => iterations],
      ['Busiest GPU', 'text', ({ gpuImbalance }) => ratio(gpuImbalance)],
      ['Busiest expert', 'text', ({ maxOverMean }) => ratio(maxOverMean)],
      ['Expert time lost (%)', 'share', ({ lostShare }) => lostShare],
    ]),
  ];
}

function layerTable({ layers, cost }: MoeAnswer, most: number): TableBlock[] {
  if (layers.length === 0 || !cost) return [];
  const order = layers
    .map((_, i) => i)
    .sort((a, b) => cost.layers[b].imbalance - cost.layers[a].imbalance || a - b)
    .slice(0, most);
  const rows = order.map(i => ({ ...layers[i], cost: cost.layers[i] }));
  return [
    tableOf(
      rows,
      {
        id: 'moe-layers',
        title:
          order.length < layers.length ? `Layers, the ${order.length} worst of ${layers.length}` : 'Layers',
      },
      [
        ['Layer', 'id', ({ layer }) => layer],
        ['Busiest GPU', 'text', row => ratio(row.cost.imbalance)],
        ['Busiest expert', 'text', row => ratio(row.perIteration.mean)],
        ['p99', 'text', row => ratio(row.perIteration.p99)],
        ['Whole run', 'text', row => ratio(row.overall.maxOverMean)],
        ['Variation', 'text', row => row.meanVariation.toFixed(2)],
        ['Gini', 'text', row => row.overall.gini.toFixed(2)],
        ['Entropy', 'text', row => row.overall.entropy.toFixed(3)],
        ['Idle experts (%)', 'share', row => row.meanIdleShare],
        ['Still hot (%)', 'share', row => row.stability.hotOverlap],
        ['Hottest', 'text', ({ hottest }) => hottest.slice(0, 3).map(shareText).join(' ')],
      ],
    ),
  ];
}

const shareText = ({ expert, share }: { readonly expert: number; readonly share: number }) =>
  `${expert} (${(share * 100).toFixed(1)}%)`;

function gpuTable({ cost, machine }: MoeAnswer, most: number): TableBlock[] {
  if (!cost || machine.gpus === 1) return [];
  const rows = cost.gpus
    .map((gpu, index) => ({ ...gpu, index }))
    .sort((a, b) => b.criticalShare - a.criticalShare || b.pairs - a.pairs)
    .slice(0, most);
  const mean = cost.gpus.reduce((sum, { pairs }) => sum + pairs, 0) / cost.gpus.length;
  return [
    tableOf(
      rows,
      {
        id: 'moe-gpus',
        title: rows.length < cost.gpus.length ? `GPUs, the ${rows.length} most often waited for` : 'GPUs',
        advice:
          'Experts in order. Waited for: share of layers and iterations in which this GPU had the most tokens.',
      },
      [
        ['GPU', 'id', ({ index }) => index],
        ['Tokens/mean', 'text', ({ pairs }) => ratio(pairs / mean)],
        ['Waited for (%)', 'share', ({ criticalShare }) => criticalShare],
      ],
    ),
  ];
}

function inferredTable({ measured, basis, timeline }: MoeAnswer): TableBlock[] {
  if (!measured?.inferred) return [];
  if (timeline)
    return [
      tableOf(
        timeline.balance.perRank,
        {
          id: 'moe-ranks',
          title: 'Ranks by the timeline',
          advice: 'Per step. Waits: measured, at the collectives behind the experts.',
        },
        [
          ['Rank', 'id', ({ rank }) => rank ?? undefined],
          ['Grouped GEMMs', 'ns-mean', ({ expertNs }) => expertNs],
          ['Waits for others', 'ns-mean', ({ waitNs }) => waitNs],
          ['Slowest in layers (%)', 'share', ({ slowestShare }) => slowestShare],
        ],
      ),
    ];
  const rows = measured.inferred.devices;
  const title =
    basis === 'inferred' ? 'Ranks (inferred from time; tokens were not counted)' : 'Ranks in the profile';
  return [
    tableOf(
      rows,
      {
        id: 'moe-ranks',
        title,
        advice: 'Per step. Waits: communication and combine time above the fastest rank of the step.',
      },
      [
        ['Rank', 'id', ({ rank, device }) => rank ?? device],
        ['Grouped GEMMs', 'ns-mean', ({ expertNs }) => expertNs],
        ['Waits for others', 'ns-mean', ({ waitNs }) => waitNs],
        ['Slowest (%)', 'share', ({ slowestShare }) => slowestShare],
      ],
    ),
  ];
}

function timelineTable({ timeline }: MoeAnswer, most: number): TableBlock[] {
  const layers = timeline?.balance.layers ?? [];
  if (layers.length === 0) return [];
  const rows = [...layers].sort((a, b) => b.savedNs - a.savedNs || a.layer - b.layer).slice(0, most);
  return [
    tableOf(
      rows,
      {
        id: 'moe-timeline',
        title:
          rows.length < layers.length
            ? `Layers by the timeline, the ${rows.length} worst of ${layers.length}`
            : 'Layers by the timeline',
        advice:
          'Per step. Waits: measured, mean over ranks. Saved: inferred, if each rank took the mean time.',
      },
      [
        ['Layer', 'id', ({ layer }) => layer],
        ['Slowest/mean', 'text', ({ maxOverMean }) => ratio(maxOverMean)],
        ['Slowest rank', 'id', ({ slowestRank }) => slowestRank ?? undefined],
        ['In (%)', 'share', ({ slowestShare }) => slowestShare],
        ['Grouped GEMMs', 'ns-mean', ({ expertNs }) => expertNs],
        ['Waits', 'ns-mean', ({ waitNs }) => waitNs],
        ['Saved', 'ns-mean', ({ savedNs }) => savedNs],
      ],
    ),
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
      'tokens of an expert divided by the mean of its layer, whole run',
      expertHeat(summary),
    ),
    ...(summary.iterations > 1
      ? [
          block(
            'moe-heat-time',
            'Over time',
            'busiest expert divided by the mean, per layer',
            timeHeat(summary),
          ),
        ]
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
