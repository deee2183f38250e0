/** What each plan sends between GPUs and machines, for the tokens a GPU brings to a layer. */
import { type LoadSummary, rowOf } from '../loads/load-summary.js';
import type { Plan, Plans } from '../placement/plan-layers.js';
import { type Traffic, trafficOf } from './all-to-all.js';

export interface TrafficRow {
  readonly plan: Plan;
  readonly traffic: Traffic;
}

interface TrafficQuestion {
  /** Tokens a GPU brings to a layer. */
  readonly tokens?: number;
  /** Width of the model. */
  readonly hidden: number;
  readonly topK?: number;
  readonly topGroups?: number;
}

/** The mean over layers; where nobody said how many tokens there are, the measured iterations do. */
export function trafficRows(
  summary: LoadSummary,
  { plans, shape }: Plans,
  { tokens, hidden, topK, topGroups }: TrafficQuestion,
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
