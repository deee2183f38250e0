/** Benchmark runs as one table, a row each. What is the same for all is said once above it; empty columns are gone. */
import type { Block, Fact, TableBlock, TableColumn } from '../analyze/block.js';
import { formatCount, formatRelativeChange, plural } from '../base/units.js';
import { benchMetrics, modelName } from '../catalog/bench-metrics.js';
import { withoutPacking } from '../catalog/file-formats.js';
import type { BenchRun } from '../model/bench-run.js';
import { type BenchDifference, compareBenchRuns } from '../run/bench-difference.js';

export interface BenchComparison {
  /** Names to tell the runs apart, in their order. */
  readonly names: readonly string[];
  /** Each run but the first beside the first. */
  readonly beside: readonly BenchDifference[];
}

export function compareToFirst(runs: readonly BenchRun[]): BenchComparison {
  const [first, ...others] = runs;
  return { names: runNames(runs), beside: others.map(run => compareBenchRuns([first], [run])) };
}

/** What the author called it, else the file; numbered where that is not enough. */
function runNames(runs: readonly BenchRun[]): string[] {
  const plain = runs.map(
    ({ label, source }) => label ?? withoutPacking(source.file).replace(/\.(jsonl?|txt|log|csv)$/i, ''),
  );
  const byLabel = plain.map((name, i) => {
    const isShared = plain.some((other, j) => j !== i && other === name);
    return isShared && runs[i].label !== undefined ? `${runs[i].source.file}: ${name}` : name;
  });
  const counts = new Map<string, number>();
  return byLabel.map(name => {
    const many = byLabel.filter(other => other === name).length > 1;
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return many ? `${name} #${number}` : name;
  });
}

interface TextColumn {
  readonly header: string;
  readonly priority?: number;
  readonly of: (run: BenchRun) => string | undefined;
}

const count = (value: number | undefined) =>
  value === undefined ? undefined : formatCount(Number(value.toFixed(1)));

/** What a run is. Said once where all runs agree. */
const identity: readonly TextColumn[] = [
  { header: 'Benchmark', priority: -3, of: run => run.tool },
  {
    header: 'Framework',
    priority: -1,
    of: run => run.framework && [run.framework, run.frameworkVersion].filter(Boolean).join(' '),
  },
  { header: 'Model', priority: -1, of: run => run.model && modelName(run.model) },
  { header: 'Precision', priority: -3, of: run => run.quantization ?? run.dtype },
  { header: 'GPU name', priority: -3, of: run => run.gpu },
  { header: 'Parallel', priority: -3, of: parallel },
  { header: 'Shape', of: shape },
  { header: 'Batch', of: run => count(run.load.batchSize) },
  { header: 'Concurrency', of: run => count(run.load.maxConcurrency) },
  { header: 'Rate', priority: -3, of: run => rateText(run.load.requestRate) },
  { header: 'Requests', of: run => count(run.load.requests ?? run.counts.completed) },
];

