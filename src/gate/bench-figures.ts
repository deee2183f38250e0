/** What a benchmark says about a run: its figures under the names of metrics, and the load they were measured under. */
import { benchSettings } from '../catalog/bench-metrics.js';
import type { BenchRun, LatencyName } from '../model/bench-run.js';
import { cleanText, type LoadFacts, type RunFacts } from './run-facts.js';
import { type Figures, figuresInOrder, type RunMetrics } from './run-metrics.js';

const latencies: readonly (readonly [metric: string, name: LatencyName])[] = [
  ['ttft', 'ttft'],
  ['tpot', 'tpot'],
  ['itl', 'itl'],
  ['latency', 'e2e'],
];

/** Only what the tool printed; times in nanoseconds. */
function benchFigures({ throughput, latency }: BenchRun): Figures {
  const found: [string, number | undefined][] = [
    ['throughput.request', throughput.requests],
    ['throughput.output', throughput.outputTokens],
    ['throughput.total', throughput.totalTokens],
    ...latencies.flatMap(([metric, name]): [string, number | undefined][] => [
      [`${metric}.mean`, latency[name]?.meanNs],
      ...['50', '90', '95', '99'].map((percent): [string, number | undefined] => [
        `${metric}.p${percent}`,
        latency[name]?.percentilesNs[percent],
      ]),
    ]),
  ];
  return figuresInOrder(found.flatMap(([id, value]) => (value === undefined ? [] : [[id, value] as const])));
}

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

/** A run of which there is a profile and a benchmark. */
export function withBench(run: RunMetrics, bench: BenchRun): RunMetrics {
  return {
    ...run,
    files: [...run.files, cleanText(bench.source.file)],
    facts: { ...run.facts, load: loadFacts(bench) },
    figures: { ...run.figures, run: { ...run.figures.run, ...benchFigures(bench) } },
  };
}

/** A run of which there is a benchmark alone. */
export function measureBench(bench: BenchRun): RunMetrics {
  const facts: RunFacts = {
    gpu: bench.gpu ? cleanText(bench.gpu) : null,
    gpus: bench.load.gpus ?? 0,
    engine: bench.framework ? cleanText(bench.framework) : null,
    stepsFoundBy: null,
    profiler: 'none',
    profilerVersion: null,
    driver: null,
    graphs: 'none',
    model: null,
    load: loadFacts(bench),
    phases: {},
  };
  return { files: [cleanText(bench.source.file)], facts, figures: { run: benchFigures(bench) }, steps: {} };
}
