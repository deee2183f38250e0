/** Everything a profile tells about one phase of a framework, each figure measured or missing with a reason. */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import { graphCoverage } from '../analyze/gpu/graph-coverage.js';
import { kernelFamilies } from '../analyze/gpu/kernel-families.js';
import { kernelsPerStep } from '../analyze/gpu/kernels-per-step.js';
import { memoryInUse } from '../analyze/gpu/memory-in-use.js';
import { memoryOperations } from '../analyze/gpu/memory-operations.js';
import { allocations } from '../analyze/host/allocations.js';
import { layers } from '../analyze/inference/layers.js';
import { speedOfLight } from '../analyze/inference/speed-of-light.js';
import { stepBudget } from '../analyze/inference/step-budget.js';
import { undisturbedStep } from '../analyze/undisturbed/undisturbed-step.js';
import type { Static } from '../base/document.js';
import { type Phase, phases } from '../catalog/phases.js';
import { gemmTypes } from './collect-profile.js';
import type { phaseFiguresSchema } from './document.js';
import { isMissingResult, type Missing, missing, resultOf } from './figure.js';
import { measures } from './measures.js';
import type { ProfiledRun } from './run.js';
import { type TokenBudget, tokenBudget } from './token-budget.js';

export type PhaseFigures = Static<typeof phaseFiguresSchema>;

const noSteps = missing(
  'engine steps',
  'capture with the engine’s step markers (-t nvtx, or a PyTorch trace), or give marker: with a pattern',
);

/** What is asked of a profile beside the run itself. */
export const phaseSources: readonly Derived<unknown>[] = [
  stepBudget,
  undisturbedStep,
  kernelFamilies,
  kernelsPerStep,
  layers,
  graphCoverage,
  memoryInUse,
  memoryOperations,
  allocations,
  speedOfLight,
];

/** In the order of the catalogue of phases; why there are none where the profile has no steps. */
export function collectPhases(analyzer: Analyzer, { facts, profile }: ProfiledRun): PhaseFigures[] | Missing {
  const budgets = resultOf(analyzer, stepBudget);
  if (isMissingResult(budgets)) return budgets;
  const found = phases.flatMap(({ id: phase }): PhaseFigures[] => {
    const cells = profile.cells.filter(cell => cell.phase === phase);
    if (cells.length === 0) return [];
    const own = analyzer.lookingAt({ ...analyzer.settings, phase });
    const budget = tokenBudget(cells, phase);
    const { batch = null, contextTokens = null } = facts.phases[phase] ?? {};
    return [
      {
        phase,
        wallNs: cells.reduce((sum, { wallNs }) => sum + wallNs, 0),
        batch: phase === 'prefill' ? contextTokens : batch,
        precision: Object.keys(gemmTypes(cells, profile.kernels))[0] ?? null,
        budget,
        figures: Object.fromEntries(measures.map(({ id, of }) => [id, of({ phase, analyzer: own, budget })])),
        families: familyFigures(own, phase, budget),
      },
    ];
  });
  return found.length > 0 ? found : noSteps;
}

function familyFigures(
  analyzer: Analyzer,
  phase: Phase,
  budget: TokenBudget | Missing,
): PhaseFigures['families'] {
  if (!('tokens' in budget)) return budget;
  const found = resultOf(analyzer, kernelFamilies);
  if (isMissingResult(found)) return found;
  const tokensPerStep = budget.tokens / budget.windows;
  return found.rows
    .flatMap(({ family, phases }) => {
      const own = phases.find(row => row.phase === phase);
      if (!own) return [];
      return [{ family, nsPerToken: own.nsPerStep / tokensPerStep, kernelsPerStep: own.kernelsPerStep }];
    })
    .sort((a, b) => b.nsPerToken - a.nsPerToken);
}
