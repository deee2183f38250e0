/** What only an open profile tells of a run: its steps kernel by kernel, how it was recorded, figures beside each other. */
import type { AnalysisInput, Derived } from '../analyze/analysis.js';
import { brokenFile } from '../analyze/broken-file.js';
import { gpuMetricsAnalysis } from '../analyze/gpu/gpu-metrics.js';
import { gpuWork } from '../analyze/gpu/gpu-work.js';
import { iterations } from '../analyze/inference/iterations.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import { profilers } from '../catalog/profilers.js';
import { TRACED_OPS_PER_CALL } from '../catalog/tracing-cost.js';
import type { CaptureInfo, Row } from '../model/profile.js';
import { cellSources, collectCells } from './collect-cells.js';
import type { CellFacts, KernelFacts, ProfileParts, RecordingFacts } from './run.js';

export const profileParts: Derived<ProfileParts> = {
  id: 'profile-parts',
  reads: {
    kernels: ['graphNode', 'gridX', 'gridY', 'gridZ'],
    apiCalls: [],
    ranges: [],
    frames: [],
    osCalls: [],
  },
  uses: [...cellSources, gpuWork, stepsOf, iterations, gpuMetricsAnalysis],
  compute(input) {
    const { profile, useIfRecorded } = input;
    const found = useIfRecorded(gpuWork)
      ? collectCells(input, false)
      : { cells: [], kernels: new Map<string, KernelFacts>() };
    return { notes: profile.notes, capture: captureFacts(input, found), ...found };
  },
};

/** Ranks do alike: the first device stands for the counters. */
export function countersWhileBusy({ useIfRecorded }: AnalysisInput) {
  const counted = (useIfRecorded(gpuMetricsAnalysis)?.rows ?? []).filter(({ family }) => family === null);
  const first = Math.min(...counted.map(({ device }) => device));
  return counted.filter(({ phase, device }) => phase !== null && device === first);
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
): RecordingFacts {
  const { profile, use } = input;
  const { capture } = profile;
  const runs = use(stepsOf)?.steps.reduce((sum, step) => sum + step.runs.length, 0) ?? 0;
  const { rows } = use(iterations);
  const selected = rows.filter(row => row.selected);
  const clock = countersWhileBusy(input).find(({ metric }) => metric === 'GPU clock');
  return {
    settings: capture.settings,
    cuda: cudaVersion(capture),
    clockHz: (cells.length > 0 && clock?.overBusy) || null,
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
