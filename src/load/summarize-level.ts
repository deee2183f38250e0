/** From the requests of a level to its figures. docs/metrics.md#load defines them. */
import type { BenchThroughput, LatencyName } from '../model/bench-run.js';
import { NS_PER_SECOND, onMachineClocks } from './clock.js';
import { distributionOf } from './distribution.js';
import type { LevelContext } from './level-notes.js';
import { levelNotes } from './level-notes.js';
import type { LevelResult, LevelTiming, LoadRequest } from './load-document.js';
import { hashOfRequest } from './request-hash.js';
import type { RequestRecord } from './request-record.js';
import type { LevelRun } from './run-level.js';

/** `statesSince`: what the engine reported about itself from a moment on. */
export function summarizeLevel(
  run: LevelRun,
  context: LevelContext,
  statesSince: (beginNs: number) => LevelResult['engineStates'] = () => [],
): LevelResult {
  const { settings, records, interrupted, clientLagNs } = run;
  const { level } = settings;
  const completed = records.filter(record => !record.failure && !record.interrupted);
  const failed = records.filter(record => record.failure);
  const inputTokens = total(completed, record => record.inputTokens);
  const outputTokens = total(completed, record => record.outputTokens);
  const beginNs = records.reduce((least, { dueNs }) => Math.min(least, dueNs), Infinity);
  const endNs = completed.reduce((most, { dueNs, e2eNs }) => Math.max(most, dueNs + e2eNs!), -Infinity);
  const durationNs = completed.length > 0 ? endNs - beginNs : undefined;
  const e2eTotal = total(completed, record => record.e2eNs);
  const mean = (sum: number | undefined) => (sum === undefined ? undefined : sum / completed.length);
  const states = records.length > 0 ? statesSince(beginNs) : undefined;
  const result: LevelResult = {
    level: level.name,
    ...(interrupted ? { interrupted: true as const } : {}),
    ...(records.length > 0 ? { begin: onMachineClocks(beginNs) } : {}),
    load: present({
      dataset: context.prompts,
      inputTokens: mean(inputTokens),
      outputTokens: mean(outputTokens),
      maxConcurrency: level.kind === 'concurrent' ? level.users : undefined,
      meanConcurrency: durationNs && e2eTotal !== undefined ? e2eTotal / durationNs : undefined,
      requestRate: level.kind === 'sustained' ? level.perSecond : ('unlimited' as const),
      requests: Number.isFinite(settings.requests) ? settings.requests : undefined,
    }),
    counts: present({
      completed: completed.length,
      errors: failed.length,
      unfinished: records.length - completed.length - failed.length,
      inputTokens,
      outputTokens,
    }),
    ...(durationNs === undefined ? {} : { durationNs }),
    throughput: durationNs ? throughputOf(completed, durationNs, inputTokens, outputTokens) : {},
    latency: latenciesOf(completed),
    timing: timingOf(run, completed, clientLagNs),
    tokens: tokensOf(completed, context),
    errors: errorsOf(failed),
    ...(states && states.length > 0 ? { engineStates: states } : {}),
    requests: records.map(record => row(record, beginNs)),
    notes: [],
  };
  return { ...result, notes: levelNotes(run, result, completed, context) };
}

function throughputOf(
  completed: readonly RequestRecord[],
  durationNs: number,
  input: number | undefined,
  output: number | undefined,
): BenchThroughput {
  const perSecond = (count: number | undefined) =>
    count === undefined ? undefined : (count / durationNs) * NS_PER_SECOND;
  const speeds = completed.filter(record => record.outputTokens !== undefined);
  const tpots = completed.filter(({ tpotNs }) => tpotNs !== undefined && tpotNs > 0);
  return present({
    requests: perSecond(completed.length),
    inputTokens: perSecond(input),
    outputTokens: perSecond(output),
    totalTokens: input === undefined || output === undefined ? undefined : perSecond(input + output),
    outputTokensPerUser: meanOf(
      speeds,
      ({ outputTokens, e2eNs }) => (outputTokens! / e2eNs!) * NS_PER_SECOND,
    ),
    generationSpeedPerUser: meanOf(tpots, ({ tpotNs }) => NS_PER_SECOND / tpotNs!),
  });
}

