/**
 * What experts cost in a profile: per step and device the time of grouped GEMMs, of the router, of dispatch and combine,
 * and of communication. Where loads were not counted, ranks that compute less and wait longer tell of imbalance.
 */

import { type Derived, NotRecorded } from '../../analyze/analysis.js';
import { gpuWork, WorkKind } from '../../analyze/gpu/gpu-work.js';
import { familyIndex, workFamilies } from '../../analyze/gpu/work-families.js';
import { selection } from '../../analyze/inference/selection.js';
import { windowBudgets } from '../../analyze/inference/step-budget.js';
import { stepWork } from '../../analyze/inference/step-work.js';
import { stepsOf } from '../../analyze/inference/steps.js';
import { NONE } from '../../base/column.js';

export interface StepExperts {
  readonly iteration: number;
  readonly device: number;
  readonly rank: number | null;
  /** Grouped GEMMs. */
  readonly expertNs: number;
  readonly routerNs: number;
  readonly dispatchNs: number;
  readonly combineNs: number;
  readonly communicationNs: number;
  readonly kernels: number;
  /** The device's window of the step, and how much of it something ran. */
  readonly stepNs: number;
  readonly busyNs: number;
}

export const expertWork: Derived<readonly StepExperts[]> = {
  id: 'expert-work',
  followsSelection: true,
  reads: { kernels: [] },
  uses: [gpuWork, workFamilies, stepsOf, stepWork, selection, windowBudgets],
  needs: [['kernels']],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const families = use(workFamilies);
    const steps = use(stepsOf);
    const owned = use(stepWork);
    const { steps: chosen } = use(selection);
    if (!steps || !owned) throw new NotRecorded('steps', 'mark steps in the profile, or capture more steps');
    const names = profile.tables.kernels!.name;
    const [router, dispatch, combine, communication] = (
      ['moe-router', 'moe-dispatch', 'moe-combine', 'communication'] as const
    ).map(familyIndex);
    const sums = new Map<number, { -readonly [K in keyof StepExperts]: StepExperts[K] }>();
    const windows = use(windowBudgets);
    owned.deviceRuns.forEach((run, index) => {
      if (!chosen[run.step]) return;
      const own = windows.find(({ window }) => window.step === run.step && window.device === run.device);
      sums.set(index, {
        iteration: steps.steps[run.step].iteration,
        device: run.device,
        rank: profile.processes[steps.lanes[run.lane].process].rank ?? null,
        expertNs: 0,
        routerNs: 0,
        dispatchNs: 0,
        combineNs: 0,
        communicationNs: 0,
        kernels: 0,
        stepNs: own ? own.window.end - own.window.start : Number.NaN,
        busyNs: run.busyNs,
      });
    });
    for (let i = 0; i < work.length; i++) {
      const own = owned.runOfWork[i] === NONE ? undefined : sums.get(owned.runOfWork[i]);
      if (!own) continue;
      const ns = work.end[i] - work.start[i];
      const family = families.family[i];
      if (work.kind[i] === WorkKind.kernel && families.classOf(names[work.row[i]]).variant === 'grouped') {
        own.expertNs += ns;
        own.kernels++;
      } else if (family === router) own.routerNs += ns;
      else if (family === dispatch) own.dispatchNs += ns;
      else if (family === combine) own.combineNs += ns;
      else if (family === communication) own.communicationNs += ns;
    }
    const rows = [...sums.values()];
    if (!rows.some(row => row.expertNs > 0))
      throw new NotRecorded(
        'grouped GEMMs of experts',
        'profile a mixture-of-experts model with kernel tracing',
      );
    return rows;
  },
};
