/** What a benchmark says about a run: its figures under the names of metrics, times in nanoseconds. */
import type { BenchRun, LatencyName } from '../model/bench-run.js';
import { figuresInOrder } from './collect-figures.js';
import type { Figures } from './run.js';

const latencies: readonly (readonly [metric: string, name: LatencyName])[] = [
  ['ttft', 'ttft'],
  ['tpot', 'tpot'],
  ['itl', 'itl'],
  ['latency', 'e2e'],
];

/** Only what the tool printed. */
export function benchFigures({ throughput, latency }: BenchRun): Figures {
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
