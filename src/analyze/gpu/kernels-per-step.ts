/** How many kernels one step runs, per phase: the number to watch when a build claims to fuse more. */
import { NONE } from '../../base/column.js';
import type { Phase } from '../../catalog/phases.js';
import { phases } from '../../catalog/phases.js';
import { summarize } from '../../stats/summary.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, type RowOf } from '../field.js';
import { selectedWork } from '../inference/selected-work.js';
import { selection } from '../inference/selection.js';
import { stepWork } from '../inference/step-work.js';
import { gpuWork, WorkKind } from './gpu-work.js';
import { hiddenByGraphs } from './kernel-families.js';

const fields = {
  key: keyField,
  phase: field.text<Phase>('Phase', 'phase of the steps'),
  steps: field.count('Steps', 'steps, counted once per device'),
  kernels: field.mean('Kernels', 'median per step and device'),
  fewest: field.count('Fewest', 'in one step'),
  most: field.count('Most', 'in one step'),
  distinct: field.count('Distinct', 'different kernel names in the phase'),
  kernelNs: field.nsMean('Kernel time', 'total kernel duration, mean per step'),
  meanKernelNs: field.nsMean('Mean kernel', 'kernelNs divided by kernels'),
  graphLaunches: field.mean('Graph launches', 'mean per step'),
};

type KernelsPerStepRow = RowOf<typeof fields>;

export const kernelsPerStep: Analysis<KernelsPerStepRow, AnalysisResult<KernelsPerStepRow>> = {
  id: 'kernels-per-step',
  title: 'Kernels per step',
  question: 'How many kernels does one step run?',
  reads: {},
  uses: [gpuWork, selectedWork, selection, stepWork],
  needs: [['kernels', 'graphLaunches']],
  fields,
  compute({ profile, use }) {
    const found = use(stepWork);
    const work = use(gpuWork);
    const chosen = use(selection);
    const { selected, first, end } = use(selectedWork);
    if (!found) return { rows: [] };
    const { steps, deviceRuns, runOfWork, graphLaunches } = found;
    const names = profile.tables.kernels?.name;
    const kernelNs = new Float64Array(deviceRuns.length);
    const distinct = new Map<Phase, Set<number>>(phases.map(({ id }) => [id, new Set()]));
    for (let i = first; i < end; i++) {
      if (!selected[i] || runOfWork[i] === NONE) continue;
      if (work.kind[i] === WorkKind.graphBlock) throw hiddenByGraphs();
      if (work.kind[i] !== WorkKind.kernel) continue;
      kernelNs[runOfWork[i]] += work.end[i] - work.start[i];
      distinct.get(steps.steps[deviceRuns[runOfWork[i]].step].facts.phase)!.add(names![work.row[i]]);
    }
    const rows = phases.flatMap(({ id: phase }): KernelsPerStepRow[] => {
      const runs = deviceRuns.flatMap((run, index) => {
        const isOwn = chosen.steps[run.step] === 1 && steps.steps[run.step].facts.phase === phase;
        return isOwn && run.kernels > 0 ? [index] : [];
      });
      if (runs.length === 0) return [];
      const counts = summarize(Float64Array.from(runs, index => deviceRuns[index].kernels));
      const time = summarize(Float64Array.from(runs, index => kernelNs[index]));
      const graphs = runs.reduce((sum, index) => sum + graphLaunches[deviceRuns[index].step], 0);
      return [
        {
          key: `phase:${phase}`,
          phase,
          steps: runs.length,
          kernels: counts.median,
          fewest: counts.min,
          most: counts.max,
          distinct: distinct.get(phase)!.size,
          kernelNs: time.mean,
          meanKernelNs: time.total / counts.total,
          graphLaunches: graphs / runs.length,
        },
      ];
    });
    return { rows };
  },
};