function latenciesOf(completed: readonly RequestRecord[]): LevelResult['latency'] {
  const gaps: number[] = [];
  for (const { pieceNs } of completed)
    for (let i = 1; i < pieceNs.length; i++) gaps.push(pieceNs[i] - pieceNs[i - 1]);
  const of = (field: 'e2eNs' | 'ttftNs' | 'tpotNs') => distributionOf(known(completed, field));
  const all: Record<LatencyName, ReturnType<typeof of>> = {
    e2e: of('e2eNs'),
    ttft: of('ttftNs'),
    tpot: of('tpotNs'),
    itl: distributionOf(gaps),
  };
  return present(all) as LevelResult['latency'];
}

function timingOf(run: LevelRun, completed: readonly RequestRecord[], clientLagNs: number): LevelTiming {
  const isOpen = run.settings.level.kind === 'sustained';
  return present({
    firstByte: distributionOf(known(completed, 'firstByteNs')),
    connect: distributionOf(known(completed, 'connectNs')),
    dns: distributionOf(known(completed, 'dnsNs')),
    newConnections: known(completed, 'connectNs').length,
    sendDelay: isOpen ? distributionOf(completed.map(({ sentNs, dueNs }) => sentNs - dueNs)) : undefined,
    clientLagNs,
  });
}

function tokensOf(completed: readonly RequestRecord[], { idPrompts }: LevelContext): LevelResult['tokens'] {
  const input = completed.every(record => record.inputFromUsage)
    ? 'usage'
    : completed.some(record => record.inputTokens === undefined)
      ? 'unknown'
      : idPrompts
        ? 'ids'
        : 'words';
  const output = completed.every(record => record.outputFromUsage)
    ? 'usage'
    : completed.some(record => record.outputTokens === undefined)
      ? 'unknown'
      : 'pieces';
  const pieces = completed.reduce((sum, { pieceNs }) => sum + pieceNs.length, 0);
  const tokens = total(completed, record => record.outputTokens);
  const perPiece = output === 'usage' && pieces > 0 && tokens !== undefined ? tokens / pieces : undefined;
  return present({ input, output, perPiece } as const);
}

function errorsOf(failed: readonly RequestRecord[]): LevelResult['errors'] {
  const byKind = new Map<string, { count: number; example: string }>();
  for (const { failure } of failed) {
    const entry = byKind.get(failure!.kind) ?? { count: 0, example: '' };
    entry.count++;
    entry.example ||= failure!.detail;
    byKind.set(failure!.kind, entry);
  }
  return [...byKind].map(([kind, entry]) => ({ kind, ...entry })).sort((a, b) => b.count - a.count);
}

function row(record: RequestRecord, beginNs: number): LoadRequest {
  const { number, dueNs, sentNs, connectNs, firstByteNs, ttftNs, tpotNs, e2eNs, status } = record;
  return present({
    id: number,
    startNs: dueNs - beginNs,
    sendDelayNs: sentNs - dueNs,
    connectNs,
    firstByteNs,
    ttftNs,
    tpotNs,
    e2eNs,
    inputTokens: record.inputTokens,
    outputTokens: record.outputTokens,
    pieces: record.pieceNs.length > 0 ? record.pieceNs.length : undefined,
    status,
    serverId: record.serverId === undefined ? undefined : hashOfRequest(record.serverId),
    failed: record.failure || record.interrupted ? (true as const) : undefined,
    error: record.failure?.kind ?? (record.interrupted ? 'interrupted' : undefined),
  });
}

/** Undefined where one does not say. */
function total(rows: readonly RequestRecord[], of: (row: RequestRecord) => number | undefined) {
  let sum = 0;
  for (const record of rows) {
    const value = of(record);
    if (value === undefined) return undefined;
    sum += value;
  }
  return rows.length > 0 ? sum : undefined;
}

const meanOf = (rows: readonly RequestRecord[], of: (row: RequestRecord) => number) =>
  rows.length > 0 ? rows.reduce((sum, record) => sum + of(record), 0) / rows.length : undefined;

const known = (
  rows: readonly RequestRecord[],
  field: 'e2eNs' | 'ttftNs' | 'tpotNs' | 'firstByteNs' | 'connectNs' | 'dnsNs',
) => rows.map(record => record[field]).filter(value => value !== undefined);

/** Only what is there. */
function present<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Row;
}
