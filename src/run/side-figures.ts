/** Figures of a profile that are shown side by side and are part of no sum: calls, graphs, counters, memory. */
import type { AnalysisInput, Derived } from '../analyze/analysis.js';
import { gpuMetricsAnalysis } from '../analyze/gpu/gpu-metrics.js';
import { graphCoverage } from '../analyze/gpu/graph-coverage.js';
import { memoryInUse } from '../analyze/gpu/memory-in-use.js';
import { launchOverhead } from '../analyze/host/launch-overhead.js';
import { speedOfLight } from '../analyze/inference/speed-of-light.js';
import { undisturbedStep } from '../analyze/undisturbed/undisturbed-step.js';
import { countersWhileBusy, profileParts } from './collect-profile.js';
import type { SideFigure } from './run.js';

export const sideFigures: Derived<readonly SideFigure[]> = {
  id: 'side-figures',
  reads: {},
  uses: [
    profileParts,
    undisturbedStep,
    launchOverhead,
    graphCoverage,
    gpuMetricsAnalysis,
    memoryInUse,
    speedOfLight,
  ],
  compute: input => (input.use(profileParts).cells.length > 0 ? collectFigures(input) : []),
};

function collectFigures(input: AnalysisInput): SideFigure[] {
  const { useIfRecorded } = input;
  const figures: SideFigure[] = [];
  const add = (
    id: string,
    label: string,
    phase: SideFigure['phase'],
    unit: SideFigure['unit'],
    value: number | null,
  ) => {
    if (value !== null && Number.isFinite(value)) figures.push({ id, label, phase, unit, value });
  };
  for (const { phase, source, undisturbedNs } of useIfRecorded(undisturbedStep)?.rows ?? []) {
    const how = source === 'estimate' ? 'estimated' : 'measured';
    add(`undisturbed-step/${how}`, `step without the profiler, ${how}`, phase, 'ns', undisturbedNs);
  }
  for (const row of useIfRecorded(launchOverhead)?.rows ?? []) {
    add(`calls/${row.call}`, `${row.call} per step`, row.phase, 'count', row.callsPerStep);
    add(`call-time/${row.call}`, `${row.call}, mean time in the call`, row.phase, 'ns', row.meanNs);
    add(
      `queue/${row.call}`,
      `${row.call}, mean queue time before its work starts`,
      row.phase,
      'ns',
      row.queueMeanNs,
    );
  }
  for (const row of useIfRecorded(graphCoverage)?.rows ?? [])
    add('graph-share', 'GPU time from CUDA graphs', row.phase, 'share', row.timeShare);
  for (const row of countersWhileBusy(input)) {
    const unit = row.unit === 'Hz' ? 'hertz' : 'percent';
    add(`metric/${row.metric}`, `${row.metric}, while busy`, row.phase, unit, row.overBusy);
  }
  // Without --model there is none.
  for (const row of useIfRecorded(speedOfLight)?.rows.filter(({ key }) => key.endsWith('/step')) ?? []) {
    add('least-time', 'minimum step time for this model', row.phase, 'ns', row.leastNs);
    add('of-least', 'minimum step time relative to the measured time', row.phase, 'share', row.ofLeast);
  }
  const memory = useIfRecorded(memoryInUse)?.rows ?? [];
  if (memory.length > 0)
    add(
      'memory-peak',
      'peak GPU memory in use',
      null,
      'bytes',
      Math.max(...memory.map(row => row.peakBytes)),
    );
  return figures;
}
