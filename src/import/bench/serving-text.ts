/**
 * The block `============ Serving Benchmark Result ============` of vLLM (vllm/benchmarks/serve.py), TensorRT-LLM
 * (tensorrt_llm/serve/scripts/benchmark_serving.py) and SGLang (python/sglang/bench_serving.py), and SGLang's
 * ` Offline Throughput Benchmark Result ` (python/sglang/bench_offline_throughput.py). Labels are padded to 40, floats
 * have two decimals. What the client said before the block (its arguments, rate and concurrency) belongs to it.
 */

import { engineNamed } from '../../catalog/engines.js';
import type { BenchRun, LatencyName } from '../../model/bench-run.js';
import type { BenchImporter } from './bench-importer.js';
import { labelFinder, labelledFigure } from './labelled-figure.js';
import type { LogLine } from './log-lines.js';
import { type LatencyStat, MS, type NumberName, RunDraft, SECONDS } from './run-draft.js';
import { textMarks } from './text-marks.js';

export const servingText: BenchImporter = {
  id: 'serving-text',
  label: 'text of vllm bench serve, sglang.bench_serving or benchmark_serving',
  recognizes: content => content.kind === 'text' && textMarks(content) === 'serving',
  read(content) {
    const reader = new ServingReader();
    for (const line of content.lines()) reader.read(line);
    return reader.finish(content.file);
  },
};

const TITLE = /= (Serving|Offline Throughput) Benchmark Result =/;
const DECIMALS = 2;

const figures: Readonly<Record<string, readonly [name: NumberName, power?: number]>> = {
  'Total requests': ['load.requests'],
  'Successful requests': ['counts.completed'],
  'Failed requests': ['counts.errors'],
  'Benchmark duration (s)': ['durationNs', SECONDS],
  'Total input tokens': ['counts.inputTokens'],
  'Total generated tokens': ['counts.outputTokens'],
  'Request throughput (req/s)': ['throughput.requests'],
  'Request goodput (req/s)': ['throughput.goodRequests'],
  'Input token throughput (tok/s)': ['throughput.inputTokens'],
  'Output token throughput (tok/s)': ['throughput.outputTokens'],
  'Total Token throughput (tok/s)': ['throughput.totalTokens'],
  'Total token throughput (tok/s)': ['throughput.totalTokens'],
  'User throughput (tok/s)': ['throughput.outputTokensPerUser'],
  'Total Energy (J)': ['energy.totalJoules'],
  'Output Tokens per Second per Watt (tps/W)': ['energy.outputTokensPerSecondPerWatt'],
  'Total GPU Power (W)': ['energy.gpuPowerWatts'],
  Concurrency: ['load.meanConcurrency'],
  'Max request concurrency': ['load.maxConcurrency'],
  'Maximum request concurrency': ['load.maxConcurrency'],
};
const findFigure = labelFinder(Object.keys(figures));
const findText = labelFinder(['Backend', 'Traffic request rate', 'Request rate configured (RPS)']);
const LATENCY =
  /(?<![A-Za-z0-9])(Mean|Median|Std Dev|Min|Max|P\d{1,2}(?:\.\d{1,3})?) (TTFT|TPOT|ITL|E2EL|E2E Latency) \(ms\):[ \t]*(.*)$/;
const latencyOf: Readonly<Record<string, LatencyName>> = {
  TTFT: 'ttft',
  TPOT: 'tpot',
  ITL: 'itl',
  E2EL: 'e2e',
  'E2E Latency': 'e2e',
};
const statOf: Readonly<Record<string, LatencyStat>> = {
  Mean: 'mean',
  Median: 'p50',
  'Std Dev': 'stddev',
  Min: 'min',
  Max: 'max',
};

class ServingReader {
  private readonly drafts: RunDraft[] = [];
  /** Before the first title, and after each: what the client says before the next block. */
  private draft = new RunDraft('');
  private inBlock = false;

