/** What a profile says about a run with or without the perfect router: time and parts of each step, phase by phase. */
import type { Analyzer } from '../analyze/analysis.js';
import { gpuWork } from '../analyze/gpu/gpu-work.js';
import { windowBudgets } from '../analyze/inference/step-budget.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { medianOf } from '../base/stats.js';
import { type Phase, phases } from '../catalog/phases.js';
import { profilers } from '../catalog/profilers.js';
import type { BenchRun } from '../model/bench-run.js';
import { graphMode } from '../model/graph-mode.js';
import { layerCount } from './frameworks/measure-phase.js';

export interface RouterSide {
  readonly runs: readonly BenchRun[];
  readonly profile?: RouterProfile;
}

/** Parts of a step, means over the steps; they sum to the mean step. */
export interface StepMeans {
  readonly compute: number;
  readonly communication: number;
  readonly copies: number;
  /** Idle while the device waits for other devices or itself. */
  readonly deviceWait: number;
  /** Idle of any other cause. */
  readonly otherIdle: number;
}

export interface RouterPhase {
  readonly phase: Phase;
  /** Per step, the mean over its devices. */
  readonly stepNs: readonly number[];
  readonly meansNs: StepMeans;
  readonly batch: number | null;
}

export interface RouterProfile {
  readonly profiler: string;
  readonly graphs: string;
  readonly gpu: string;
  readonly gpus: number;
  readonly layers: number | null;
  readonly phases: readonly RouterPhase[];
}

export function routerProfile(analyzer: Analyzer): RouterProfile {
  const { profile } = analyzer;
  const steps = analyzer.get(stepsOf)?.steps ?? [];
  const budgets = analyzer.get(windowBudgets).filter(({ window }) => steps[window.step] !== undefined);
  const devices = new Set(analyzer.get(gpuWork).device);
  const found = phases.flatMap(({ id: phase }): RouterPhase[] => {
    const own = budgets.filter(({ window }) => steps[window.step].facts.phase === phase);
    if (own.length === 0) return [];
    const byStep = new Map<number, number[]>();
    for (const { window, budget } of own) {
      const times = byStep.get(window.step) ?? [];
      times.push(budget.wallNs);
      byStep.set(window.step, times);
    }
    const sizes = [...byStep.keys()].flatMap(step => {
      const { contextTokens, generationRequests } = steps[step].facts;
      return (phase === 'prefill' ? contextTokens : generationRequests) ?? [];
    });
    const mean = (of: (budget: (typeof own)[number]['budget']) => number) =>
      own.reduce((sum, { budget }) => sum + of(budget), 0) / own.length;
    const deviceWait = mean(budget => budget.idleByCause['device-wait'] ?? 0);
    return [
      {
        phase,
        stepNs: [...byStep.values()].map(
          times => times.reduce((sum, value) => sum + value, 0) / times.length,
        ),
        meansNs: {
          compute: mean(budget => budget.computeNs),
          communication: mean(budget => budget.communicationExposedNs),
          copies: mean(budget => budget.copyExposedNs),
          deviceWait,
          otherIdle: mean(budget => budget.idleNs) - deviceWait,
        },
        batch: sizes.length > 0 ? medianOf(Float64Array.from(sizes)) : null,
      },
    ];
  });
  return {
    profiler: profilers[profile.capture.profiler].short,
    graphs: graphMode(profile),
    gpu: [...new Set([...devices].map(device => profile.gpus[device]?.name ?? ''))].join(', '),
    gpus: devices.size,
    layers: layerCount(analyzer).layers,
    phases: found,
  };
}
