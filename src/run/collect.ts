/**
 * From a profile to a run: everything that verbs judge runs by is read here, and what a command must read of a file
 * follows from it. A benchmark of the run comes beside its profile, or alone.
 */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import { benchSettings } from '../catalog/bench-metrics.js';
import type { BenchRun } from '../model/bench-run.js';
import { cleanText, runFacts } from './collect-facts.js';
import { figuresInOrder, runFigures } from './collect-figures.js';
import { profileParts } from './collect-profile.js';
import { metrics } from './metrics.js';
import type { Figures, LoadFacts, ProfiledRun, Run } from './run.js';
import { sideFigures } from './side-figures.js';

export const measureSources: readonly Derived<unknown>[] = [runFacts, runFigures];
export const profileSources: readonly Derived<unknown>[] = [runFacts, profileParts];
export const comparedSources: readonly Derived<unknown>[] = [...profileSources, sideFigures];

/** With its figures. */
export const measureRun = (analyzer: Analyzer): Run => ({
  files: analyzer.profile.capture.files.map(cleanText),
  facts: analyzer.get(runFacts),
  ...analyzer.get(runFigures),
});

/** With its steps, kernel by kernel. */
export const profileRun = (analyzer: Analyzer): ProfiledRun => ({
  files: analyzer.profile.capture.files,
  facts: analyzer.get(runFacts),
  figures: {},
  steps: {},
  profile: analyzer.get(profileParts),
});

/** With what is shown beside the equation of its steps. */
export const comparedRun = (analyzer: Analyzer): ProfiledRun => ({
  ...profileRun(analyzer),
  sideBySide: analyzer.get(sideFigures),
});

/** A run of which there is a profile and a benchmark. */
export function withBench(run: Run, bench: BenchRun): Run {
  return {
    ...run,
    files: [...run.files, cleanText(bench.source.file)],
    facts: { ...run.facts, load: loadFacts(bench) },
    figures: { ...run.figures, run: { ...run.figures.run, ...benchFigures(bench) } },
    bench,
  };
}

/** A run of which there is a benchmark alone. */
export function benchedRun(bench: BenchRun): Run {
  const run: Run = {
    files: [],
    facts: {
      gpu: bench.gpu ? cleanText(bench.gpu) : null,
      gpus: bench.load.gpus ?? 0,
      engine: bench.framework ? cleanText(bench.framework) : null,
      stepsFoundBy: null,
      profiler: 'none',
      profilerVersion: null,
      driver: null,
      graphs: 'none',
      model: null,
      phases: {},
    },
    figures: {},
    steps: {},
  };
  return withBench(run, bench);
}

/** Only what the tool printed. */
const benchFigures = (bench: BenchRun): Figures =>
  figuresInOrder(
    metrics.flatMap(({ id, ofBench }) => {
      const value = ofBench?.(bench);
      return value === undefined ? [] : [[id, value] as const];
    }),
  );

/** Runs that differ in one of these answer different questions. */
function loadFacts(run: BenchRun): LoadFacts {
  const prevents = benchSettings.filter(({ difference }) => difference === 'prevents');
  return Object.fromEntries(
    prevents.flatMap(({ id, of }) => {
      const value = of(run);
      return value === undefined ? [] : [[id, typeof value === 'string' ? cleanText(value) : value]];
    }),
  );
}
