/** The comparison for machines: the JSON document, and CSV with one figure per line in base units. */
import { csvCell } from '../../base/csv-cell.js';
import type { Static } from '../../base/document.js';
import { benchMetrics } from '../../catalog/bench-metrics.js';
import type { BenchRun } from '../../model/bench-run.js';
import type { Reading } from '../../run/figure.js';
import { benchRows, measures } from '../../run/measures.js';
import type { ProfiledRun } from '../../run/run.js';
import { profilerName } from '../../run/trait-values.js';
import type { FrameworkComparison } from './compare-frameworks.js';
import type { frameworksSchema } from './frameworks-schema.js';

export function frameworksDocument(comparison: FrameworkComparison): Static<typeof frameworksSchema> {
  return {
    schema: 'stepscope-frameworks/1',
    ...comparison,
    checks: comparison.checks.map(({ kind: _, ...check }) => check),
    frameworks: comparison.frameworks.map(({ bench, run, ...framework }) => ({
      ...framework,
      capture: run && captureOf(run),
      bench: bench && { loads: bench.loads, runs: bench.runs.map(runFacts) },
    })),
  };
}

/** How it was profiled. */
function captureOf({ files, facts, profile: { capture } }: ProfiledRun) {
  const { profilerVersion, gpu, gpus, driver, graphs, engine, stepsFoundBy, model } = facts;
  return {
    files,
    profiler: [profilerName(facts.profiler), profilerVersion].filter(Boolean).join(' '),
    gpu,
    gpusWithWork: gpus,
    driver,
    graphMode: graphs,
    engine,
    stepsFoundBy,
    steps: capture.steps,
    selectedSteps: capture.selectedSteps,
    steadySteps: capture.steadySteps,
    layers: model?.layers ?? null,
    layersGuessed: model?.guessed === true,
  };
}

/** What was run; `stepscope bench --json` has iterations and requests. */
const runFacts = ({ source, label, tool, framework, frameworkVersion, model, load }: BenchRun) => ({
  source,
  label,
  tool,
  framework,
  frameworkVersion,
  model,
  load,
});

const units: Readonly<Record<string, string>> = {
  ns: 'ns',
  'ns-mean': 'ns',
  bytes: 'bytes',
  share: 'share',
  rate: 'per second',
  mean: 'count',
};

/** A line per framework, phase and figure. An empty value was not recorded; the last two columns say what and how. */
export function frameworksCsv({ frameworks }: FrameworkComparison): string {
  const lines = [['framework', 'source', 'phase', 'figure', 'unit', 'value', 'notRecorded', 'howToRecord']];
  const add = (name: string, source: string, phase: string, id: string, kind: string, figure: Reading) =>
    lines.push([
      name,
      source,
      phase,
      id,
      units[kind] ?? kind,
      figure.value === null ? '' : String(figure.value),
      figure.value === null ? figure.what : '',
      figure.value === null ? figure.hint : '',
    ]);
  for (const { name, measured, phases, why } of frameworks) {
    for (const id of benchRows)
      add(name, 'benchmark', '', id, benchMetrics.find(metric => metric.id === id)!.kind, measured[id]);
    if (why) for (const { id, kind } of measures) add(name, 'profile', '', id, kind, why);
    for (const { phase, figures, families } of phases) {
      for (const { id, kind } of measures) add(name, 'profile', phase, id, kind, figures[id]);
      if ('value' in families) continue;
      for (const { family, nsPerToken } of families)
        add(name, 'profile', phase, `family.${family}.nsPerToken`, 'ns', { value: nsPerToken });
    }
  }
  return `${lines.map(cells => cells.map(csvCell).join(',')).join('\n')}\n`;
}
