/** How much of each phase runs from CUDA graphs, and whether the capture can see inside them. */

import { NONE } from '../../base/column.js';
import { formatShare, plural } from '../../base/units.js';
import { GRAPH_LAUNCH } from '../../catalog/host-activities.js';
import type { Phase } from '../../catalog/phases.js';
import { phases } from '../../catalog/phases.js';
import { graphMode } from '../../model/graph-mode.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepWork } from '../inference/step-work.js';
import { nameTest } from '../name-test.js';
import { countNamed } from '../names-used.js';
import { gpuWork, WorkKind } from './gpu-work.js';

const fields = {
  key: keyField,
  phase: maybe(field.text<Phase>('Phase', 'null: outside all steps')),
  graphLaunches: field.count('Graph launches', 'graph launch calls with recorded work'),
  kernels: maybe(field.count('Kernels', 'null when graph blocks hide them')),
  kernelsInGraphs: maybe(field.count('In graphs', 'kernels launched from graphs')),
  kernelShare: maybe(field.share('Kernels (%)', 'share of kernels launched from graphs')),
  gpuNs: field.ns('GPU time', 'total duration of all GPU work'),
  gpuInGraphsNs: field.ns('In graphs', 'total duration of GPU work launched from graphs'),
  timeShare: field.share('Time (%)', 'share of GPU time launched from graphs', { priority: KEEP }),
};

type GraphCoverageRow = RowOf<typeof fields>;

export const graphCoverage: Analysis<GraphCoverageRow, AnalysisResult<GraphCoverageRow>> = {
  id: 'graph-coverage',
  title: 'CUDA graph coverage',
  question: 'How much of each phase runs from CUDA graphs, and does the capture show their kernels?',
  reads: { apiCalls: [], kernels: ['graphNode'] },
  uses: [gpuWork, selectedWork, stepWork],
  needs: [['kernels', 'graphLaunches']],
  fields,
  headline: {
    label: 'graphs',
    text({ rows }, phase) {
      const row = rows.find(candidate => candidate.phase === phase);
      if (!row || row.graphLaunches === 0) return undefined;
      const launches = plural(row.graphLaunches, 'graph launch', 'graph launches');
      return `${formatShare(row.timeShare)} of GPU time runs from ${launches}`;
    },
  },
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end, step } = use(selectedWork);
    const steps = use(stepWork)?.steps.steps ?? [];
    const calls = profile.tables.apiCalls;
    const nodes = profile.tables.kernels?.graphNode;
    const isGraphLaunch = nameTest(profile, GRAPH_LAUNCH);
    const hasGraphs = countNamed(profile, 'apiCalls', isGraphLaunch) > 0;
    const tallies = new Map<Phase | null, Tally>();
    let tally: Tally | undefined;
    let last: Phase | null | undefined;
    for (let i = first; i < end; i++) {
      if (!selected[i]) continue;
      const phase = step[i] === NONE ? null : steps[step[i]].facts.phase;
      // Almost always that of the work before.
      if (phase !== last) tally = tallies.get(phase);
      last = phase;
      if (!tally)
        tallies.set(
          phase,
          (tally = { calls: new Set(), kernels: 0, inGraphs: 0, ns: 0, graphNs: 0, blocks: 0 }),
        );
      const ns = work.end[i] - work.start[i];
      const call = work.launch[i];
      const name = call === NONE || !hasGraphs ? NONE : calls!.name[call];
      const byCall = name !== NONE && isGraphLaunch(name);
      const isKernel = work.kind[i] === WorkKind.kernel;
      const isBlock = work.kind[i] === WorkKind.graphBlock;
      const byNode = isKernel && nodes !== undefined && nodes[work.row[i]] > 0;
      const inGraph = byCall || byNode || isBlock;
      tally.ns += ns;
      if (isKernel) tally.kernels++;
      if (isBlock) tally.blocks++;
      if (!inGraph) continue;
      tally.graphNs += ns;
      if (isKernel) tally.inGraphs++;
      if (call !== NONE) tally.calls.add(call);
    }
    const order = [...phases.map(({ id }) => id), null];
    const rows = order.flatMap((phase): GraphCoverageRow[] => {
      const tally = tallies.get(phase);
      if (!tally) return [];
      const hidden = tally.blocks > 0;
      return [
        {
          key: `phase:${phase ?? 'outside'}`,
          phase,
          graphLaunches: tally.calls.size || tally.blocks,
          kernels: hidden ? null : tally.kernels,
          kernelsInGraphs: hidden ? null : tally.inGraphs,
          kernelShare: hidden || tally.kernels === 0 ? null : tally.inGraphs / tally.kernels,
          gpuNs: tally.ns,
          gpuInGraphsNs: tally.graphNs,
          timeShare: tally.ns > 0 ? tally.graphNs / tally.ns : 0,
        },
      ];
    });
    return { rows, summary: { mode: graphMode(profile) } };
  },
};

interface Tally {
  readonly calls: Set<number>;
  kernels: number;
  inGraphs: number;
  ns: number;
  graphNs: number;
  blocks: number;
}
