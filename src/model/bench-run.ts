/**
 * One result of a benchmark, as its tool printed it: the types are the format documentation. Times are nanoseconds,
 * rates are per second. A figure that was not printed is absent, never zero. Figures that follow from printed ones
 * by arithmetic (mean lengths from totals, distributions from rows of requests) say so where they are described.
 */
import type { Note } from '../base/notes.js';

export interface BenchRun {
  readonly source: BenchSource;
  /** What the author called it: a heading above the report, a tag, a run name. */
  readonly label?: string;
  /** The program that measured: `trtllm-bench`, `vllm bench serve` … */
  readonly tool: string;
  /** What was measured; a client that talks to any server often cannot say. */
  readonly framework?: string;
  readonly frameworkVersion?: string;
  readonly model?: string;
  readonly dtype?: string;
  readonly kvCacheDtype?: string;
  readonly quantization?: string;
  readonly gpu?: string;
  readonly load: BenchLoad;
  readonly throughput: BenchThroughput;
  readonly latency: Readonly<Partial<Record<LatencyName, Distribution>>>;
  readonly counts: BenchCounts;
  /** Of the GPUs, where the tool measured it. */
  readonly energy?: BenchEnergy;
  /** From the first request sent to the last one answered. */
  readonly durationNs?: number;
  readonly iterations?: readonly BenchIteration[];
  readonly requests?: readonly BenchRequest[];
  readonly notes: readonly Note[];
}

interface BenchSource {
  /** Name of the file, without its folder. */
  readonly file: string;
  /** Id of the importer. */
  readonly format: string;
  /** Where in the file it begins, counted from 1; for documents one after the other, which one. */
  readonly line?: number;
}

/** What was asked of the engine, and on what it ran. */
export interface BenchLoad {
  readonly dataset?: string;
  /** Mean prompt length; where only totals are printed, total over completed requests. */
  readonly inputTokens?: number;
  /** Mean answer length, likewise. */
  readonly outputTokens?: number;
  /** Requests at the same time that the client allowed itself. */
  readonly maxConcurrency?: number;
  /** Requests in flight on average, as measured. It follows from speed, so it is no setting. */
  readonly meanConcurrency?: number;
  /** Requests per second sent; `unlimited`: all at once. */
  readonly requestRate?: number | 'unlimited';
  /** Requests the run was asked to make. */
  readonly requests?: number;
  /** Sequences run together, where the tool fixes it. */
  readonly batchSize?: number;
  readonly maxBatchSize?: number;
  readonly maxBatchTokens?: number;
  readonly tensorParallel?: number;
  readonly pipelineParallel?: number;
  readonly expertParallel?: number;
  readonly dataParallel?: number;
  readonly gpus?: number;
}

/** All per second, over the whole duration. */
export interface BenchThroughput {
  readonly requests?: number;
  readonly goodRequests?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Prompt and answer tokens together. */
  readonly totalTokens?: number;
  /** Mean over requests of answer tokens over the request's whole time, waiting included. */
  readonly outputTokensPerUser?: number;
  /** Mean over requests of answer tokens over the time after the first token. */
  readonly generationSpeedPerUser?: number;
  readonly outputTokensPerGpu?: number;
}

/**
 * `e2e`: request sent to answer complete. `ttft`: to the first token. `tpot`: per request, the mean time of a token
 * after the first. `itl`: each gap between two pieces of an answer.
 */
export type LatencyName = 'e2e' | 'ttft' | 'tpot' | 'itl';
export const latencyNames: readonly LatencyName[] = ['e2e', 'ttft', 'tpot', 'itl'];

export interface Distribution {
  readonly meanNs?: number;
  readonly stddevNs?: number;
  readonly minNs?: number;
  readonly maxNs?: number;
  /** By percent: `50` is the median, `99.9` may occur. */
  readonly percentilesNs: Readonly<Record<string, number>>;
}

export interface BenchCounts {
  readonly completed?: number;
  readonly errors?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** What the GPUs took while the run lasted. */
export interface BenchEnergy {
  readonly totalJoules?: number;
  /** Of all GPUs together, on average. */
  readonly gpuPowerWatts?: number;
  /** Answer tokens per second for each watt: answer tokens per joule. */
  readonly outputTokensPerSecondPerWatt?: number;
}

/** One pass of the engine's loop. */
export interface BenchIteration {
  readonly iteration: number;
  readonly rank?: number;
  readonly globalRank?: number;
  /** As printed: logs do not name a time zone. */
  readonly timestamp?: string;
  /** Wall time of the pass on the host. */
  readonly hostStepNs?: number;
  /** GPU time of the pass before this one: the log lags by one. */
  readonly previousDeviceStepNs?: number;
  /** GPU time of this pass. */
  readonly gpuForwardNs?: number;
  /** Spans about two passes when the engine overlaps them. */
  readonly iterationLatencyNs?: number;
  readonly scheduledRequests?: number;
  readonly activeRequests?: number;
  readonly queuedRequests?: number;
  readonly contextRequests?: number;
  readonly contextTokens?: number;
  readonly generationRequests?: number;
  /** Draft tokens included. */
  readonly generationTokens?: number;
  /** 0 to 1. */
  readonly kvCacheShare?: number;
}

/** One request. Prompts and answers are not kept. */
export interface BenchRequest {
  readonly id?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** On the clock of the tool. */
  readonly startNs?: number;
  readonly e2eNs?: number;
  readonly ttftNs?: number;
  readonly tpotNs?: number;
  readonly failed?: true;
}
