/** The answer as JSON. What is not known is null. */
import type { Static } from '../../base/document.js';
import type { MoeAnswer } from '../answer.js';
import { expertHeat, type HeatMap, timeHeat } from '../loads/heat-maps.js';
import type { moeSchema } from '../moe-schema.js';
import { answerLines } from './moe-words.js';

const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
const rounded = (value: number): number | null =>
  Number.isFinite(value) ? Number(value.toPrecision(4)) : null;

export function moeDocument(files: readonly string[], answer: MoeAnswer): Static<typeof moeSchema> {
  const { summary, cost, measured, logged, time } = answer;
  return {
    schema: 'stepscope-moe/1',
    files,
    basis: answer.basis,
    source: answer.source,
    lines: answerLines(answer),
    verdict: answer.verdict,
    shareForBottleneck: answer.shareForBottleneck,
    hostBound: answer.hostBound,
    machine: { ...answer.machine, gpus: known(answer.machine.gpus) },
    expertTime: {
      floorNs: time.floorNs,
      nsPerPair: time.nsPerPair,
      basis: time.basis,
      about: time.about,
      explains: time.explains ?? null,
    },
    gpuImbalance: known(answer.gpuImbalance),
    lostShare: known(answer.lostShare),
    lostInterval: answer.lostInterval.map(known),
    lostNs: answer.lostNs,
    expertShare: answer.expertShare,
    ceiling: answer.ceiling,
    loads: summary && {
      layers: summary.layers.length,
      experts: summary.experts,
      topK: summary.topK ?? null,
      ranks: summary.ranks ?? null,
      iterations: summary.iterations,
      span: summary.span,
      judgedIterations: summary.samples.length,
      phases: answer.phases.map(own => ({
        ...own,
        maxOverMean: known(own.maxOverMean),
        gpuImbalance: known(own.gpuImbalance),
      })),
    },
    layers: answer.layers.map((layer, i) => ({
      layer: layer.layer,
      gpuImbalance: known(cost!.layers[i].imbalance),
      lostShare: cost!.layers[i].ns > 0 ? 1 - cost!.layers[i].balancedNs / cost!.layers[i].ns : 0,
      maxOverMean: known(layer.overall.maxOverMean),
      iterationMean: known(layer.perIteration.mean),
      iterationP99: known(layer.perIteration.p99),
      iterationWorst: known(layer.perIteration.worst),
      variation: known(layer.meanVariation),
      gini: known(layer.overall.gini),
      entropy: known(layer.overall.entropy),
      idleShare: known(layer.meanIdleShare),
      hotOverlap: known(layer.stability.hotOverlap),
      shareCorrelation: known(layer.stability.shareCorrelation),
      autocorrelation: known(layer.stability.autocorrelation),
      hottest: layer.hottest,
    })),
    gpus: cost?.gpus.map(({ pairs, criticalShare }, gpu) => ({ gpu, pairs, criticalShare })) ?? [],
    placements: answer.plans.map(({ plan, replicas, recovered, stepGain }) => ({
      method: plan.method,
      label: plan.label,
      replicas,
      gpuImbalance: plan.cost.imbalance,
      lostShare: plan.cost.lostShare,
      recovered,
      stepGain,
    })),
    heldOut: answer.heldOut,
    profile: measured && {
      steps: measured.steps,
      devices: measured.devices,
      expertNs: measured.expertNs,
      stepNs: measured.stepNs,
      idleShare: measured.idleShare,
      inferred: measured.inferred ?? null,
    },
    timeline: answer.timeline && {
      ...answer.timeline.balance,
      stepGain: answer.timeline.stepGain,
      gainInterval: [...answer.timeline.gainInterval],
      agrees: answer.timeline.agrees,
    },
    logged,
    heatMaps: summary
      ? { experts: heat(expertHeat(summary)), time: summary.iterations > 1 ? heat(timeHeat(summary)) : null }
      : null,
    notes: answer.notes,
  };
}

const heat = ({ rows, columns, from, to, values }: HeatMap) => ({
  rows,
  columns,
  from,
  to,
  values: Array.from(values, rounded),
});

const timelineColumns = [
  'layer',
  'maxOverMean',
  'slowestRank',
  'slowestShare',
  'expertNs',
  'waitNs',
  'savedNs',
] as const;

/** A row per layer, in base units: of the counts, or of the timeline where nothing was counted. */
export function moeCsv(answer: MoeAnswer): string {
  if (!answer.summary && answer.timeline) {
    const rows = answer.timeline.balance.layers.map(layer =>
      timelineColumns.map(column => layer[column] ?? '').join(','),
    );
    return `${[timelineColumns.join(','), ...rows].join('\n')}\n`;
  }
  const columns = [
    'layer',
    'gpuImbalance',
    'iterationMean',
    'iterationP99',
    'maxOverMean',
    'variation',
    'gini',
    'entropy',
    'idleShare',
    'hotOverlap',
    'shareCorrelation',
    'autocorrelation',
  ] as const;
  const lines = moeDocument([], answer).layers.map(layer =>
    columns.map(column => layer[column] ?? '').join(','),
  );
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}
