/** Where the time of requests goes, as their client saw it: TTFT and TPOT as sums over the engine's steps. */
import { interpolatedPercentile } from '../../stats/percentile.js';
import { type Analysis, type AnalysisResult, type Json, NotRecorded } from '../analysis.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { stepsOf } from '../inference/steps.js';
import { describeRequests, requestsLine } from './describe-requests.js';
import { type JoinedRequest, type JoinedRun, joinRuns } from './joined-run.js';
import { notedSteps } from './noted-steps.js';
import type { JoinedBy } from './request-parts.js';

const fields = {
  key: keyField,
  file: quiet(field.text('File', 'of the client')),
  level: quiet(maybe(field.text('Level', 'as the client calls it; null: it has one'))),
  request: field.id('Request', 'as the client numbers it'),
  dueNs: maybe(field.timestamp('Due', 'when it was due to be sent; null: the profile has no wall clock')),
  inputTokens: maybe(field.count('Input', 'tokens of the prompt')),
  outputTokens: maybe(field.count('Output', 'tokens of the answer')),
  ttftNs: maybe(field.ns('TTFT', 'due to first token; null: steps are missing in that time')),
  queueNs: maybe(field.ns('Queue', 'of TTFT: the engine ran other requests')),
  prefillNs: maybe(field.ns('Prefill', 'of TTFT: steps with prefill that ran it, or may have')),
  beforeNs: maybe(
    field.ns('Before', 'of TTFT: nothing known ran before its prefill (client, network, tokenizer)'),
  ),
  afterNs: maybe(
    field.ns('After', 'of TTFT: after its prefill step (rest on the GPU, detokenizer, network, client)'),
  ),
  prefillSteps: quiet(maybe(field.count('Prefill steps', 'that ran it, or may have'))),
  decodeNs: maybe(field.ns('After first', 'first token to end; null: steps are missing in that time')),
  tpotNs: maybe(field.nsMean('TPOT', 'decodeNs ÷ (output tokens − 1)')),
  decodeStepsNs: maybe(field.ns('Decode', 'of decodeNs: decode steps')),
  mixedNs: maybe(field.ns('Mixed', 'of decodeNs: steps that decode it and prefill others')),
  stallNs: maybe(field.ns('Stalled', 'of decodeNs: steps that only prefill others')),
  waitNs: maybe(field.ns('Left out', 'of decodeNs: decode steps without it; known only by request ids')),
  unexplainedNs: maybe(field.ns('Rest', 'of decodeNs: rest of its prefill step, delivery of the last token')),
  decodeSteps: quiet(maybe(field.count('Decode steps', 'started between first token and end'))),
  engineQueueNs: quiet(
    maybe(field.ns('Engine queue', 'arrival in the engine to first step, as the engine measured it')),
  ),
  enginePrefillNs: quiet(
    maybe(field.ns('Engine prefill', 'first step to first token, as the engine measured it')),
  ),
  profiled: field.flag('Profiled', 'a profiler recorded, started or stopped while it was in flight'),
  joinedBy: quiet(field.text<JoinedBy>('Joined by', 'ids, one-step (one possible prefill step) or time')),
};

type RequestRow = RowOf<typeof fields>;

interface RequestsResult extends AnalysisResult<RequestRow> {
  readonly runs: readonly JoinedRun[];
}

export const requests: Analysis<RequestRow, RequestsResult> = {
  id: 'requests',
  title: 'Requests',
  question: 'Where does the time of a request go: queueing, prefill, decode, or the prefill of others?',
  reads: {},
  uses: [stepsOf],
  fields,
  headline: {
    label: 'requests',
    text({ runs }) {
      const best = [...runs].sort((a, b) => b.joined.length - a.joined.length)[0];
      return best && requestsLine(best);
    },
  },
  compute({ profile, useIfRecorded }) {
    const timed = (profile.benchmarks ?? []).filter(run =>
      run.requests?.some(row => row.startNs !== undefined),
    );
    if (timed.length === 0)
      throw new NotRecorded(
        'when requests were sent and answered',
        'give the file of stepscope load, or a detailed benchmark result with start times, next to the profile',
      );
    const log = notedSteps(profile, useIfRecorded(stepsOf));
    if (!log)
      throw new NotRecorded(
        'steps with their batch and time of day',
        'run the engine with the Stepscope agent and give its file next to the profile',
      );
    const runs = joinRuns(timed, log);
    const shiftNs = profile.clock === 'utc' ? Number(log.originNs - profile.originNs) : undefined;
    if (runs.every(({ joined }) => joined.length === 0))
      throw new NotRecorded(
        `which steps ran while requests were in flight (${runs[0].why})`,
        'use one machine for stepscope load and the engine with the agent, and let both run at the same time',
      );
    const rows = runs.flatMap(run => run.joined.map(each => rowOf(run, each, shiftNs)));
    return { rows, runs, summary: { runs: runs.map(summaryOf) } };
  },
  describe: ({ runs }) => runs.flatMap(describeRequests),
};

