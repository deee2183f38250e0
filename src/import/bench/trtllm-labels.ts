/**
 * The lines of trtllm-bench's text report, over all its layouts: 0.12 (one STATISTICS block, seconds), 0.17 (request
 * lines inside PERFORMANCE OVERVIEW, tokens of answers called just tokens), 0.18 (tokens/sec/user), 0.20 and 1.x.
 * Read in tensorrt_llm/bench/dataclasses/reporting.py and the sample outputs of docs/source/performance of each.
 *
 * Not in the table, on purpose: `Issue Rate (req/sec)`, which is a mean gap in nanoseconds times 10^9 and no rate, and
 * `Average GPU Power (W)`, which does not say whether it is of one GPU or of all.
 */
import { MS, type NumberName, SECONDS, type TextName } from './run-draft.js';

interface ReportFigure {
  readonly name: NumberName;
  readonly power?: number;
  /** A report may begin with this line, where only a piece of it was kept. */
  readonly begins?: true;
}

/** Every float of the report since 0.13 has these. */
export const REPORT_DECIMALS = 4;

export const reportFigures: Readonly<Record<string, ReportFigure>> = {
  'Number of requests': { name: 'load.requests', begins: true },
  'Number of concurrent requests': { name: 'load.meanConcurrency' },
  'Average Input Length (tokens)': { name: 'load.inputTokens' },
  'Average Output Length (tokens)': { name: 'load.outputTokens' },
  'TP Size': { name: 'load.tensorParallel' },
  'PP Size': { name: 'load.pipelineParallel' },
  'EP Size': { name: 'load.expertParallel' },
  'Max Runtime Batch Size': { name: 'load.maxBatchSize' },
  'Max Runtime Tokens': { name: 'load.maxBatchTokens' },
  'Request Throughput (req/sec)': { name: 'throughput.requests', begins: true },
  'Token Throughput (tokens/sec)': { name: 'throughput.outputTokens', begins: true },
  'Total Output Throughput (tokens/sec)': { name: 'throughput.outputTokens' },
  'Total Token Throughput (tokens/sec)': { name: 'throughput.totalTokens' },
  'Total Latency (ms)': { name: 'durationNs', power: MS },
  'Total Latency (seconds)': { name: 'durationNs', power: SECONDS },
  'Average request latency (ms)': { name: 'latency.e2e.mean', power: MS },
  'Per User Output Throughput [w/ ctx] (tps/user)': { name: 'throughput.outputTokensPerUser' },
  'Per User Output Throughput (tps/user)': { name: 'throughput.outputTokensPerUser' },
  'Per User Output Throughput (tokens/sec/user)': { name: 'throughput.outputTokensPerUser' },
  'Per GPU Output Throughput (tps/gpu)': { name: 'throughput.outputTokensPerGpu' },
  'Per GPU Output Throughput (tokens/sec/gpu)': { name: 'throughput.outputTokensPerGpu' },
  'Per User Output Speed (tps/user)': { name: 'throughput.generationSpeedPerUser' },
  'Per User Output Speed [1/TPOT] (tokens/sec/user)': { name: 'throughput.generationSpeedPerUser' },
  'Average time-to-first-token [TTFT] (ms)': { name: 'latency.ttft.mean', power: MS },
  'Average time-per-output-token [TPOT] (ms)': { name: 'latency.tpot.mean', power: MS },
  'Total Energy (J)': { name: 'energy.totalJoules' },
  'Output Tokens per Second per Watt (tps/W)': { name: 'energy.outputTokensPerSecondPerWatt' },
};

/** `[TPOT] P99    : 8.1306`, `[Latency] AVERAGE: 1093.2284`. What 0.17 calls ITL is a mean per request: TPOT. */
export const breakdownLine =
  /\[(TPOT|ITL|TTFT|Latency)\] (MINIMUM|MAXIMUM|AVERAGE|P\d{1,2}(?:\.\d{1,3})?)[ \t]{0,8}:[ \t]*(.*)$/;
export const breakdownLatency = { TPOT: 'tpot', ITL: 'tpot', TTFT: 'ttft', Latency: 'e2e' } as const;
export const breakdownStat: Readonly<Record<string, 'min' | 'max' | 'mean'>> = {
  MINIMUM: 'min',
  MAXIMUM: 'max',
  AVERAGE: 'mean',
};

/** Taken only inside the block that names the engine: elsewhere in a log the same words mean other things. */
export const engineTexts: Readonly<Record<string, TextName>> = {
  Model: 'model',
  'TensorRT LLM Version': 'frameworkVersion',
  'TensorRT-LLM Version': 'frameworkVersion',
  Dtype: 'dtype',
  'KV Cache Dtype': 'kvCacheDtype',
  Quantization: 'quantization',
};

/** `= PERFORMANCE OVERVIEW`, between two rules of 59 signs. */
export const blockTitle =
  /(?:^|\s)= (PYTORCH BACKEND|ENGINE DETAILS|MACHINE DETAILS|REQUEST DETAILS|WORLD \+ RUNTIME INFORMATION|PERFORMANCE OVERVIEW|STATISTICS|DECODING STATISTICS|DATASET DETAILS)\b/;
export const isEngineBlock = (title: string) => title === 'PYTORCH BACKEND' || title === 'ENGINE DETAILS';
