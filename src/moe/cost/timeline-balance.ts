/**
 * What perfect balance would bring, from the timeline alone, as an interval. Each layer waits for its slowest rank, and
 * the slowest changes from layer to layer; so totals over a step, in which this evens out, give a lower bound only.
 */
import { NONE } from '../../base/column.js';
import type { ExpertLayer } from './expert-layers.js';

interface LayerBalance {
  /** NONE: not known. */
  readonly layer: number;
  /** Slowest by mean rank, mean over steps. */
  readonly maxOverMean: number;
  /** The rank that was slowest most often, and in which part of the steps. */
  readonly slowestRank: number | null;
  readonly slowestShare: number;
  /** Mean per step. */
  readonly expertNs: number;
  readonly waitNs: number;
  readonly savedNs: number;
}

interface RankBalance {
  readonly rank: number | null;
  /** Per step. */
  readonly expertNs: number;
  readonly waitNs: number;
  /** Of the layers of all steps. */
  readonly slowestShare: number;
}

export interface TimelineBalance {
  readonly steps: number;
  /** Layers (or passages between collectives) with experts, per step. */
  readonly layersPerStep: number;
  readonly ranks: number;
  /** Slowest by mean rank, mean over layers and steps. */
  readonly maxOverMean: number;
  /** Per step: the slowest rank of each layer, summed. */
  readonly slowestNs: number;
  /** Per step, inferred: every rank takes the mean time of its layer, and nothing else changes. */
  readonly savedNs: number;
  /**
   * Per step. Low: as above with experts summed over a step before the slowest rank is taken. High: no rank waits behind
   * its experts at all, as measured.
   */
  readonly lowNs: number;
  readonly highNs: number;
  readonly layers: readonly LayerBalance[];
  readonly perRank: readonly RankBalance[];
}

/** Undefined where no layer of several ranks was seen. */
export function timelineBalance(rows: readonly ExpertLayer[]): TimelineBalance | undefined {
  if (rows.length === 0) return undefined;
  const steps = [...grouped(rows, row => row.iteration).values()];
  const perStep = (of: (own: readonly ExpertLayer[]) => number) =>
    steps.reduce((sum, own) => sum + of(own), 0) / steps.length;
  const sum = (own: readonly ExpertLayer[], of: (row: ExpertLayer) => number) =>
    own.reduce((total, row) => total + of(row), 0);
  const savedNs = perStep(own => sum(own, row => row.savedNs));
  const layers = [...grouped(rows, row => row.layer)]
    .sort(([a], [b]) => a - b)
    .map(([layer, own]) => layerBalance(layer, own, steps.length));
  return {
    steps: steps.length,
    layersPerStep: rows.length / steps.length,
    ranks: rows.reduce((most, { ranks }) => Math.max(most, ranks.length), 0),
    maxOverMean: sum(rows, ratioOf) / rows.length,
    slowestNs: perStep(own => sum(own, slowestOf)),
    savedNs,
    lowNs: Math.min(savedNs, perStep(summedFirst)),
    highNs: Math.max(
      savedNs,
      perStep(own => sum(own, meanWait)),
    ),
    layers: layers.filter(({ layer }) => layer !== NONE),
    perRank: rankBalances(rows, steps.length),
  };
}

function rankBalances(rows: readonly ExpertLayer[], steps: number): RankBalance[] {
  const sums = new Map<number | null, { expertNs: number; waitNs: number; slowest: number }>();
  for (const row of rows) {
    const slowest = slowestRankOf(row);
    for (const { rank, expertNs, waitNs } of row.ranks) {
      const known = sums.get(rank) ?? { expertNs: 0, waitNs: 0, slowest: 0 };
      sums.set(rank, known);
      known.expertNs += expertNs;
      known.waitNs += waitNs;
      if (rank === slowest) known.slowest++;
    }
  }
  return [...sums]
    .map(([rank, { expertNs, waitNs, slowest }]) => ({
      rank,
      expertNs: expertNs / steps,
      waitNs: waitNs / steps,
      slowestShare: slowest / rows.length,
    }))
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
}

const meanOf = (row: ExpertLayer, of: (rank: ExpertLayer['ranks'][number]) => number) =>
  row.ranks.reduce((total, rank) => total + of(rank), 0) / row.ranks.length;
const slowestOf = (row: ExpertLayer) => Math.max(...row.ranks.map(({ expertNs }) => expertNs));
const slowestRankOf = ({ ranks }: ExpertLayer) =>
  ranks.reduce((most, other) => (other.expertNs > most.expertNs ? other : most)).rank;
const meanExperts = (row: ExpertLayer) => meanOf(row, ({ expertNs }) => expertNs);
const meanWait = (row: ExpertLayer) => meanOf(row, ({ waitNs }) => waitNs);
const ratioOf = (row: ExpertLayer) => slowestOf(row) / meanExperts(row);

/** The slowest rank of a whole step above the mean: ranks that are slow in turn look even. */
function summedFirst(own: readonly ExpertLayer[]): number {
  const totals = new Map<number | null, number>();
  for (const { ranks } of own)
    for (const { rank, expertNs } of ranks) totals.set(rank, (totals.get(rank) ?? 0) + expertNs);
  const all = [...totals.values()];
  return Math.max(...all) - all.reduce((total, ns) => total + ns, 0) / all.length;
}

function layerBalance(layer: number, own: readonly ExpertLayer[], steps: number): LayerBalance {
  const slowest = new Map<number | null, number>();
  for (const row of own) {
    const rank = slowestRankOf(row);
    slowest.set(rank, (slowest.get(rank) ?? 0) + 1);
  }
  const [[slowestRank, times]] = [...slowest].sort((a, b) => b[1] - a[1]);
  const perStep = (of: (row: ExpertLayer) => number) =>
    own.reduce((total, row) => total + of(row), 0) / steps;
  return {
    layer,
    maxOverMean: own.reduce((total, row) => total + ratioOf(row), 0) / own.length,
    slowestRank,
    slowestShare: times / own.length,
    expertNs: perStep(meanExperts),
    waitNs: perStep(meanWait),
    savedNs: perStep(row => row.savedNs),
  };
}

function grouped<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const own = groups.get(keyOf(row));
    if (own) own.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
