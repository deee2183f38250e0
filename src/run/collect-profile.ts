/** What only an open profile tells of a run: its steps kernel by kernel, how it was recorded, figures beside each other. */
import type { AnalysisInput, Derived } from '../analyze/analysis.js';
import { brokenFile } from '../analyze/broken-file.js';
import { gpuMetricsAnalysis } from '../analyze/gpu/gpu-metrics.js';
import { gpuWork } from '../analyze/gpu/gpu-work.js';
import { graphCoverage } from '../analyze/gpu/graph-coverage.js';
import { memoryInUse } from '../analyze/gpu/memory-in-use.js';
import { launchOverhead } from '../analyze/host/launch-overhead.js';
import { iterations } from '../analyze/inference/iterations.js';
import { speedOfLight } from '../analyze/inference/speed-of-light.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import { profilers } from '../catalog/profilers.js';
import { TRACED_OPS_PER_CALL } from '../catalog/tracing-cost.js';
import type { CaptureInfo, Row } from '../model/profile.js';
import { cellSources, collectCells } from './collect-cells.js';
import type { CellFacts, KernelFacts, ProfileParts, RecordingFacts, SideFigure } from './run.js';

export const profileParts: Derived<ProfileParts> = {
  id: 'profile-parts',
  reads: { kernels: ['graphNode'], apiCalls: [], ranges: [], frames: [], osCalls: [] },
  uses: [
    ...cellSources,
    gpuWork,
    stepsOf,
    iterations,
    launchOverhead,
    graphCoverage,
    gpuMetricsAnalysis,
    memoryInUse,
    speedOfLight,
  ],
  compute(input) {
    const { profile, useIfRecorded } = input;
    const found = useIfRecorded(gpuWork)
      ? collectCells(input, false)
      : { cells: [], kernels: new Map<string, KernelFacts>() };
    const sideBySide = found.cells.length > 0 ? collectFigures(input) : [];
    return {
      notes: profile.notes,
      capture: captureFacts(input, found, sideBySide),
      ...found,
      sideBySide,
    };
  },
};

function collectFigures({ useIfRecorded }: AnalysisInput): SideFigure[] {
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
  for (const row of useIfRecorded(launchOverhead)?.rows ?? []) {
    add(`calls/${row.call}`, `${row.call} per step`, row.phase, 'count', row.callsPerStep);
    add(`call-time/${row.call}`, `${row.call}, mean time in the call`, row.phase, 'ns', row.meanNs);
    add(
      `queue/${row.call}`,
      `${row.call}, mean wait before its work starts`,
      row.phase,
      'ns',
      row.queueMeanNs,
    );
  }
  for (const row of useIfRecorded(graphCoverage)?.rows ?? [])
    add('graph-share', 'GPU time from CUDA graphs', row.phase, 'share', row.timeShare);
  const metrics = (useIfRecorded(gpuMetricsAnalysis)?.rows ?? []).filter(row => row.family === null);
  const devices = metrics.map(row => row.device);
  for (const row of metrics) {
    // Ranks do alike: the first device stands for the counters.
    if (row.phase === null || row.device !== Math.min(...devices)) continue;
    const unit = row.unit === 'Hz' ? 'hertz' : 'percent';
    add(`metric/${row.metric}`, `${row.metric}, while busy`, row.phase, unit, row.overBusy);
  }
  // Without --model there is none.
  for (const row of useIfRecorded(speedOfLight)?.rows.filter(({ key }) => key.endsWith('/step')) ?? []) {
    add('least-time', 'least time of a step for this model', row.phase, 'ns', row.leastNs);
    add('of-least', 'least time, of the time it took', row.phase, 'share', row.ofLeast);
  }
  const memory = useIfRecorded(memoryInUse)?.rows ?? [];
  if (memory.length > 0)
    add(
      'memory-peak',
      'most GPU memory in use',
      null,
      'bytes',
      Math.max(...memory.map(row => row.peakBytes)),
    );
  return figures;
}

/** Calls, ranges, frames and OS calls; the ops of a PyTorch trace are too many to be read for their number alone. */
function hostEvents({ profile }: AnalysisInput): number {
  const rows = (['apiCalls', 'frames', 'osCalls'] as const).map(name => profile.tables[name]?.length ?? 0);
  const ranges = profile.tables.ranges;
  let onThreads = 0;
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++)
    if (ranges!.thread[row] !== NONE) onThreads++;
  const ops = profilers[profile.capture.profiler].tracesOps ? TRACED_OPS_PER_CALL * rows[0] : 0;
  return rows.reduce((sum, count) => sum + count, 0) + onThreads + ops;
}

function captureFacts(
  input: AnalysisInput,
  { cells, kernels }: Pick<ProfileParts, 'cells' | 'kernels'>,
  figures: readonly SideFigure[],
): RecordingFacts {
  const { profile, use } = input;
  const { capture } = profile;
  const runs = use(stepsOf)?.steps.reduce((sum, step) => sum + step.runs.length, 0) ?? 0;
  const { rows } = use(iterations);
  const selected = rows.filter(row => row.selected);
  return {
    settings: capture.settings,
    cuda: cudaVersion(capture),
    clockHz: figures.find(({ id }) => id === 'metric/GPU clock')?.value ?? null,
    steps: rows.length,
    selectedSteps: selected.length,
    steadySteps: selected.filter(row => row.state === 'steady').length,
    worldSize: capture.distributed?.worldSize ?? 0,
    gemmTypes: gemmTypes(cells, kernels),
    hostEventsPerStep: hostEvents(input) / Math.max(1, runs),
    broken: brokenFile(profile)?.text ?? null,
  };
}

/** `13000` and `13.0` are one version. */
function cudaVersion({ versions }: CaptureInfo): string | null {
  const text = versions['CUDA driver'] ?? versions.cuda_driver;
  const code = /^(\d{1,3})0(\d)0$/.exec(text ?? '');
  return (code ? `${code[1]}.${code[2]}` : text) ?? null;
}

/** Most time first. */
export function gemmTypes(
  cells: readonly CellFacts[],
  kernels: ReadonlyMap<string, KernelFacts>,
): Record<string, number> {
  const spent: Record<string, number> = {};
  let total = 0;
  for (const { amounts } of cells)
    for (const [part, { spentNs }] of amounts) {
      const kernel = kernels.get(part);
      if (kernel?.family !== 'gemm' || kernel.dtype === '') continue;
      spent[kernel.dtype] = (spent[kernel.dtype] ?? 0) + spentNs;
      total += spentNs;
    }
  const shares = Object.entries(spent).map(([type, ns]) => [type, total > 0 ? ns / total : 0] as const);
  return Object.fromEntries(shares.sort((a, b) => b[1] - a[1]));
}
