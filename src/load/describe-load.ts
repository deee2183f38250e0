/** What `stepscope load` prints: for each level what it did and its latencies, then all levels beside each other. */

import type { Block, Fact, TableBlock, TableColumn } from '../analyze/block.js';
import { type ColumnOf, tableOf } from '../analyze/table-of.js';
import { formatCount, formatDuration, formatRate, formatShare, plural } from '../base/units.js';
import type { Distribution } from '../model/bench-run.js';
import { failureWords } from './failure.js';
import type { LevelResult, LoadDocument } from './load-document.js';

export function describeLoad(document: LoadDocument): Block[] {
  const { target, settings, levels } = document;
  const server = [target.framework, target.frameworkVersion].filter(Boolean).join(' ');
  const shape = settings.inputTokens
    ? `synthetic prompts of ${settings.inputTokens} tokens (${settings.prefix} prefix)`
    : `prompts from ${settings.prompts}`;
  const head = [target.url, target.model, server, shape, settings.stream ? 'streamed' : 'not streamed'];
  return [
    {
      kind: 'statement',
      id: 'load-target',
      title: '',
      lines: [head.filter(Boolean).join(' · ')],
      quiet: true,
    },
    ...levels.flatMap(level => [factsOf(level), latenciesOf(level)]),
    ...(levels.length > 1 ? [overview(levels)] : []),
  ];
}

function factsOf(level: LevelResult): Block {
  const { counts, throughput, timing, load } = level;
  const total = counts.completed + counts.errors + counts.unfinished;
  const facts: Fact[] = [];
  const answered = `${formatCount(counts.completed)} of ${plural(total, 'request')} completed`;
  const time = level.durationNs === undefined ? '' : ` in ${formatDuration(level.durationNs)}`;
  const cut = level.interrupted ? `, interrupted (${formatCount(counts.unfinished)} in flight)` : '';
  facts.push({ label: 'requests', text: `${answered}${time}${cut}` });
  const share = (count: number) => formatShare(count / total);
  for (const { kind, count, example } of level.errors) {
    const words = `${formatCount(count)} (${share(count)}): ${failureWords(kind)}`;
    facts.push({ label: 'failed', text: example ? `${words}: ${example}` : words, tone: 'bad' });
  }
  if (throughput.requests !== undefined) {
    const rates = [
      `${formatRate(throughput.requests)} requests/s`,
      throughput.outputTokens !== undefined && `${formatRate(throughput.outputTokens)} output tok/s`,
      throughput.totalTokens !== undefined && `${formatRate(throughput.totalTokens)} total tok/s`,
    ];
    facts.push({ label: 'throughput', text: rates.filter(Boolean).join(' · ') });
    const user = [
      throughput.outputTokensPerUser !== undefined && `${formatRate(throughput.outputTokensPerUser)} tok/s`,
      throughput.generationSpeedPerUser !== undefined &&
        `${formatRate(throughput.generationSpeedPerUser)} tok/s after the first token`,
    ].filter(Boolean);
    if (user.length > 0) facts.push({ label: 'per user', text: user.join(' · ') });
  }
  const mean = (value: number | undefined) =>
    value === undefined ? '?' : formatCount(Number(value.toFixed(1)));
  const inFlight =
    load.meanConcurrency === undefined ? '' : ` · ${load.meanConcurrency.toFixed(1)} in flight on average`;
  facts.push({
    label: 'tokens',
    text: `${mean(load.inputTokens)} in, ${mean(load.outputTokens)} out per request${inFlight}`,
  });
  const { queue, prefill } = level.engineLatency ?? {};
  const inEngine = [
    queue?.meanNs !== undefined && `${formatDuration(queue.meanNs)} queued`,
    prefill?.meanNs !== undefined && `${formatDuration(prefill.meanNs)} prefill`,
  ].filter(Boolean);
  if (inEngine.length > 0)
    facts.push({ label: 'engine', text: `${inEngine.join(', ')} per request on average, as it measured` });
  const joules = level.energy?.totalJoules;
  if (joules !== undefined) facts.push({ label: 'energy', text: energyWords(level, joules) });
  if (timing.newConnections > 0)
    facts.push({ label: 'connections', text: `${formatCount(timing.newConnections)} new`, tone: 'quiet' });
  for (const { text, count, severity } of level.notes) {
    const words = count > 1 ? `${formatCount(count)} ${text}` : text;
    facts.push({ label: 'note', text: words, tone: severity === 'info' ? 'quiet' : 'bad' });
  }
  return { kind: 'facts', id: 'load-level', title: level.level, facts };
}

function energyWords({ counts, energy }: LevelResult, joules: number): string {
  const tokens = counts.outputTokens;
  return [
    `${formatRate(joules)} J`,
    energy?.gpuPowerWatts !== undefined && `${formatRate(energy.gpuPowerWatts)} W`,
    tokens && `${formatRate(joules / tokens)} J per output token`,
    counts.completed > 0 && counts.errors === 0 && `${formatRate(joules / counts.completed)} J per request`,
  ]
    .filter(Boolean)
    .join(' · ');
}

function latenciesOf({ latency, timing, level }: LevelResult): TableBlock {
  const rows = (
    [
      ['TTFT', latency.ttft],
      ['TPOT', latency.tpot],
      ['ITL', latency.itl],
      ['E2E', latency.e2e],
      ['first byte', timing.firstByte],
      ['connect', timing.connect],
      ['sent late', timing.sendDelay],
    ] as const
  ).filter((row): row is [(typeof row)[0], Distribution] => row[1] !== undefined);
  return tableOf(rows, { id: 'load-latency', title: `Latency, ${level}` }, [
    ['Name', 'text', ([name]) => name],
    ['mean', 'ns', ([, { meanNs }]) => meanNs],
    ...['50', '90', '95', '99'].map(
      (percent): ColumnOf<(typeof rows)[number]> => [
        `p${percent}`,
        'ns',
        ([, { percentilesNs }]) => percentilesNs[percent],
      ],
    ),
    ['max', 'ns', ([, { maxNs }]) => maxNs],
  ]);
}

function overview(levels: readonly LevelResult[]): TableBlock {
  const table = tableOf(levels, { id: 'load', title: 'Levels' }, [
    ['Name', 'text', ({ level }) => level],
    ['Requests', 'count', ({ counts }) => counts.completed],
    ['Failed', 'count', ({ counts }) => counts.errors],
    ['Req/s', 'rate', ({ throughput }) => throughput.requests],
    ['Output tok/s', 'rate', ({ throughput }) => throughput.outputTokens],
    ['tok/s/user', 'rate', ({ throughput }) => throughput.outputTokensPerUser],
    ['TTFT p50', 'ns', ({ latency }) => latency.ttft?.percentilesNs['50'], { priority: -2 }],
    ['TTFT p99', 'ns', ({ latency }) => latency.ttft?.percentilesNs['99'], { priority: -1 }],
    ['ITL p50', 'ns', ({ latency }) => latency.itl?.percentilesNs['50'], { priority: -2 }],
    ['ITL p99', 'ns', ({ latency }) => latency.itl?.percentilesNs['99'], { priority: -1 }],
    ['E2E p50', 'ns', ({ latency }) => latency.e2e?.percentilesNs['50'], { priority: -2 }],
    ['E2E p99', 'ns', ({ latency }) => latency.e2e?.percentilesNs['99'], { priority: -1 }],
  ]);
  const isKnown = ({ values }: TableColumn) =>
    Array.from(values as ArrayLike<unknown>).some(value => !Number.isNaN(value));
  return { ...table, columns: table.columns.filter(isKnown) };
}
