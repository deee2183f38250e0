/** The registry of analyses: one line each, in the order they are listed and run. */
import { closestWord } from '../base/closest-word.js';
import { UserError } from '../base/user-error.js';
import type { AnyAnalysis } from './analysis.js';
import { collectives } from './comm/collectives.js';
import { rankSkew } from './comm/rank-skew.js';
import { rankSteps } from './comm/rank-steps.js';
import { rankWaits } from './comm/rank-waits.js';
import { checklist } from './findings/checklist.js';
import { findings } from './findings/findings.js';
import { gpuMetricsAnalysis } from './gpu/gpu-metrics.js';
import { gpuUtilization } from './gpu/gpu-utilization.js';
import { graphCoverage } from './gpu/graph-coverage.js';
import { kernelFamilies } from './gpu/kernel-families.js';
import { kernelsPerStep } from './gpu/kernels-per-step.js';
import { memoryInUse } from './gpu/memory-in-use.js';
import { memoryOperations } from './gpu/memory-operations.js';
import { metricSeries } from './gpu/metric-series.js';
import { streamOverlap } from './gpu/stream-overlap.js';
import { topKernels } from './gpu/top-kernels.js';
import { allocations } from './host/allocations.js';
import { gc } from './host/gc.js';
import { gil } from './host/gil.js';
import { launchOverhead } from './host/launch-overhead.js';
import { operators } from './host/operators.js';
import { threads } from './host/threads.js';
import { hostCode } from './host-code/host-code.js';
import { criticalPath } from './inference/critical-path.js';
import { idleGaps } from './inference/idle-gaps.js';
import { iterations } from './inference/iterations.js';
import { layers } from './inference/layers.js';
import { speedOfLight } from './inference/speed-of-light.js';
import { stepBudget } from './inference/step-budget.js';
import { stepSequence } from './inference/step-sequence.js';
import { tokenTime } from './inference/token-time.js';
import { engineState } from './requests/engine-state.js';
import { handover } from './requests/handover.js';
import { requests } from './requests/requests.js';
import { undisturbedStep } from './undisturbed/undisturbed-step.js';

const known: AnyAnalysis[] = [
  findings,
  iterations,
  stepBudget,
  undisturbedStep,
  idleGaps,
  hostCode,
  kernelFamilies,
  topKernels,
  kernelsPerStep,
  stepSequence,
  layers,
  tokenTime,
  requests,
  engineState,
  handover,
  graphCoverage,
  gpuUtilization,
  gpuMetricsAnalysis,
  metricSeries,
  launchOverhead,
  operators,
  streamOverlap,
  memoryOperations,
  allocations,
  memoryInUse,
  gc,
  gil,
  threads,
  rankSkew,
  rankSteps,
  rankWaits,
  collectives,
  criticalPath,
  speedOfLight,
  checklist,
];

export const analyses: readonly AnyAnalysis[] = known;

const usual = known.filter(({ onlyAsked }) => !onlyAsked);

/** Those that run where none is named. */
export const usualAnalyses: readonly AnyAnalysis[] = usual;

/** One of a plugin's. */
export function addAnalysis(analysis: AnyAnalysis): void {
  known.push(analysis);
  if (!analysis.onlyAsked) usual.push(analysis);
}

export function chooseAnalyses(ids: readonly string[]): AnyAnalysis[] {
  return ids.map(id => {
    const found = analyses.find(analysis => analysis.id === id);
    if (found) return found;
    const slip = closestWord(
      id,
      analyses.map(known => known.id),
    );
    const close = analyses.filter(known =>
      slip === undefined ? known.id.includes(id) || id.includes(known.id) : known.id === slip,
    );
    throw new UserError(
      'usage',
      `Unknown analysis ${JSON.stringify(id)}.`,
      close.length > 0
        ? `Did you mean ${close.map(known => known.id).join(' or ')}? stepscope analyze --list shows all.`
        : 'See: stepscope analyze --list',
    );
  });
}