  read(line: LogLine): void {
    const { text } = line;
    const title = TITLE.exec(text)?.[1];
    if (title) {
      if (this.inBlock) this.next();
      this.inBlock = true;
      this.draft.line = line.number;
      this.draft.tool = title === 'Serving' ? 'vllm bench serve' : 'sglang.bench_offline_throughput';
      if (title !== 'Serving') this.draft.text('framework', 'SGLang');
    } else if (this.inBlock && /(?:^|\s)={50}\s*$/.test(text)) this.next();
    else if (text.includes('Namespace(')) this.namespace(text);
    else this.row(line);
  }

  finish(file: string): BenchRun[] {
    if (this.inBlock) this.next();
    return this.drafts.map(draft => draft.build(file, servingText.id));
  }

  private next(): void {
    if (this.draft.hasResult) this.drafts.push(withMeans(this.draft));
    this.draft = new RunDraft('');
    this.inBlock = false;
  }

  private row(line: LogLine): void {
    const latency = this.inBlock ? LATENCY.exec(line.text) : null;
    const found = latency ? undefined : findFigure(line.text);
    if (latency) {
      const name = latencyOf[latency[2]];
      const stat = statOf[latency[1]] ?? (latency[1].toLowerCase() as `p${number}`);
      this.figure(`latency.${name}.${stat}`, latency[3].trim(), line, MS);
    } else if (found) {
      const [name, power = 0] = figures[found.label];
      if (!this.inBlock && name !== 'load.maxConcurrency') return;
      if (/^User|^Total requests/.test(found.label)) this.draft.tool = 'benchmark_serving (TensorRT-LLM)';
      this.figure(name, found.value, line, power);
    } else if (!line.cut) this.words(line.text);
  }

  private words(text: string): void {
    const found = findText(text);
    if (!found) return;
    if (found.label !== 'Backend') this.rate(found.value);
    else if (this.inBlock) {
      if (this.draft.tool === 'vllm bench serve') this.draft.tool = 'sglang.bench_serving';
      this.draft.text('framework', engineNamed(found.value));
    }
  }

  private figure(name: NumberName, value: string, line: LogLine, power: number): void {
    const known = this.draft.notes.size;
    const number = labelledFigure(value, line, this.draft.notes, DECIMALS);
    const isUnreadable = this.draft.notes.size > known;
    if (number !== undefined || isUnreadable) this.draft.once(name, number, power, line.text);
  }

  private rate(value: string): void {
    this.draft.rate(
      value === 'inf' ? value : /^\d{1,9}(?:\.\d{1,9})?$/.test(value) ? Number(value) : undefined,
    );
  }

  /** The client prints its arguments as Python does. */
  private namespace(text: string): void {
    const word = (name: string) => new RegExp(`\\b${name}='([^']{1,300})'`).exec(text)?.[1];
    const number = (name: string) => {
      const digits = new RegExp(`\\b${name}=(\\d{1,12}(?:\\.\\d{1,9})?|inf)[,)]`).exec(text)?.[1];
      return digits === undefined ? undefined : digits === 'inf' ? Infinity : Number(digits);
    };
    this.draft
      .text('model', word('model'))
      .text('load.dataset', word('dataset_name'))
      .text('framework', engineNamed(word('backend')))
      .number('load.requests', number('num_prompts'))
      .rate(number('request_rate'));
    const concurrency = number('max_concurrency');
    if (concurrency !== undefined) this.draft.number('load.maxConcurrency', concurrency);
  }
}

/** Lengths are printed as totals of the completed requests. */
function withMeans(draft: RunDraft): RunDraft {
  const completed = draft.get('counts.completed');
  if (typeof completed !== 'number' || completed === 0) return draft;
  const input = draft.get('counts.inputTokens');
  const output = draft.get('counts.outputTokens');
  if (typeof input === 'number') draft.number('load.inputTokens', input / completed);
  if (typeof output === 'number') draft.number('load.outputTokens', output / completed);
  return draft;
}
