/**
 * The collectives that each step launched, by kernel, as one file shows them: how often and how long. How much of that
 * is waiting needs the other ranks; their sums per step give a lower bound of it (rank-waits.ts).
 */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { familyIndex, workFamilies } from '../analyze/gpu/work-families.js';
import { selection } from '../analyze/inference/selection.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import { collectiveKind } from '../catalog/messages.js';
import type { LakeRow } from './lake-tables.js';

export const collectiveSources: readonly Derived<unknown>[] = [
  gpuWork,
  workFamilies,
  selection,
  stepWork,
  stepsOf,
];

export function collectiveRows(analyzer: Analyzer): LakeRow<'collectives'>[] {
  const { profile } = analyzer;
  const work = analyzer.getIfRecorded(gpuWork);
  const attributed = work && analyzer.get(stepWork);
  const found = analyzer.get(stepsOf);
  const kernels = profile.tables.kernels;
  if (!work || !attributed || !found || !kernels) return [];
  const { family, classOf } = analyzer.get(workFamilies);
  const selected = analyzer.get(selection).steps;
  const communication = familyIndex('communication');
  const rows = new Map<string, LakeRow<'collectives'>>();
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel || family[i] !== communication) continue;
    const run = attributed.runOfWork[i];
    if (run === NONE) continue;
    const { step, lane, device } = attributed.deviceRuns[run];
    if (selected[step] !== 1) continue;
    const name = (kernels.name as unknown as Int32Array)[work.row[i]];
    const key = `${step}/${lane}/${device}/${name}`;
    const known = rows.get(key);
    const { shortName } = classOf(name);
    rows.set(key, {
      iteration: found.steps[step].iteration,
      phase: found.steps[step].facts.phase,
      device: profile.gpus[device].deviceId,
      processRank: profile.processes[found.lanes[lane].process].rank ?? null,
      kind: collectiveKind(shortName),
      kernel: shortName,
      calls: (known?.calls ?? 0) + 1,
      ns: (known?.ns ?? 0) + work.end[i] - work.ownStart[i],
    });
  }
  return [...rows.values()];
}
