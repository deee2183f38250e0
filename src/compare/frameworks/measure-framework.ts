/** One framework measured: its benchmark at the load that is compared, and what its profile shows, phase by phase. */
import type { Analyzer } from '../../analyze/analysis.js';
import { gpuWork } from '../../analyze/gpu/gpu-work.js';
import { totalsByPhase } from '../../analyze/inference/budget-totals.js';
import { iterations } from '../../analyze/inference/iterations.js';
import { stepBudget } from '../../analyze/inference/step-budget.js';
import { UserError } from '../../base/user-error.js';
import { benchMetrics } from '../../catalog/bench-metrics.js';
import { profilers } from '../../catalog/profilers.js';
import type { BenchRun } from '../../model/bench-run.js';
import { graphMode } from '../../model/graph-mode.js';
import type { ChosenRuns } from './common-load.js';
import {
  type Figure,
  isMissingResult,
  type Missing,
  measured,
  missing,
  orMissing,
  resultOf,
} from './figure.js';
import type { CaptureFacts, Framework, FrameworkInput, PhaseFigures } from './framework.js';
import { layerCount, measurePhase } from './measure-phase.js';
import { benchRows } from './measures.js';

const noProfile = missing('a profile', 'take one at the load of the benchmark and list it under profiles:');
const noSteps = missing(
  'engine steps',
  'capture with the engine’s step markers (-t nvtx, or a PyTorch trace), or give marker: with a pattern',
);

export function measureFramework(input: FrameworkInput, chosen: ChosenRuns): Framework {
  try {
    return measure(input, chosen);
  } catch (error) {
    // Steps that were asked for and are not there: say whose, and where to ask for others.
    if (!(error instanceof UserError)) throw error;
    throw new UserError(
      error.code,
      `${input.name}: ${error.message}`,
      error.hint.includes('--iterations')
        ? 'Choose others with phase: and iterations: in CONFIG, or leave both out.'
        : error.hint,
    );
  }
}

function measure(input: FrameworkInput, chosen: ChosenRuns): Framework {
  const { name, notes, analyzer } = input;
  const phases = analyzer ? phasesOf(analyzer) : noProfile;
  const capture = analyzer ? captureFacts(analyzer) : null;
  return {
    name,
    notes: notes ?? null,
    capture,
    bench: chosen.runs.length > 0 ? chosen : null,
    measured: Object.fromEntries(benchRows.map(id => [id, benchFigure(id, chosen.runs)])),
    gpus: input.gpus ?? gpusOf(chosen.runs) ?? gpusInCapture(analyzer, capture),
    phases: 'value' in phases ? [] : phases,
    why: 'value' in phases ? phases : null,
  };
}

function phasesOf(analyzer: Analyzer): PhaseFigures[] | Missing {
  const budgets = resultOf(analyzer, stepBudget);
  if (isMissingResult(budgets)) return budgets;
  const totals = totalsByPhase(budgets.rows).flatMap(({ phase, wallNs }) =>
    phase === null ? [] : [{ phase, wallNs }],
  );
  if (totals.length === 0) return noSteps;
  return totals.map(({ phase, wallNs }) =>
    measurePhase(analyzer.lookingAt({ ...analyzer.settings, phase }), phase, wallNs),
  );
}

function captureFacts(analyzer: Analyzer): CaptureFacts {
  const { profile } = analyzer;
  const { capture } = profile;
  const steps = resultOf(analyzer, iterations);
  const rows = isMissingResult(steps) ? [] : steps.rows;
  const summary = isMissingResult(steps) ? {} : (steps.summary ?? {});
  const selected = rows.filter(row => row.selected);
  const work = orMissing(() => analyzer.get(gpuWork));
  const devices = new Set('value' in work ? [] : Array.from(work.device));
  const names = new Set([...devices].map(device => profile.gpus[device]?.name).filter(Boolean));
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  return {
    files: capture.files,
    profiler: [profilers[capture.profiler].short, capture.profilerVersion].join(' ').trim(),
    gpu: names.size > 0 ? [...names].join(', ') : null,
    gpusWithWork: devices.size,
    driver: capture.versions.driver ?? null,
    graphMode: graphMode(profile),
    engine: text(summary.engine),
    stepsFoundBy: text(summary.foundBy),
    steps: rows.length,
    selectedSteps: selected.length,
    steadySteps: selected.filter(row => row.state === 'steady').length,
    ...layerCount(analyzer),
  };
}

function benchFigure(id: string, runs: readonly BenchRun[]): Figure {
  const { of, header } = benchMetrics.find(metric => metric.id === id)!;
  if (runs.length === 0)
    return missing('a benchmark', 'run one at the load of the profile and list its result under benchmarks:');
  const values = runs.map(of).filter(value => value !== undefined);
  if (values.length === 0) {
    const isLatency = /^(ttft|tpot|itl)/.test(id);
    return missing(
      `${header}: ${runs[0].tool} did not print it`,
      isLatency ? 'run the benchmark with streaming answers' : 'keep the whole output of the benchmark',
    );
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.length > 1 ? measured(mean, `mean of ${values.length} runs`) : measured(mean);
}

function gpusOf([run]: readonly BenchRun[]): number | undefined {
  if (!run) return undefined;
  const { gpus, tensorParallel, pipelineParallel = 1, dataParallel = 1 } = run.load;
  // Data parallel ranks may be replicas or share the GPUs of tensor parallelism: only the user knows.
  if (tensorParallel === undefined || dataParallel > 1) return gpus;
  return gpus ?? tensorParallel * pipelineParallel;
}

function gpusInCapture(analyzer: Analyzer | undefined, capture: CaptureFacts | null): number | null {
  const world = analyzer?.profile.capture.distributed?.worldSize ?? 0;
  return Math.max(world, capture?.gpusWithWork ?? 0) || null;
}