function rowOf(
  { run }: JoinedRun,
  { request, parts, profiled }: JoinedRequest,
  shiftNs: number | undefined,
): RequestRow {
  const { first, decode } = parts;
  const { id, dueNs, firstNs, endNs, outputTokens } = request;
  const lastedNs = decode ? endNs! - firstNs! : null;
  return {
    key: `client:${run.source.file}/${run.label ?? ''}/request:${id}`,
    file: run.source.file,
    level: run.label ?? null,
    request: id,
    dueNs: shiftNs === undefined ? null : dueNs + shiftNs,
    inputTokens: request.inputTokens ?? null,
    outputTokens: outputTokens ?? null,
    ttftNs: first ? firstNs! - dueNs : null,
    queueNs: first?.queueNs ?? null,
    prefillNs: first?.prefillNs ?? null,
    beforeNs: first?.beforeNs ?? null,
    afterNs: first?.afterNs ?? null,
    prefillSteps: first?.prefillSteps ?? null,
    decodeNs: lastedNs,
    tpotNs: lastedNs !== null && (outputTokens ?? 0) > 1 ? lastedNs / (outputTokens! - 1) : null,
    decodeStepsNs: decode?.decodeNs ?? null,
    mixedNs: decode?.mixedNs ?? null,
    stallNs: decode?.stallNs ?? null,
    waitNs: decode && parts.by === 'ids' ? decode.waitNs : null,
    unexplainedNs: decode?.unexplainedNs ?? null,
    decodeSteps: decode?.steps ?? null,
    engineQueueNs: request.engineQueueNs ?? null,
    enginePrefillNs: request.enginePrefillNs ?? null,
    profiled,
    joinedBy: parts.by,
  };
}

const PERCENTS = [50, 90, 99, 100];

function summaryOf(joinedRun: JoinedRun): Json {
  const { run, requests: total, alignment, why, joined, notCovered } = joinedRun;
  const undisturbed = joined.filter(({ profiled }) => !profiled);
  const summed = undisturbed.length > 0 ? undisturbed : joined;
  const rows = summed.map(each => rowOf(joinedRun, each, undefined));
  const mean = (name: 'ttftNs' | 'queueNs' | 'prefillNs' | 'beforeNs' | 'afterNs') =>
    meanOf(rows.flatMap(row => row[name] ?? []));
  const perToken = (
    name: 'decodeNs' | 'decodeStepsNs' | 'mixedNs' | 'stallNs' | 'waitNs' | 'unexplainedNs',
  ) => meanOf(rows.flatMap(row => (row.tpotNs === null ? [] : (row[name] ?? 0) / (row.outputTokens! - 1))));
  return {
    file: run.source.file,
    level: run.label ?? null,
    requests: total,
    joined: joined.length,
    notCovered,
    cannotTell: why ?? null,
    alignedBy: alignment?.by ?? null,
    shiftNs: alignment?.shiftNs ?? null,
    earlierNs: alignment?.earlierNs ?? null,
    laterNs: alignment?.laterNs ?? null,
    withoutPrefill: alignment?.withoutPrefill ?? null,
    crowdedSteps: alignment?.crowdedSteps ?? null,
    comparedSteps: alignment?.comparedSteps ?? null,
    byIds: joined.filter(({ parts }) => parts.by === 'ids').length,
    profiled: joined.length - undisturbed.length,
    oneStep: joined.filter(({ parts }) => parts.by === 'one-step').length,
    ttft: {
      requests: rows.filter(({ ttftNs }) => ttftNs !== null).length,
      meanNs: mean('ttftNs'),
      queueNs: mean('queueNs'),
      prefillNs: mean('prefillNs'),
      beforeNs: mean('beforeNs'),
      afterNs: mean('afterNs'),
      percentilesNs: percentiles(rows.flatMap(row => row.ttftNs ?? [])),
    },
    tpot: {
      requests: rows.filter(({ tpotNs }) => tpotNs !== null).length,
      meanNs: perToken('decodeNs'),
      decodeStepsNs: perToken('decodeStepsNs'),
      mixedNs: perToken('mixedNs'),
      stallNs: perToken('stallNs'),
      waitNs: perToken('waitNs'),
      unexplainedNs: perToken('unexplainedNs'),
      percentilesNs: percentiles(rows.flatMap(row => row.tpotNs ?? [])),
    },
  };
}

const meanOf = (values: readonly number[]) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

function percentiles(values: readonly number[]): Record<string, number> {
  if (values.length === 0) return {};
  const sorted = Float64Array.from(values).sort();
  return Object.fromEntries(PERCENTS.map(percent => [percent, interpolatedPercentile(sorted, percent)]));
}
