/** Benchmark runs as one table, a row each. What is the same for all is said once above it; empty columns are gone. */
import type { Block, Fact, TableBlock, TableColumn } from '../analyze/block.js';
import { formatChange, formatCount, plural } from '../base/units.js';
import { benchMetrics, modelName } from '../catalog/bench-metrics.js';
import type { BenchRun } from '../model/bench-run.js';
import { type BenchDifference, compareBenchRuns } from './bench-difference.js';

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
export function runNames(runs: readonly BenchRun[]): string[] {
  const plain = runs.map(
    ({ label, source }) => label ?? source.file.replace(/\.(jsonl?|txt|log)(\.gz)?$/i, ''),
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
  readonly of: (run: BenchRun) => string | undefined;
}

const count = (value: number | undefined) =>
  value === undefined ? undefined : formatCount(Number(value.toFixed(1)));

/** What a run is. Said once where all runs agree. */
const identity: readonly TextColumn[] = [
  { header: 'Benchmark', of: run => run.tool },
  {
    header: 'Framework',
    of: run => run.framework && [run.framework, run.frameworkVersion].filter(Boolean).join(' '),
  },
  { header: 'Model', of: run => run.model && modelName(run.model) },
  { header: 'Precision', of: run => run.quantization ?? run.dtype },
  { header: 'GPU', of: run => run.gpu },
  { header: 'Parallel', of: parallel },
  { header: 'Shape', of: shape },
  { header: 'Batch', of: run => count(run.load.batchSize) },
  { header: 'Concurrency', of: run => count(run.load.maxConcurrency) },
  { header: 'Rate', of: run => rateText(run.load.requestRate) },
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
  const texts = identity.map(({ header, of }) => ({ header, values: runs.map(run => of(run) ?? null) }));
  const shared = texts.filter(({ values }) => values.every(value => value !== null && value === values[0]));
  const columns: TableColumn[] = [
    { header: 'Run', kind: 'text', values: names },
    ...texts
      .filter(column => !shared.includes(column) && column.values.some(value => value !== null))
      .map(({ header, values }): TableColumn => ({ header, kind: 'text', values })),
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
  return [table, { kind: 'facts', id: 'bench-remarks', title: 'Before you compare', facts }];
}

function sharedWords(header: string, value: string): string {
  if (header === 'Batch' || header === 'Concurrency') return `${header.toLowerCase()} ${value}`;
  if (header === 'Requests') return `${value} requests`;
  return header === 'Rate' ? `sent ${value}` : value;
}

function figures(runs: readonly BenchRun[], beside: readonly BenchDifference[]): TableColumn[] {
  const numbers = (header: string, kind: TableColumn['kind'], of: (run: BenchRun) => number | undefined) => ({
    header,
    kind,
    values: runs.map(run => of(run) ?? Number.NaN),
  });
  const columns: TableColumn[] = benchMetrics.map(({ header, kind, of }) => numbers(header, kind, of));
  columns.splice(1, 0, {
    header: 'vs first',
    kind: 'text',
    values: [null, ...beside.map(changeText)],
  });
  columns.push(
    numbers('In flight', 'mean', run => run.load.meanConcurrency),
    numbers('Errors', 'count', run => run.counts.errors),
    numbers('Iterations', 'count', run => run.iterations?.length),
    numbers('Step p50', 'ns', medianStep),
  );
  return columns.filter(({ values }) =>
    Array.from(values as ArrayLike<unknown>).some(value => value !== null && !Number.isNaN(value)),
  );
}

/** Of the first figure both have: request throughput, else tokens, else latency. */
function changeText({ comparable, metrics }: BenchDifference): string | null {
  if (!comparable) return 'other load';
  const [first] = metrics;
  if (!first) return null;
  return first.id === 'requestsPerSecond'
    ? formatChange(first.change)
    : `${first.header} ${formatChange(first.change)}`;
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

function remarks(
  runs: readonly BenchRun[],
  names: readonly string[],
  beside: readonly BenchDifference[],
): Fact[] {
  const facts: Fact[] = [];
  const single = beside.flatMap(({ warnings }) => warnings).find(({ code }) => code === 'single-runs');
  if (single) facts.push({ label: 'one run each', text: single.text, tone: 'bad' });
  beside.forEach(({ settings, warnings }, i) => {
    for (const { text } of warnings.filter(
      ({ code }) => code === 'not-comparable' || code === 'several-tools',
    ))
      facts.push({ label: names[i + 1], text, tone: 'bad' });
    const others = settings.filter(({ id, effect }) => effect === 'explains' && id !== 'tool');
    if (others.length > 0) {
      const list = others.map(({ label, before, after }) => `${label} ${before ?? '?'} → ${after ?? '?'}`);
      facts.push({ label: names[i + 1], text: `also differs: ${list.join(', ')}`, tone: 'quiet' });
    }
  });
  const unstated = new Set(
    beside.flatMap(({ settings }) =>
      settings.filter(({ effect }) => effect === 'unstated').map(({ label }) => label),
    ),
  );
  unstated.delete('batch size');
  if (unstated.size > 0)
    facts.push({
      label: 'not stated',
      text: `${[...unstated].join(', ')}: not known to be equal`,
      tone: 'quiet',
    });
  runs.forEach((run, i) => {
    for (const note of run.notes)
      facts.push({
        label: names[i],
        text: note.count > 1 ? `${formatCount(note.count)} ${note.text}` : note.text,
        tone: note.severity === 'info' ? 'quiet' : 'bad',
      });
    if (run.counts.errors)
      facts.push({ label: names[i], text: `${plural(run.counts.errors, 'request')} failed`, tone: 'bad' });
  });
  return facts;
}
