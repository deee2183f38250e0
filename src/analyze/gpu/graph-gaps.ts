/**
 * What of a phase's steps no graph replays: whole steps without a graph, or layers of the model beside one. Sampling,
 * logits and copies around a replay are no gap: engines leave them outside on purpose.
 */
import { NONE } from '../../base/column.js';
import { GRAPH_LAUNCH } from '../../catalog/host-activities.js';
import { type FamilyId, families } from '../../catalog/kernels/families.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepWork } from '../inference/step-work.js';
import { nameTest } from '../name-test.js';
import { countNamed } from '../names-used.js';
import { gpuWork, WorkKind } from './gpu-work.js';
import { workFamilies } from './work-families.js';

/** What layers are made of. A model's head is a GEMM too, but one or two per step. */
const LAYER_FAMILIES: readonly FamilyId[] = ['attention', 'gemm', 'norm', 'moe-router', 'kv-cache', 'rope'];

export interface GraphGaps {
  readonly phase: Phase | null;
  readonly steps: number;
  readonly stepsWithoutGraph: number;
  /** Kernels of layers, and those of them that no graph launched, in steps that have a graph. */
  readonly layerKernels: number;
  readonly layerKernelsOutside: number;
}

export const graphGaps: Derived<readonly GraphGaps[]> = {
  id: 'graph-gaps',
  reads: { apiCalls: [], kernels: ['graphNode'] },
  uses: [gpuWork, selectedWork, stepWork, workFamilies],
  needs: [['kernels', 'graphLaunches']],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end, step } = use(selectedWork);
    const { family } = use(workFamilies);
    const steps = use(stepWork)?.steps.steps ?? [];
    const calls = profile.tables.apiCalls;
    const nodes = profile.tables.kernels?.graphNode;
    const isGraphLaunch = nameTest(profile, GRAPH_LAUNCH);
    const hasGraphs = countNamed(profile, 'apiCalls', isGraphLaunch) > 0;
    const isLayer = families.map(({ id }) => LAYER_FAMILIES.includes(id));
    const perStep = steps.map(() => ({ seen: false, graph: false, hidden: false, layer: 0, outside: 0 }));
    for (let i = first; i < end; i++) {
      if (!selected[i] || step[i] === NONE) continue;
      const own = perStep[step[i]];
      const call = work.launch[i];
      const isKernel = work.kind[i] === WorkKind.kernel;
      const inGraph =
        work.kind[i] === WorkKind.graphBlock ||
        (hasGraphs && call !== NONE && isGraphLaunch(calls!.name[call])) ||
        (isKernel && nodes !== undefined && nodes[work.row[i]] > 0);
      own.seen = true;
      own.hidden ||= work.kind[i] === WorkKind.graphBlock;
      own.graph ||= inGraph;
      if (!isKernel || !isLayer[family[i]]) continue;
      own.layer++;
      if (!inGraph) own.outside++;
    }
    const phases = [...new Set(steps.map(({ facts }) => facts.phase))];
    return phases.map((phase): GraphGaps => {
      const own = perStep.filter((tally, i) => tally.seen && steps[i].facts.phase === phase);
      const replayed = own.filter(({ graph }) => graph);
      // Blocks hide how many kernels they run, so no share can be told.
      const counted = replayed.filter(({ hidden }) => !hidden);
      return {
        phase,
        steps: own.length,
        stepsWithoutGraph: own.length - replayed.length,
        layerKernels: counted.reduce((sum, { layer }) => sum + layer, 0),
        layerKernelsOutside: counted.reduce((sum, { outside }) => sum + outside, 0),
      };
    });
  },
};
