/**
 * The forward pass as one CUDA graph. Everything the host does between its first and its last launch goes, code
 * included, but for single places that hold it up longer than all launches: a graph is no answer to those. What remains
 * besides: work before and after, one launch that grows with the nodes, and the GPU's own time between nodes.
 *
 *   before  ▒launch▒ code ▒launch▒ code ▒launch▒        after   ▒graph launch▒
 *   gpu          ▄▄           ▄▄           ▄▄           gpu                  ▄▄ ▄▄ ▄▄
 */
import { NONE } from '../../../base/column.js';
import { formatCount, plural } from '../../../base/units.js';
import { GRAPH_LAUNCH } from '../../../catalog/host-activities.js';
import { causeIndex } from '../../../catalog/idle-causes.js';
import { STALL } from '../../findings/host-work.js';
import {
  applied,
  type Change,
  type ChangeInput,
  cannotTell,
  doesNotApply,
  stepsIn,
  sumOver,
} from '../change.js';
import type { ReplayModel } from '../replay-model.js';

/** What a replay leaves of the host's time inside the forward pass: places that hold it up longer than all launches. */
function stallsOf({ model, items }: ForwardPass, nodes: number): ReadonlySet<number> {
  const own = items.filter(i => model.items[i].kind !== 'mark');
  const all = sumOver(own, i => model.items[i].ns);
  const stalls = own.filter(i => model.items[i].ns > STALL * (all / Math.max(1, nodes)));
  const stallsNs = sumOver(stalls, i => model.items[i].ns);
  return new Set(stallsNs > all - stallsNs ? stalls : []);
}

/** Share of a forward pass in graphs from which it runs from graphs already. */
const MOSTLY = 0.5;
const launchBound = causeIndex('launch-bound');

interface ForwardPass {
  readonly model: ReplayModel;
  readonly ops: readonly number[];
  /** Items from its first to its last launch, in the order of their thread. */
  readonly items: readonly number[];
}

export const graphs: Change = {
  id: 'graphs',
  label: 'CUDA graphs',
  apply(models, input) {
    if (input.phase === 'prefill' || input.phase === 'mixed')
      return cannotTell(
        `steps of ${input.phase} differ in length; whether a graph covers them is not in a profile`,
      );
    const forwards = models.flatMap(model => forwardPasses(model, input));
    if (forwards.length === 0)
      return cannotTell('the forward pass is not visible: no attention, GEMM or norm kernel');
    const all = sumOver(forwards, ({ ops }) => ops.length);
    const inGraphs = sumOver(forwards, ({ model, ops }) => ops.filter(op => isInGraph(model, op)).length);
    if (inGraphs >= MOSTLY * all) return doesNotApply('the forward pass already runs from CUDA graphs');
    const waits = sumOver(
      forwards,
      ({ model, items }) => items.filter(i => model.items[i].kind === 'wait').length,
    );
    const perStep = waits / stepsIn(models);
    if (perStep >= 0.5)
      return cannotTell(
        `the host waits for the GPU ${formatCount(Math.round(perStep))} times inside the forward pass, which a graph cannot contain; remove these waits first (--fewer-syncs)`,
      );
    for (const forward of forwards) replaceByGraph(forward, input);
    return applied(
      `${plural(Math.round(all / stepsIn(models)), 'kernel')} of the forward pass become one launch`,
    );
  },
};

const isInGraph = ({ ops, items }: ReplayModel, op: number): boolean =>
  ops[op].launch !== NONE && GRAPH_LAUNCH.test(items[ops[op].launch].name);

/** One for each step with visible layers whose launches are on one thread. */
function forwardPasses(model: ReplayModel, { factsOf }: ChangeInput): ForwardPass[] {
  const byStep: number[][] = model.steps.map(() => []);
  model.ops.forEach((op, j) => {
    if (op.step !== NONE && op.launch !== NONE && factsOf(op).inForward) byStep[op.step].push(j);
  });
  const position = new Map<number, number>();
  for (const { items } of model.threads) for (const [at, item] of items.entries()) position.set(item, at);
  return byStep.flatMap((ops): ForwardPass[] => {
    if (ops.length === 0) return [];
    const { thread } = model.items[model.ops[ops[0]].launch];
    const own = ops.filter(op => model.items[model.ops[op].launch].thread === thread);
    const places = own.map(op => position.get(model.ops[op].launch)!);
    const line = model.threads.find(candidate => candidate.thread === thread)!.items;
    return [{ model, ops: own, items: line.slice(Math.min(...places), Math.max(...places) + 1) }];
  });
}

function replaceByGraph(forward: ForwardPass, { policy }: ChangeInput): void {
  const { model, items } = forward;
  const [first, ...rest] = items;
  const inside = new Set(items);
  const nodes: number[] = [];
  model.ops.forEach((op, j) => {
    if (inside.has(op.launch)) nodes.push(j);
  });
  const stalls = stallsOf(forward, nodes.length);
  const launch = model.items[first];
  launch.kind = 'call';
  launch.awaits = NONE;
  launch.ns = nodes.length * Math.max(0, policy.graphLaunchPerNodeNs - model.untracedNodeNs);
  launch.causes = [{ cause: launchBound, ns: launch.ns }];
  for (const i of rest) {
    const item = model.items[i];
    if (item.kind === 'mark' || stalls.has(i)) continue;
    Object.assign(item, { kind: 'code', ns: 0, causes: [], awaits: NONE });
  }
  const head = new Set(model.streams.map(({ ops: own }) => own.find(op => inside.has(model.ops[op].launch))));
  for (const j of nodes) {
    const op = model.ops[j];
    op.launch = first;
    op.latencyFrom = 'end';
    op.latencyNs = model.typical.latencyNs;
    op.gapNs = head.has(j) ? Math.min(op.gapNs, model.typical.gapNs) : policy.graphNodeGapNs;
  }
}
