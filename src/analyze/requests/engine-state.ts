/** Queue, running requests and KV cache of the engine, on the axis of its steps. */
import { formatShare } from '../../base/units.js';
import type { Phase } from '../../catalog/phases.js';
import type { EngineState } from '../../model/bench-run.js';
import type { NotedStep } from '../../model/step-log.js';
import { type Analysis, type AnalysisResult, NotRecorded } from '../analysis.js';
import type { Block } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { stepsOf } from '../inference/steps.js';
import { rowsTable } from '../rows-table.js';
import { formatMean } from '../words.js';
import { alignClient } from './align-client.js';
import { requestsOf } from './client-request.js';
import { notedSteps } from './noted-steps.js';
import { type NotedSpan, spanAt, spansOf } from './step-spans.js';

type Source = 'metrics' | 'log';

const fields = {
  key: keyField,
  file: quiet(field.text('File', 'that has the figures')),
  source: quiet(field.text<Source>('Source', '/metrics, read by the client; or a line of the engine’s log')),
  iteration: field.id('Iteration', 'the step that ran then'),
  timeNs: maybe(
    field.timestamp('Time', 'when it was read or the step began; null: the profile has no wall clock'),
  ),
  phase: field.text<Phase>('Phase', 'of that step'),
  batch: field.count('Batch', 'requests in that step'),
  running: maybe(field.count('Running', 'requests in the engine')),
  waiting: maybe(field.count('Waiting', 'requests in its queue')),
  kvShare: maybe(field.share('KV cache (%)', 'in use')),
  profiled: quiet(field.flag('Profiled', 'a profiler recorded that step')),
};

type StateRow = RowOf<typeof fields>;

// Aliases, so that both are JSON to the type checker.
type Spread = {
  readonly mean: number;
  readonly max: number;
};

type Summary = {
  readonly states: number;
  readonly running: Spread | null;
  readonly waiting: Spread | null;
  /** Of the readings: a request waited. */
  readonly queuedShare: number | null;
  readonly kvShare: Spread | null;
};

interface StateResult extends AnalysisResult<StateRow> {
  readonly summary: Summary;
}

const SHOWN = 12;

export const engineState: Analysis<StateRow, StateResult> = {
  id: 'engine-state',
  title: 'Engine state',
  question: 'How many requests run and wait, and how full is the KV cache, at each step?',
  reads: {},
  uses: [stepsOf],
  fields,
  headline: {
    label: 'engine',
    text: ({ rows, summary }) => (rows.length === 0 ? undefined : words(summary).join(', ')),
  },
  compute({ profile, useIfRecorded }) {
    const log = notedSteps(profile, useIfRecorded(stepsOf));
    const read = (profile.benchmarks ?? []).filter(run => (run.engineStates?.length ?? 0) > 0);
    const printed = profile.engineStates ?? [];
    if (read.length === 0 && printed.length === 0)
      throw new NotRecorded(
        'queue and KV cache of the engine',
        "give the file of stepscope load (it reads the server's /metrics), or the engine's iteration log, next to the profile",
      );
    if (!log)
      throw new NotRecorded(
        'steps with their batch and time of day',
        'run the engine with the Stepscope agent and give its file next to the profile',
      );
    const spans = spansOf(log);
    const shiftNs = profile.clock === 'utc' ? Number(log.originNs - profile.originNs) : undefined;
    const rows = [
      ...read.flatMap(run => {
        const alignment = alignClient(run, requestsOf(run), log, spans);
        if (typeof alignment === 'string') return [];
        return (run.engineStates ?? []).flatMap(state => {
          const ns = (state.atNs ?? Number.NaN) + alignment.shiftNs;
          const span = spans[spanAt(spans, ns)] as NotedSpan | undefined;
          if (!span || span.startNs > ns) return [];
          return [rowOf('metrics', run.source.file, state, span.step, shiftNs, ns)];
        });
      }),
      ...printed.flatMap(({ file, states }) => {
        const byIteration = new Map(log.steps.map(step => [step.iteration, step]));
        return states.flatMap(state => {
          const step = byIteration.get(state.iteration ?? Number.NaN);
          return step ? [rowOf('log', file, state, step, shiftNs, step.startNs)] : [];
        });
      }),
    ].sort((a, b) => a.iteration - b.iteration);
    if (rows.length === 0)
      throw new NotRecorded(
        'what the engine reported while steps were recorded',
        'the figures are from another time than the steps',
      );
    return { rows, summary: summaryOf(rows) };
  },
  describe({ rows, summary }): Block[] {
    const lines = [
      `${rows.length} readings of the engine lie in recorded steps: ${words(summary).join(', ')}.`,
    ];
    return [
      { kind: 'statement', id: 'engine-state', title: 'Engine state', lines, quiet: true },
      rowsTable(engineState, thinned(rows)),
    ];
  },
};

function rowOf(
  source: Source,
  file: string,
  state: EngineState,
  step: NotedStep,
  shiftNs: number | undefined,
  ns: number,
): StateRow {
  const { contextRequests, generationRequests } = step;
  return {
    key: `${source}:${step.iteration}@${Math.round(ns)}`,
    ...{ file, source, iteration: step.iteration },
    timeNs: shiftNs === undefined ? null : ns + shiftNs,
    phase:
      contextRequests > 0
        ? generationRequests > 0
          ? 'mixed'
          : 'prefill'
        : generationRequests > 0
          ? 'decode'
          : 'unknown',
    batch: contextRequests + generationRequests,
    running: state.running ?? null,
    waiting: state.waiting ?? null,
    kvShare: state.kvShare ?? null,
    profiled: step.profiled === true,
  };
}

function summaryOf(rows: readonly StateRow[]): Summary {
  const of = (name: 'running' | 'waiting' | 'kvShare') =>
    rows.flatMap(row => (row[name] === null ? [] : [row[name]]));
  const waiting = of('waiting');
  return {
    states: rows.length,
    running: spreadOf(of('running')),
    waiting: spreadOf(waiting),
    queuedShare: waiting.length === 0 ? null : waiting.filter(count => count > 0).length / waiting.length,
    kvShare: spreadOf(of('kvShare')),
  };
}

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    max: values.reduce((most, value) => Math.max(most, value), 0),
  };
}

function words({ running, waiting, queuedShare, kvShare }: Summary): string[] {
  return [
    ...(running ? [`${formatMean(running.mean)} requests run (at most ${running.max})`] : []),
    ...(waiting && queuedShare !== null
      ? [
          waiting.max === 0
            ? 'no request waits'
            : `${formatMean(waiting.mean)} wait (at most ${waiting.max}; in ${formatShare(queuedShare)} of the readings)`,
        ]
      : []),
    ...(kvShare
      ? [`the KV cache is ${formatShare(kvShare.mean)} full (at most ${formatShare(kvShare.max)})`]
      : []),
  ];
}

/** Evenly over the steps: the JSON has all. */
function thinned(rows: readonly StateRow[]): readonly StateRow[] {
  if (rows.length <= SHOWN) return rows;
  return Array.from({ length: SHOWN }, (_, i) => rows[Math.round((i * (rows.length - 1)) / (SHOWN - 1))]);
}
