/** The figures of a phase that are put beside each other: one line each for the page, CSV, JSON and the documentation. */
import type { Analysis, AnalysisResult, Analyzer } from '../analyze/analysis.js';
import type { ColumnKind } from '../analyze/block.js';
import { graphCoverage } from '../analyze/gpu/graph-coverage.js';
import { kernelsPerStep } from '../analyze/gpu/kernels-per-step.js';
import { memoryInUse } from '../analyze/gpu/memory-in-use.js';
import { memoryOperations } from '../analyze/gpu/memory-operations.js';
import { allocations } from '../analyze/host/allocations.js';
import { layers } from '../analyze/inference/layers.js';
import { parseModelConfig } from '../analyze/inference/model-shape.js';
import { speedOfLight } from '../analyze/inference/speed-of-light.js';
import { undisturbedStep } from '../analyze/undisturbed/undisturbed-step.js';
import { sumOf } from '../analyze/words.js';
import type { Phase } from '../catalog/phases.js';
import { isMissingResult, type Missing, measured, missing, type Reading, resultOf } from './figure.js';
import type { TokenBudget, TokenPart } from './token-budget.js';

export type MeasureGroup = 'token' | 'kernels' | 'memory';

interface Measure {
  readonly id: string;
  readonly group: MeasureGroup;
  readonly label: string;
  readonly kind: ColumnKind;
  of(phase: MeasuredPhase): Reading;
}

interface MeasuredPhase {
  readonly phase: Phase;
  /** Looking at the steps of this phase alone. */
  readonly analyzer: Analyzer;
  readonly budget: TokenBudget | Missing;
}

type Read = Measure['of'];

const measure = (id: string, group: MeasureGroup, label: string, kind: ColumnKind, of: Read): Measure => ({
  id,
  group,
  label,
  kind,
  of,
});

/** Of the tokens' time. */
const ofBudget =
  (read: (budget: TokenBudget) => Reading): Read =>
  ({ budget }) =>
    'tokens' in budget ? read(budget) : budget;

const perToken = (part: TokenPart): Read =>
  ofBudget(({ partsNs, tokens, graphReplayNs }) => {
    // Nothing seen outside the blocks says nothing about what is in them.
    if (part === 'communication' && graphReplayNs > 0 && partsNs.communication === 0)
      return missing(
        'communication inside CUDA graph replays (recorded as blocks)',
        'capture with --cuda-graph-trace=node',
      );
    const isHidden = graphReplayNs > 0 && part !== 'communication';
    return measured(partsNs[part] / tokens, isHidden ? HIDDEN_IN_REPLAYS : undefined);
  });

const HIDDEN_IN_REPLAYS = 'graph replays were recorded as blocks: idle time inside them counts as kernels';

/** Of the rows of an analysis; `none` where they do not hold it. */
const ofRows =
  <Row extends { readonly key: string }>(
    analysis: Analysis<Row, AnalysisResult<Row>>,
    read: (rows: readonly Row[], phase: Phase) => number | null | undefined,
    none: (phase: Phase) => Missing = phase => missing(`kernels of ${phase} steps`, 'capture with -t cuda'),
  ): Read =>
  ({ analyzer, phase }) => {
    const found = resultOf(analyzer, analysis);
    if (isMissingResult(found)) return found;
    const value = read(found.rows, phase);
    return value === null || value === undefined ? none(phase) : measured(value);
  };

const rowsOf = <Row extends { readonly key: string }>(
  analyzer: Analyzer,
  analysis: Analysis<Row, AnalysisResult<Row>>,
): readonly Row[] => {
  const found = resultOf(analyzer, analysis);
  return isMissingResult(found) ? [] : found.rows;
};
const ofPhase = <Row extends { readonly phase: Phase | null }>(rows: readonly Row[], phase: Phase) =>
  rows.find(row => row.phase === phase);
const kernelCount = ofRows(kernelsPerStep, (rows, phase) => ofPhase(rows, phase)?.kernels);

type CopyRow = { countPerStep: number; count: number; bytes: number; hostWaits: boolean | null };
const ofCopies = (read: (row: CopyRow) => number): Read =>
  ofRows(memoryOperations, (rows, phase) =>
    sumOf(
      rows.filter(row => row.phase === phase),
      read,
    ),
  );

const leastTime: Read = look => {
  const of = ofRows(
    speedOfLight,
    (rows, phase) => rows.find(row => row.phase === phase && row.ofLeast !== null)?.ofLeast,
    () => missing('the load of the steps', 'capture with markers that name requests and tokens'),
  )(look);
  const isModelMissing = isMissingResult(resultOf(look.analyzer, speedOfLight));
  return isModelMissing && of.value === null
    ? missing(of.what, 'give model: with a preset or the model’s config.json')
    : of;
};

const MAY_SPAN = 'from the repeating pattern, which may span two layers; give model: to count by its layers';

