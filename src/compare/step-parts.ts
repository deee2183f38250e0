/** A step, or the mean of several, taken apart so that the parts sum to its time: families, exchange, copies, idle. */
import type { Analyzer } from '../analyze/analysis.js';
import { BLOCKS, computeByFamily } from '../analyze/gpu/compute-by-family.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { workFamilies } from '../analyze/gpu/work-families.js';
import { totalsByPhase } from '../analyze/inference/budget-totals.js';
import { stepBudget, windowBudgets } from '../analyze/inference/step-budget.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { busyParts, causeLook, familyLook, type Look } from '../analyze/names-and-colors.js';
import { NONE } from '../base/column.js';
import { families } from '../catalog/kernels/families.js';
import type { Phase } from '../catalog/phases.js';

export interface Part extends Look {
  readonly group: 'compute' | 'communication' | 'copies' | 'idle';
  /** Mean per step. */
  ns: number;
  /** Kernels launched per step; undefined where that says nothing. */
  kernels?: number;
}

export interface StepParts {
  readonly phase: Phase | null;
  /** The iteration of a single step. */
  readonly iteration: number | null;
  readonly steps: number;
  readonly wallNs: number;
  readonly parts: ReadonlyMap<string, Part>;
}

/** Phases of the selected steps, the one that takes most time first. */
export function phasesIn(analyzer: Analyzer): (Phase | null)[] {
  return totalsByPhase(analyzer.get(stepBudget).rows)
    .sort((a, b) => b.wallNs - a.wallNs)
    .map(total => total.phase);
}

/** The selected steps of a phase on their first device. */
export function stepParts(analyzer: Analyzer, phase: Phase | null): StepParts {
  const steps = analyzer.get(stepsOf)?.steps ?? [];
  const first = new Map<number, number>();
  const own = analyzer.get(windowBudgets).filter(({ window: { step, device } }) => {
    if ((steps[step]?.facts.phase ?? null) !== phase) return false;
    // Ranks run the same step side by side: the first device stands for it.
    if (step !== NONE && !first.has(step)) first.set(step, device);
    return step === NONE || first.get(step) === device;
  });
  const parts = new Map<string, Part>();
  const add = (group: Part['group'], look: Look, ns: number) => {
    const key = `${group}:${look.id}`;
    const known = parts.get(key);
    if (known) known.ns += ns;
    else if (ns > 0) parts.set(key, { group, ...look, ns });
  };
  const byFamily = analyzer.get(computeByFamily);
  for (const { window, budget } of own) {
    byFamily.within(window.device, window.start, window.end).forEach((ns, family) => {
      add('compute', family === BLOCKS ? blocks : familyLook(families[family].id), ns);
    });
    add('communication', busyParts.communication, budget.communicationExposedNs);
    add('copies', busyParts.copies, budget.copyExposedNs);
    for (const [cause, ns] of Object.entries(budget.idleByCause)) add('idle', causeLook(cause), ns);
  }
  countKernels(analyzer, new Set(own.map(({ window }) => window.deviceRun)), parts);
  const count = Math.max(1, own.length);
  for (const part of parts.values()) {
    part.ns /= count;
    if (part.kernels !== undefined) part.kernels /= count;
  }
  const single = own.length === 1 ? steps[own[0].window.step] : undefined;
  return {
    phase,
    iteration: single?.iteration ?? null,
    steps: own.length,
    wallNs: own.reduce((sum, { budget }) => sum + budget.wallNs, 0) / count,
    parts,
  };
}

const blocks: Look = { id: 'graph-block', label: 'graph replays (kernels not recorded)', color: '#6f7f89' };

/** Kernels are counted for the step that launched them, wherever they ran. */
function countKernels(analyzer: Analyzer, runs: ReadonlySet<number>, parts: ReadonlyMap<string, Part>): void {
  const attributed = analyzer.get(stepWork);
  if (!attributed) return;
  const work = analyzer.get(gpuWork);
  const { family } = analyzer.get(workFamilies);
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel || !runs.has(attributed.runOfWork[i])) continue;
    const id = families[family[i]].id;
    const part = parts.get(id === 'communication' ? `communication:${id}` : `compute:${id}`);
    if (part) part.kernels = (part.kernels ?? 0) + 1;
  }
}
