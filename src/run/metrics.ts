/** The metrics that limits and trends speak about: one line each, with unit, direction and definition. */
import { closestWord } from '../base/closest-word.js';
import { UserError } from '../base/user-error.js';
import { idleCauses } from '../catalog/idle-causes.js';
import { families } from '../catalog/kernels/families.js';
import type { BenchRun, LatencyName } from '../model/bench-run.js';

export type Unit = 'ns' | 'share' | 'count' | 'bytes' | 'per-second';

export interface Metric {
  readonly id: string;
  readonly unit: Unit;
  readonly better: 'lower' | 'higher';
  /** `phase`: one figure per phase of the steps. `run`: one for the whole run. */
  readonly scope: 'phase' | 'run';
  readonly about: string;
  /** Percentile of the steps, for those whose wall times are kept. */
  readonly percentile?: number;
  /** Of what a benchmark printed; undefined: it did not. */
  ofBench?(run: BenchRun): number | undefined;
}

const phase = (id: string, unit: Unit, better: Metric['better'], about: string): Metric => ({
  id,
  unit,
  better,
  scope: 'phase',
  about,
});

const percentileOfSteps = (percentile: number): Metric => ({
  ...phase(
    `step.p${percentile}`,
    'ns',
    'lower',
    percentile === 50
      ? 'median wall time of a step'
      : `wall time of a step, ${percentile}th percentile (nearest rank)`,
  ),
  percentile,
});

const ofSteps: readonly Metric[] = [
  percentileOfSteps(50),
  percentileOfSteps(90),
  percentileOfSteps(99),
  phase('step.mean', 'ns', 'lower', 'mean wall time of a step'),
  phase(
    'step.undisturbed',
    'ns',
    'lower',
    'a step without the profiler: measured in the same run where that was done, otherwise estimated',
  ),
  phase('idle', 'share', 'lower', 'share of wall time in which the device is idle'),
  ...idleCauses.map(({ id, label }) =>
    phase(`idle.${id}`, 'share', 'lower', `share of wall time idle because of: ${label}`),
  ),
  phase('communication.exposed', 'share', 'lower', 'share of wall time in exposed communication'),
  phase(
    'communication.waiting',
    'share',
    'lower',
    'share of wall time in exposed communication before the last rank arrives, where ranks were matched',
  ),
  phase(
    'communication.transferring',
    'share',
    'lower',
    'share of wall time in exposed communication after the last rank arrived, where ranks were matched',
  ),
  phase('copies.exposed', 'share', 'lower', 'share of wall time in exposed copies and memsets'),
  phase('kernels', 'count', 'lower', 'kernels per step and device, median'),
  phase('kernel-time', 'ns', 'lower', 'sum of kernel durations per step and device, mean'),
  ...families.map(({ id, label }) =>
    phase(`family.${id}`, 'ns', 'lower', `time of ${label} per step and device, sum of durations, mean`),
  ),
  phase('graph.coverage', 'share', 'higher', 'share of GPU time launched from CUDA graphs'),
  phase(
    'token.time',
    'ns',
    'lower',
    'wall time of decoding steps divided by the tokens they generate: one per request and step, because accepted drafts are not recorded',
  ),
  phase('token.rate', 'per-second', 'higher', 'tokens decoded per second of wall time'),
];

/** As the benchmark prints it; times in nanoseconds. */
const benched = (id: string, unit: Unit, about: string, ofBench: Metric['ofBench']): Metric => ({
  id,
  unit,
  better: unit === 'ns' ? 'lower' : 'higher',
  scope: 'run',
  about: `${about}, from a benchmark`,
  ofBench,
});

const latency = (id: string, name: LatencyName, about: string): Metric[] => [
  benched(`${id}.mean`, 'ns', `${about}, mean`, run => run.latency[name]?.meanNs),
  ...[50, 90, 95, 99].map(percent =>
    benched(
      `${id}.p${percent}`,
      'ns',
      `${about}, p${percent}`,
      run => run.latency[name]?.percentilesNs[percent],
    ),
  ),
];

const ofRun: readonly Metric[] = [
  {
    id: 'memory.peak',
    unit: 'bytes',
    better: 'lower',
    scope: 'run',
    about: 'peak GPU memory in use on one device, from recorded allocations',
  },
  benched('throughput.request', 'per-second', 'requests per second', run => run.throughput.requests),
  benched('throughput.output', 'per-second', 'output tokens per second', run => run.throughput.outputTokens),
  benched('throughput.total', 'per-second', 'total tokens per second', run => run.throughput.totalTokens),
  ...latency('ttft', 'ttft', 'time to first token'),
  ...latency('tpot', 'tpot', 'time per output token'),
  ...latency('itl', 'itl', 'time between two tokens'),
  ...latency('latency', 'e2e', 'time of a whole request'),
];

export const metrics: readonly Metric[] = [...ofSteps, ...ofRun];
const byId = new Map(metrics.map(metric => [metric.id, metric]));

export const metricById = (id: string): Metric | undefined => byId.get(id);

/** What a misspelt or half-remembered metric was meant to be. */
export function suggestMetrics(id: string): readonly string[] {
  const close = closestWord(id, [...byId.keys()]);
  if (close !== undefined) return [close];
  // Names of other tools, and endings that say the unit: `family.gemm.ns`.
  const [first] = id.toLowerCase().split(/[._-]/);
  return metrics
    .filter(metric => metric.id.split('.')[0] === first)
    .slice(0, 6)
    .map(metric => metric.id);
}

/** Metrics by name, each once. */
export function readMetrics(names: readonly string[]): Metric[] {
  return [...new Set(names)].map(name => {
    const metric = metricById(name);
    if (metric) return metric;
    const close = suggestMetrics(name);
    throw new UserError(
      'usage',
      `Unknown metric ${JSON.stringify(name)}.`,
      close.length > 0 ? `Did you mean ${close.join(', ')}?` : 'stepscope check --metrics lists them.',
    );
  });
}
