/** Figures of every selected step, so that the spread between steps can be told for each metric. */
import type { AnalysisInput, Derived } from '../analyze/analysis.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { HIDDEN, workFamilies } from '../analyze/gpu/work-families.js';
import { type Budget, transferringNs } from '../analyze/inference/budget-totals.js';
import { selectedWork } from '../analyze/inference/selected-work.js';
import { windowBudgets } from '../analyze/inference/step-budget.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { NONE } from '../base/column.js';
import { families } from '../catalog/kernels/families.js';
import type { Phase } from '../catalog/phases.js';

/** Per step of one phase, in order of time; summed over the devices that ran it. */
export interface StepSamples {
  readonly windows: number[];
  readonly wallNs: number[];
  /** Sums of budgets by a name: idle, idle by cause, exposed communication and copies. */
  readonly parts: Map<string, number[]>;
  readonly kernelNs: number[];
  readonly kernels: number[];
  /** By index of the family. */
  readonly familyNs: number[][];
  readonly tokens: number[];
}

export const stepSamples: Derived<ReadonlyMap<Phase, StepSamples>> = {
  id: 'step-samples',
  reads: {},
  uses: [windowBudgets, stepsOf, gpuWork, workFamilies, selectedWork],
  compute: collectSamples,
};

function collectSamples(input: AnalysisInput): Map<Phase, StepSamples> {
  const samples = new Map<Phase, StepSamples>();
  const steps = input.use(stepsOf)?.steps ?? [];
  /** Where a step's figures are: its phase's samples and the place in them. */
  const placeOf = new Map<number, { own: StepSamples; at: number }>();
  // Windows come device by device: steps are put in order of time first.
  const budgets = [...input.use(windowBudgets)]
    .filter(({ window }) => window.step !== NONE)
    .sort((a, b) => a.window.step - b.window.step);
  for (const { window, budget } of budgets) {
    const { phase, generationRequests } = steps[window.step].facts;
    let own = samples.get(phase);
    if (!own) samples.set(phase, (own = emptySamples()));
    let place = placeOf.get(window.step);
    if (!place) {
      place = { own, at: own.wallNs.length };
      placeOf.set(window.step, place);
      for (const list of [own.windows, own.wallNs, own.kernelNs, own.kernels, own.tokens]) list.push(0);
      for (const list of own.familyNs) list.push(0);
    }
    const { at } = place;
    own.windows[at]++;
    own.wallNs[at] += budget.wallNs;
    own.tokens[at] += generationRequests ?? 0;
    addParts(own, at, budget);
  }
  addWork(input, placeOf);
  return samples;
}

function emptySamples(): StepSamples {
  return {
    windows: [],
    wallNs: [],
    parts: new Map(),
    kernelNs: [],
    kernels: [],
    familyNs: families.map(() => []),
    tokens: [],
  };
}

function addParts(own: StepSamples, at: number, budget: Budget): void {
  const add = (name: string, ns: number) => {
    let list = own.parts.get(name);
    if (!list) own.parts.set(name, (list = []));
    while (list.length <= at) list.push(0);
    list[at] += ns;
  };
  add('idle', budget.idleNs);
  add('communication.exposed', budget.communicationExposedNs);
  const transferred = transferringNs(budget);
  if (transferred !== undefined) {
    add('communication.waiting', budget.communicationWaitingNs!);
    add('communication.transferring', transferred);
  }
  add('copies.exposed', budget.copyExposedNs);
  for (const [cause, ns] of Object.entries(budget.idleByCause)) add(`idle.${cause}`, ns);
}

function addWork(
  { use }: AnalysisInput,
  placeOf: ReadonlyMap<number, { own: StepSamples; at: number }>,
): void {
  const work = use(gpuWork);
  const { family } = use(workFamilies);
  const { selected, step } = use(selectedWork);
  for (let i = 0; i < work.length; i++) {
    const place = selected[i] ? placeOf.get(step[i]) : undefined;
    if (!place || family[i] === HIDDEN) continue;
    const { own, at } = place;
    const ns = work.end[i] - work.start[i];
    own.familyNs[family[i]][at] += ns;
    if (work.kind[i] !== WorkKind.kernel) continue;
    own.kernelNs[at] += ns;
    own.kernels[at]++;
  }
}

/** The list, filled up to one value per step: a cause that later steps do not have is zero there. */
export const partOf = (own: StepSamples, name: string): number[] => {
  const list = own.parts.get(name) ?? [];
  return own.wallNs.map((_, i) => list[i] ?? 0);
};
