/** Everything a profile tells about one phase of a framework, each figure measured or missing with a reason. */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import { graphCoverage } from '../analyze/gpu/graph-coverage.js';
import { kernelFamilies } from '../analyze/gpu/kernel-families.js';
import { kernelsPerStep } from '../analyze/gpu/kernels-per-step.js';
import { memoryInUse } from '../analyze/gpu/memory-in-use.js';
import { memoryOperations } from '../analyze/gpu/memory-operations.js';
import { allocations } from '../analyze/host/allocations.js';
import { layers } from '../analyze/inference/layers.js';
import { parseModelConfig } from '../analyze/inference/model-shape.js';
import { speedOfLight } from '../analyze/inference/speed-of-light.js';
import { stepBudget } from '../analyze/inference/step-budget.js';
import { sumOf } from '../analyze/words.js';
import { type Phase, phases } from '../catalog/phases.js';
import { gemmTypes } from './collect-profile.js';
import { type Figure, isMissingResult, type Missing, measured, missing, resultOf } from './figure.js';
import type { MeasureId } from './measures.js';
import type { ProfiledRun } from './run.js';
import { type TokenBudget, type TokenPart, tokenBudget } from './token-budget.js';

export interface PhaseFigures {
  readonly phase: Phase;
  /** Part of the time of the selected steps. */
  readonly wallNs: number;
  /** Requests per step, or prompt tokens in prefill: the median. */
  readonly batch: number | null;
  /** The data type most GEMM time is spent in. */
  readonly precision: string | null;
  readonly budget: TokenBudget | Missing;
  readonly figures: Readonly<Record<MeasureId, Figure>>;
  readonly families: readonly FamilyFigure[] | Missing;
}

export interface FamilyFigure {
  readonly family: string;
  readonly nsPerToken: number;
  readonly kernelsPerStep: number;
}

const noSteps = missing(
  'engine steps',
  'capture with the engine’s step markers (-t nvtx, or a PyTorch trace), or give marker: with a pattern',
);

/** What is asked of a profile beside the run itself. */
export const phaseSources: readonly Derived<unknown>[] = [
  stepBudget,
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
        figures: {
          ...tokenFigures(budget),
          ...kernelFigures(own, phase),
          ...memoryFigures(own, phase),
        },
        families: familyFigures(own, phase, budget),
      },
    ];
  });
  return found.length > 0 ? found : noSteps;
}

const hiddenInReplays = 'graph replays were recorded as blocks: what waits inside them counts as kernels';

type TokenFigures = Pick<
  Record<MeasureId, Figure>,
  | 'stepNs'
  | 'tokensPerStep'
  | 'wallNsPerToken'
  | 'kernelNsPerToken'
  | 'communicationNsPerToken'
  | 'copyNsPerToken'
  | 'hostNsPerToken'
  | 'otherIdleNsPerToken'
>;

function tokenFigures(budget: TokenBudget | Figure): TokenFigures {
  const of = (read: (known: TokenBudget) => Figure): Figure => ('tokens' in budget ? read(budget) : budget);
  const part = (name: TokenPart, note?: string) =>
    of(({ partsNs, tokens, graphReplayNs }) =>
      measured(partsNs[name] / tokens, graphReplayNs > 0 ? note : undefined),
    );
  return {
    stepNs: of(({ wallNs, windows }) => measured(wallNs / windows)),
    tokensPerStep: of(({ tokens, windows }) => measured(tokens / windows)),
    wallNsPerToken: of(({ wallNs, tokens }) => measured(wallNs / tokens)),
    kernelNsPerToken: part('kernels', hiddenInReplays),
    communicationNsPerToken: of(({ partsNs, tokens, graphReplayNs }) =>
      // Nothing seen outside the blocks says nothing about what is in them.
      graphReplayNs > 0 && partsNs.communication === 0
        ? missing(
            'communication inside CUDA graph replays (recorded as blocks)',
            'capture with --cuda-graph-trace=node',
          )
        : measured(partsNs.communication / tokens),
    ),
    copyNsPerToken: part('copies', hiddenInReplays),
    hostNsPerToken: part('host', hiddenInReplays),
    otherIdleNsPerToken: part('otherIdle', hiddenInReplays),
  };
}

type KernelFigures = Pick<
  Record<MeasureId, Figure>,
  'kernelsPerLayer' | 'kernelsPerStep' | 'meanKernelNs' | 'graphCoverage' | 'ofLeastTime'
>;

