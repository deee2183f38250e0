/**
 * One result of a benchmark, as its tool printed it: bench-run-schema.ts is the format documentation. Times are
 * nanoseconds, rates are per second. A figure that was not printed is absent, never zero. Figures that follow from printed
 * ones by arithmetic (mean lengths from totals, distributions from rows of requests) say so where they are described.
 */
import type { Static } from '../base/document.js';
import type { benchRun } from './bench-run-schema.js';

export type BenchRun = Static<typeof benchRun>;
/** What was asked of the engine, and on what it ran. */
export type BenchLoad = BenchRun['load'];
/** All per second, over the whole duration. */
export type BenchThroughput = BenchRun['throughput'];
export type BenchCounts = BenchRun['counts'];
/** What the GPUs took while the run lasted. */
export type BenchEnergy = NonNullable<BenchRun['energy']>;
export type EngineLatency = NonNullable<BenchRun['engineLatency']>;
/** One pass of the engine's loop. */
export type BenchIteration = NonNullable<BenchRun['iterations']>[number];
/** What an engine says about itself. */
export type EngineState = NonNullable<BenchRun['engineStates']>[number];
export type BenchRequest = NonNullable<BenchRun['requests']>[number];

/**
 * `e2e`: request sent to answer complete. `ttft`: to the first token. `tpot`: per request, the mean time of a token
 * after the first. `itl`: each gap between two pieces of an answer.
 */
export type LatencyName = keyof BenchRun['latency'];
export const latencyNames: readonly LatencyName[] = ['e2e', 'ttft', 'tpot', 'itl'];
export type Distribution = NonNullable<BenchRun['latency'][LatencyName]>;