/** `128 in, 128 out` */
function shape({ load }: BenchRun): string | undefined {
  const parts = [
    load.inputTokens !== undefined && `${count(load.inputTokens)} in`,
    load.outputTokens !== undefined && `${count(load.outputTokens)} out`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : undefined;
}

function parallel({ load }: BenchRun): string | undefined {
  const sizes = [
    ['TP', load.tensorParallel],
    ['PP', load.pipelineParallel],
    ['EP', load.expertParallel],
    ['DP', load.dataParallel],
  ].filter(([, size]) => size !== undefined && size !== 1);
  if (sizes.length > 0) return sizes.map(([name, size]) => `${name}${size}`).join(' ');
  return load.tensorParallel === undefined ? undefined : 'TP1';
}

const rateText = (rate: number | 'unlimited' | undefined) =>
  rate === undefined
    ? undefined
    : rate === 'unlimited'
      ? 'all at once'
      : `at ${Number(rate.toPrecision(4))}/s`;

export function describeBench(runs: readonly BenchRun[], { names, beside }: BenchComparison): Block[] {
  const texts = identity.map(({ of, ...column }) => ({
    ...column,
    values: runs.map(run => of(run) ?? null),
  }));
  const shared = texts.filter(({ values }) => values.every(value => value !== null && value === values[0]));
  const columns: TableColumn[] = [
    { header: 'Run', kind: 'text', values: names },
    ...texts
      .filter(column => !shared.includes(column) && column.values.some(value => value !== null))
      .map((column): TableColumn => ({ ...column, kind: 'text' })),
    ...figures(runs, beside),
  ];
  const table: TableBlock = {
    kind: 'table',
    id: 'bench',
    title: 'Benchmarks',
    rows: runs.length,
    columns,
    ...(shared.length > 0
      ? { advice: shared.map(({ header, values }) => sharedWords(header, values[0]!)).join(' · ') }
      : {}),
  };
  const facts = remarks(runs, names, beside);
  if (facts.length === 0) return [table];
  return [table, { kind: 'facts', id: 'bench-remarks', title: 'Comparability', facts }];
}

function sharedWords(header: string, value: string): string {
  if (header === 'Batch' || header === 'Concurrency') return `${header.toLowerCase()} ${value}`;
  if (header === 'Requests') return `${value} requests`;
  return header === 'Rate' ? `sent ${value}` : value;
}

function figures(runs: readonly BenchRun[], beside: readonly BenchDifference[]): TableColumn[] {
  const numbers = (
    header: string,
    kind: TableColumn['kind'],
    of: (run: BenchRun) => number | undefined,
    priority?: number,
  ) => ({
    header,
    kind,
    priority,
    values: runs.map(run => of(run) ?? Number.NaN),
  });
  const columns: TableColumn[] = benchMetrics.map(({ header, kind, of, priority }) =>
    numbers(header, kind, of, priority),
  );
  columns.splice(1, 0, {
    header: 'vs first',
    kind: 'text',
    values: [null, ...beside.map(changeText)],
  });
  columns.push(
    numbers('In flight', 'mean', run => run.load.meanConcurrency, -4),
    numbers('Errors', 'count', run => run.counts.errors),
    numbers('Iterations', 'count', run => run.iterations?.length),
    numbers('Step p50', 'ns', medianStep),
  );
  return columns.filter(({ values }) =>
    Array.from(values as ArrayLike<unknown>).some(value => value !== null && !Number.isNaN(value)),
  );
}

/** Of the first figure both have: request throughput, else tokens, else latency. */
function changeText({ comparable, settings, metrics }: BenchDifference): string | null {
  if (!comparable) return 'different load';
  // One side tells what it ran and the other does not: equal would be a guess.
  const isGuess = settings.some(
    ({ id, effect, before, after }) =>
      effect === 'unstated' &&
      /^(model|inputTokens|outputTokens)$/.test(id) &&
      (before !== undefined || after !== undefined),
  );
  if (isGuess) return 'unknown load';
  const [first] = metrics;
  if (!first) return null;
  return first.id === 'requestsPerSecond'
    ? formatRelativeChange(first.change)
    : `${first.header} ${formatRelativeChange(first.change)}`;
}

/** Of the host's time per pass on the first rank; ranks run side by side. */
export function medianStep({ iterations = [] }: BenchRun): number | undefined {
  const rank = iterations[0]?.rank;
  const steps = iterations
    .filter(row => row.rank === rank)
    .map(row => row.hostStepNs)
    .filter(value => value !== undefined)
    .sort((a, b) => a - b);
  return steps.length > 0 ? steps[Math.floor((steps.length - 1) / 2)] : undefined;
}

/** Same words about several runs are said once. Labels are short: what they name goes into the sentence. */
class Remarks {
  readonly facts: Fact[] = [];
  private readonly about = new Map<string, { label: string; tone: Fact['tone']; runs: string[] }>();

  add(label: string, run: string, words: string, tone: Fact['tone']): void {
    const known = this.about.get(words);
    if (known) known.runs.push(run);
    else this.about.set(words, { label, tone, runs: [run] });
  }

  list(): Fact[] {
    const grouped = [...this.about].map(([words, { label, tone, runs }]) => ({
      label,
      text: `${runs.join(', ')}: ${words}`,
      tone,
    }));
    return [...this.facts, ...grouped];
  }
}

function remarks(
  runs: readonly BenchRun[],
  names: readonly string[],
  beside: readonly BenchDifference[],
): Fact[] {
  const result = new Remarks();
  const single = beside.flatMap(({ warnings }) => warnings).find(({ code }) => code === 'single-runs');
  if (single) result.facts.push({ label: 'one run each', text: single.text, tone: 'bad' });
  const unstated = new Set<string>();
  beside.forEach(({ settings, warnings }, i) => {
    const name = names[i + 1];
    for (const { code, text } of warnings) {
      if (code === 'not-comparable') result.add('different load', name, text, 'bad');
      if (code === 'several-tools') result.add('different tool', name, text, 'bad');
    }
    const others = settings.filter(({ id, effect }) => effect === 'explains' && id !== 'tool');
    const list = others.map(({ label, before, after }) => `${label} ${before ?? '?'} → ${after ?? '?'}`);
    if (list.length > 0) result.add('also differs', name, list.join(', '), 'quiet');
    for (const { effect, label } of settings) if (effect === 'unstated') unstated.add(label);
  });
  // Only tools that run one batch have this setting.
  unstated.delete('batch size');
  if (unstated.size > 0) {
    const text = `${[...unstated].join(', ')}: unknown, so possibly different`;
    result.facts.push({ label: 'not stated', text, tone: 'quiet' });
  }
  runs.forEach((run, i) => {
    for (const { count: times, text, severity } of run.notes) {
      const words = times > 1 ? `${formatCount(times)} ${text}` : text;
      result.add('note', names[i], words, severity === 'info' ? 'quiet' : 'bad');
    }
    if (run.counts.errors)
      result.add('errors', names[i], `${plural(run.counts.errors, 'request')} failed`, 'bad');
  });
  return result.list();
}