function kernelFigures(analyzer: Analyzer, phase: Phase): KernelFigures {
  const counts = resultOf(analyzer, kernelsPerStep);
  const row = isMissingResult(counts) ? counts : counts.rows.find(own => own.phase === phase);
  const none = missing(`kernels of ${phase} steps`, 'capture with -t cuda');
  const count = (of: 'kernels' | 'meanKernelNs'): Figure =>
    row === undefined ? none : 'value' in row ? row : measured(row[of]);
  const covered = resultOf(analyzer, graphCoverage);
  const coverage = isMissingResult(covered) ? covered : covered.rows.find(own => own.phase === phase);
  const speed = resultOf(analyzer, speedOfLight);
  const whole = isMissingResult(speed)
    ? missing(speed.what, 'give model: with a preset or the model’s config.json')
    : (speed.rows.find(own => own.phase === phase && own.ofLeast !== null) ??
      missing('the load of the steps', 'capture with markers that name requests and tokens'));
  return {
    // Kernels that were not recorded have no layers either, and their absence says better why.
    kernelsPerLayer: row && 'value' in row ? row : kernelsPerLayer(analyzer, phase, count('kernels')),
    kernelsPerStep: count('kernels'),
    meanKernelNs: count('meanKernelNs'),
    graphCoverage:
      coverage === undefined ? none : 'value' in coverage ? coverage : measured(coverage.timeShare),
    ofLeastTime: 'value' in whole ? whole : measured(whole.ofLeast!),
  };
}

const MAY_SPAN = 'by the pattern that repeats, which may span two layers; give model: to count by its layers';

/** By the model's own number of layers where it is given: patterns of two frameworks need not span as many layers. */
function kernelsPerLayer(analyzer: Analyzer, phase: Phase, perStep: Figure): Figure {
  const { model } = analyzer.settings;
  if (model !== undefined && perStep.value !== null) {
    const known = parseModelConfig(model).layers;
    return measured(perStep.value / known, `kernels per step by the model’s ${known} layers`);
  }
  const found = resultOf(analyzer, layers);
  if (isMissingResult(found)) return found;
  const { methods, structure } = found.summary as unknown as LayerSummary;
  const own = found.rows.filter(row => row.phase === phase && row.layer !== null);
  const numbers = new Set(own.map(row => row.layer));
  if (numbers.size > 0)
    return measured(
      sumOf(own, row => row.kernelsPerStep) / numbers.size,
      methods.includes('pattern') ? MAY_SPAN : undefined,
    );
  if (structure?.phase === phase) return measured(structure.kernelsPerRepeat, MAY_SPAN);
  return missing(
    'layers',
    'mark them with NVTX ranges such as "layers.3.mlp", or trace modules (with_modules=True)',
  );
}

interface LayerSummary {
  readonly methods: readonly string[];
  readonly structure: {
    readonly phase: string;
    readonly repeats: number;
    readonly kernelsPerRepeat: number;
  } | null;
}

type MemoryFigures = Pick<
  Record<MeasureId, Figure>,
  'peakBytes' | 'allocationsPerStep' | 'copiesPerStep' | 'copyBytesPerStep' | 'waitedCopiesPerStep'
>;

function memoryFigures(analyzer: Analyzer, phase: Phase): MemoryFigures {
  const inUse = resultOf(analyzer, memoryInUse);
  const allocated = resultOf(analyzer, allocations);
  const moved = resultOf(analyzer, memoryOperations);
  const copies = (of: (rows: readonly CopyRow[]) => number): Figure =>
    isMissingResult(moved) ? moved : measured(of(moved.rows.filter(row => row.phase === phase)));
  return {
    peakBytes: isMissingResult(inUse)
      ? inUse
      : inUse.rows.length === 0
        ? missing('GPU memory usage', 'capture with --cuda-memory-usage=true, or profile_memory=True')
        : measured(Math.max(...inUse.rows.map(row => row.peakBytes))),
    allocationsPerStep: isMissingResult(allocated)
      ? allocated
      : measured(sumOf(allocated.rows, row => row.countPerStep)),
    copiesPerStep: copies(rows => sumOf(rows, row => row.countPerStep)),
    copyBytesPerStep: copies(rows => sumOf(rows, row => (row.bytes / row.count) * row.countPerStep)),
    waitedCopiesPerStep: copies(rows => sumOf(rows, row => (row.hostWaits ? row.countPerStep : 0))),
  };
}

interface CopyRow {
  readonly countPerStep: number;
  readonly count: number;
  readonly bytes: number;
  readonly hostWaits: boolean | null;
}

function familyFigures(
  analyzer: Analyzer,
  phase: Phase,
  budget: TokenBudget | Figure,
): PhaseFigures['families'] {
  if (!('tokens' in budget)) return budget as never;
  const found = resultOf(analyzer, kernelFamilies);
  if (isMissingResult(found)) return found;
  const tokensPerStep = budget.tokens / budget.windows;
  return found.rows
    .flatMap(({ family, phases }): FamilyFigure[] => {
      const own = phases.find(row => row.phase === phase);
      if (!own) return [];
      return [{ family, nsPerToken: own.nsPerStep / tokensPerStep, kernelsPerStep: own.kernelsPerStep }];
    })
    .sort((a, b) => b.nsPerToken - a.nsPerToken);
}