/** By the model's own number of layers where it is given: patterns of two frameworks need not span as many layers. */
const kernelsPerLayer: Read = look => {
  const { analyzer, phase } = look;
  const { model } = analyzer.settings;
  const perStep = kernelCount(look);
  // Kernels that were not recorded have no layers either, and their absence says better why.
  if (isMissingResult(resultOf(analyzer, kernelsPerStep))) return perStep;
  if (model !== undefined && perStep.value !== null) {
    const known = parseModelConfig(model).layers;
    return measured(perStep.value / known, `kernels per step by the model’s ${known} layers`);
  }
  const found = resultOf(analyzer, layers);
  if (isMissingResult(found)) return found;
  const { methods, structure } = found.summary as unknown as {
    readonly methods: readonly string[];
    readonly structure: { readonly phase: string; readonly kernelsPerRepeat: number } | null;
  };
  const own = found.rows.filter(row => row.phase === phase && row.layer !== null);
  const count = new Set(own.map(row => row.layer)).size;
  const note = methods.includes('pattern') ? MAY_SPAN : undefined;
  if (count > 0) return measured(sumOf(own, row => row.kernelsPerStep) / count, note);
  if (structure?.phase === phase) return measured(structure.kernelsPerRepeat, MAY_SPAN);
  const hint = 'mark them with NVTX ranges such as "layers.3.mlp", or trace modules (with_modules=True)';
  return missing('layers', hint);
};

const stepNs = ofBudget(({ wallNs, windows }) => measured(wallNs / windows));
const undisturbedNs: Read = look => {
  const row = ofPhase(rowsOf(look.analyzer, undisturbedStep), look.phase);
  if (!row)
    return missing(
      'what the profiler adds',
      'capture with --agent, or give a log of the run next to the profile',
    );
  return measured(row.undisturbedNs, row.source === 'estimate' ? `estimated: ${row.basis}` : row.basis);
};
const tokensPerStep = ofBudget(({ tokens, windows }) => measured(tokens / windows));
const wallNsPerToken = ofBudget(({ wallNs, tokens }) => measured(wallNs / tokens));
const meanKernelNs = ofRows(kernelsPerStep, (rows, phase) => ofPhase(rows, phase)?.meanKernelNs);
const inGraphs = ofRows(graphCoverage, (rows, phase) => ofPhase(rows, phase)?.timeShare);
const allocated = ofRows(allocations, rows => sumOf(rows, row => row.countPerStep));
const peakBytes = ofRows(
  memoryInUse,
  rows => (rows.length === 0 ? null : Math.max(...rows.map(row => row.peakBytes))),
  () => missing('GPU memory usage', 'capture with --cuda-memory-usage=true, or profile_memory=True'),
);
const bytesPerStep = ofCopies(row => (row.bytes / row.count) * row.countPerStep);
const waitedFor = ofCopies(row => (row.hostWaits ? row.countPerStep : 0));

/** What each is: docs/metrics.md#frameworks. */
export const measures: readonly Measure[] = [
  measure('stepNs', 'token', 'Step', 'ns-mean', stepNs),
  measure('undisturbedStepNs', 'token', 'Step without profiler', 'ns-mean', undisturbedNs),
  measure('tokensPerStep', 'token', 'Tokens per step', 'mean', tokensPerStep),
  measure('wallNsPerToken', 'token', 'Wall per token', 'ns-mean', wallNsPerToken),
  measure('kernelNsPerToken', 'token', 'Kernels per token', 'ns-mean', perToken('kernels')),
  measure('communicationNsPerToken', 'token', 'Comm per token', 'ns-mean', perToken('communication')),
  measure('copyNsPerToken', 'token', 'Copies per token', 'ns-mean', perToken('copies')),
  measure('hostNsPerToken', 'token', 'Host per token', 'ns-mean', perToken('host')),
  measure('otherIdleNsPerToken', 'token', 'Other idle per token', 'ns-mean', perToken('otherIdle')),
  measure('kernelsPerLayer', 'kernels', 'Kernels per layer', 'mean', kernelsPerLayer),
  measure('kernelsPerStep', 'kernels', 'Kernels per step', 'mean', kernelCount),
  measure('meanKernelNs', 'kernels', 'Mean kernel', 'ns-mean', meanKernelNs),
  measure('graphCoverage', 'kernels', 'In CUDA graphs', 'share', inGraphs),
  measure('ofLeastTime', 'kernels', 'Of speed of light', 'share', leastTime),
  measure('peakBytes', 'memory', 'Peak GPU memory', 'bytes', peakBytes),
  measure('allocationsPerStep', 'memory', 'Allocations per step', 'mean', allocated),
  measure(
    'copiesPerStep',
    'memory',
    'Copies per step',
    'mean',
    ofCopies(row => row.countPerStep),
  ),
  measure('copyBytesPerStep', 'memory', 'Copied per step', 'bytes', bytesPerStep),
  measure('waitedCopiesPerStep', 'memory', 'Copies waited for', 'mean', waitedFor),
];

/** Figures of the benchmark that have a row where anyone has them; the first that all have ranks them. */
export const benchRows: readonly string[] = [
  'outputTokensPerSecond',
  'requestsPerSecond',
  'totalTokensPerSecond',
  'ttftMeanNs',
  'ttftP99Ns',
  'tpotMeanNs',
  'tpotP99Ns',
  'itlMeanNs',
  'e2eMeanNs',
];
