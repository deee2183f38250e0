/** One framework measured: its benchmark at the load that is compared, and what its profile shows, phase by phase. */
import { UserError } from '../../base/user-error.js';
import { benchMetrics } from '../../catalog/bench-metrics.js';
import type { BenchRun } from '../../model/bench-run.js';
import { profileRun } from '../../run/collect.js';
import { measured, missing, type Reading } from '../../run/figure.js';
import { benchRows } from '../../run/measures.js';
import { collectPhases } from '../../run/phase-figures.js';
import type { ProfiledRun } from '../../run/run.js';
import { meanOf } from '../../stats/mean.js';
import type { ChosenRuns } from './common-load.js';
import type { Framework, FrameworkInput } from './framework.js';

const noProfile = missing(
  'a profile',
  'capture one at the load of the benchmark and list it under profiles:',
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
        ? 'Choose others with phase: and iterations: in CONFIG, or omit both.'
        : error.hint,
    );
  }
}

function measure(input: FrameworkInput, chosen: ChosenRuns): Framework {
  const { name, notes, analyzer } = input;
  const run = analyzer ? profileRun(analyzer) : null;
  const phases = analyzer && run ? collectPhases(analyzer, run) : noProfile;
  return {
    name,
    notes: notes ?? null,
    run,
    bench: chosen.runs.length > 0 ? chosen : null,
    measured: Object.fromEntries(benchRows.map(id => [id, benchFigure(id, chosen.runs)])),
    gpus: input.gpus ?? gpusOf(chosen.runs) ?? gpusInCapture(run),
    model: input.model ?? null,
    phases: 'value' in phases ? [] : phases,
    why: 'value' in phases ? phases : null,
  };
}

function benchFigure(id: string, runs: readonly BenchRun[]): Reading {
  const { of, header } = benchMetrics.find(metric => metric.id === id)!;
  if (runs.length === 0)
    return missing('a benchmark', 'run one at the load of the profile and list its result under benchmarks:');
  const values = runs.map(of).filter(value => value !== undefined);
  if (values.length === 0) {
    const isLatency = /^(ttft|tpot|itl)/.test(id);
    return missing(
      `${header}: ${runs[0].tool} did not print it`,
      isLatency ? 'run the benchmark with streaming responses' : 'keep the whole output of the benchmark',
    );
  }
  const mean = meanOf(values);
  return values.length > 1 ? measured(mean, `mean of ${values.length} runs`) : measured(mean);
}

function gpusOf([run]: readonly BenchRun[]): number | undefined {
  if (!run) return undefined;
  const { gpus, tensorParallel, pipelineParallel = 1, dataParallel = 1 } = run.load;
  // Data parallel ranks may be replicas or share the GPUs of tensor parallelism: only the user knows.
  if (tensorParallel === undefined || dataParallel > 1) return gpus;
  return gpus ?? tensorParallel * pipelineParallel;
}

const gpusInCapture = (run: ProfiledRun | null): number | null =>
  Math.max(run?.profile.capture.worldSize ?? 0, run?.facts.gpus ?? 0) || null;
