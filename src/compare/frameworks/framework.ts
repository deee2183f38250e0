/** What goes into a comparison of frameworks, and what is known of each of them once it is measured. */
import type { Analyzer } from '../../analyze/analysis.js';
import type { Phase } from '../../catalog/phases.js';
import type { BenchRun } from '../../model/bench-run.js';
import type { Missing, Reading } from '../../run/figure.js';
import type { PhaseFigures } from '../../run/phase-figures.js';
import type { ProfiledRun } from '../../run/run.js';
import type { TokenBudget } from '../../run/token-budget.js';

export interface FrameworkInput {
  readonly name: string;
  readonly notes?: string;
  /** Looking at the steps to compare; absent: no profile was given. */
  readonly analyzer?: Analyzer;
  readonly runs: readonly BenchRun[];
  /** GPUs the engine runs on, where the user says so. */
  readonly gpus?: number;
  /** The model that runs, where the user says so. */
  readonly model?: string;
}

export interface Framework {
  readonly name: string;
  readonly notes: string | null;
  /** Ranks of one run. */
  readonly run: ProfiledRun | null;
  readonly bench: BenchFacts | null;
  /** Means over the repeats, by the names of the catalogue of benchmark figures. */
  readonly measured: Readonly<Record<string, Reading>>;
  readonly gpus: number | null;
  /** As the user states it; null: only the benchmark names one. */
  readonly model: string | null;
  /** In the order of the catalogue of phases. Empty: no profile, no GPU work or no steps in it; then `why` says which. */
  readonly phases: readonly PhaseFigures[];
  readonly why: Missing | null;
}

interface BenchFacts {
  /** Runs at the load that is compared. */
  readonly runs: readonly BenchRun[];
  /** Different loads in the files given. */
  readonly loads: number;
}

export const phaseOf = (framework: Framework, phase: Phase | null): PhaseFigures | undefined =>
  framework.phases.find(known => known.phase === phase);

/** The per-token budget of a phase, where it is known. */
export function budgetOf(framework: Framework, phase: Phase | null): TokenBudget | undefined {
  const budget = phaseOf(framework, phase)?.budget;
  return budget && 'tokens' in budget ? budget : undefined;
}
