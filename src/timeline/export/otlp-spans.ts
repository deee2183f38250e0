/**
 * Steps and requests as OpenTelemetry spans, in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding):
 * ids in hexadecimal, 64-bit numbers as text, names of fields in lowerCamelCase. The steps of a profile are one trace; each
 * request of a client is another, split where its first token came. Parts of that time (queueing, prefill) are sums over
 * steps and lie scattered in it, so they are attributes and not spans.
 */
import { type Analyzer, NotRecorded } from '../../analyze/analysis.js';
import { stepWindows } from '../../analyze/inference/step-windows.js';
import { stepsOf } from '../../analyze/inference/steps.js';
import { program } from '../../analyze/program.js';
import { requests } from '../../analyze/requests/requests.js';
import { withoutSecrets } from '../../catalog/secret-shapes.js';
import { batchText } from '../step-label.js';
import { ifRecorded } from './if-recorded.js';

export const otlpReads = [stepsOf, stepWindows, program, requests];

const INTERNAL = 1;
const CLIENT = 3;
const SCOPE = 'stepscope';
const SPANS_PER_PIECE = 500;

type Value = string | number | boolean;

interface Span {
  /** What its ids are made from: the same profile gives the same ids. */
  readonly key: string;
  readonly trace: string;
  readonly parent?: string;
  readonly name: string;
  readonly kind: number;
  readonly startNs: number;
  readonly endNs: number;
  readonly attributes: Readonly<Record<string, Value | null | undefined>>;
}

interface OtlpContext {
  /** SHA-256 in hexadecimal; of what names the profile, and of keys. */
  readonly hash: (text: string) => string;
  readonly version: string;
  /** Names the content of the profile. */
  readonly identity: string;
}

interface OtlpSpans {
  readonly steps: number;
  readonly requests: number;
  /** What is not in the file, and why. */
  readonly remarks: readonly string[];
  /** Pieces of text; joined they are one JSON document. */
  pieces(): Iterable<string>;
}

export function otlpSpans(analyzer: Analyzer, context: OtlpContext): OtlpSpans {
  const steps = [...stepSpans(analyzer)];
  const { spans: requested, why } = requestSpans(analyzer);
  const remarks = [
    ...(analyzer.profile.clock === 'utc'
      ? []
      : [
          'The profile does not record the time of day: times count from the start of its clock, not from 1970.',
        ]),
    ...(steps.length === 0 ? ['No steps were found in the profile.'] : []),
    ...(why ? [`Requests are missing: ${why}.`] : []),
  ];
  return {
    steps: steps.filter(({ parent }) => parent !== undefined).length,
    requests: requested.filter(({ parent }) => parent === undefined).length,
    remarks,
    pieces: () => document([...steps, ...requested], analyzer, context),
  };
}

function* document(spans: readonly Span[], analyzer: Analyzer, context: OtlpContext): Iterable<string> {
  const { profile } = analyzer;
  const { engine, version } = ifRecorded(() => analyzer.get(program)) ?? { engine: '', version: '' };
  const resource = attributesOf({
    // What OpenTelemetry calls a service that has no name.
    'service.name': engine || 'unknown_service',
    'service.version': version || undefined,
    'stepscope.files': profile.capture.files.join(', '),
    'stepscope.clock': profile.clock === 'utc' ? 'time of day' : 'session: times do not count from 1970',
    'gpu.name': [...new Set(profile.gpus.map(({ name }) => name).filter(Boolean))].join(', ') || undefined,
  });
  const scope = { name: SCOPE, version: context.version };
  yield `{"resourceSpans":[{"resource":${JSON.stringify({ attributes: resource })},"scopeSpans":[{"scope":${JSON.stringify(scope)},"spans":[\n`;
  for (let i = 0; i < spans.length; i += SPANS_PER_PIECE) {
    const lines = spans
      .slice(i, i + SPANS_PER_PIECE)
      .map(span => JSON.stringify(asOtlp(span, profile.originNs, context)));
    yield `${i === 0 ? '' : ',\n'}${lines.join(',\n')}`;
  }
  yield '\n]}]}]}\n';
}

function asOtlp(span: Span, originNs: bigint, { hash, identity }: OtlpContext) {
  const id = (key: string, digits: number) => nonZero(hash(`${identity}/${key}`).slice(0, digits));
  const time = (ns: number) => String(originNs + BigInt(Math.round(ns)));
  return {
    traceId: id(span.trace, 32),
    spanId: id(span.key, 16),
    ...(span.parent === undefined ? {} : { parentSpanId: id(span.parent, 16) }),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: time(span.startNs),
    endTimeUnixNano: time(span.endNs),
    attributes: attributesOf(span.attributes),
  };
}

/** All zeros would be no id. */
const nonZero = (hex: string) => (/^0+$/.test(hex) ? hex.replace(/0$/, '1') : hex);

function attributesOf(values: Readonly<Record<string, Value | null | undefined>>) {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: otlpValue(value) }],
  );
}

function otlpValue(value: Value): object {
  if (typeof value === 'string') return { stringValue: withoutSecrets(value, () => {}) };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function* stepSpans(analyzer: Analyzer): Iterable<Span> {
  const found = ifRecorded(() => analyzer.get(stepsOf));
  const windows = ifRecorded(() => analyzer.get(stepWindows)) ?? [];
  if (!found || windows.length === 0) return;
  const trace = 'steps';
  yield {
    ...{ key: 'steps', trace, name: 'engine steps', kind: INTERNAL },
    startNs: windows.reduce((least, { start }) => Math.min(least, start), Infinity),
    endNs: windows.reduce((most, { end }) => Math.max(most, end), -Infinity),
    attributes: { 'step.found_by': found.method, 'step.confidence': found.confidence },
  };
  for (const { step, device, deviceRun, start, end, busyNs } of windows) {
    const { iteration, facts } = found.steps[step];
    yield {
      key: `step/${step}/${deviceRun}`,
      ...{ trace, parent: 'steps', name: `step ${facts.phase}`, kind: INTERNAL, startNs: start, endNs: end },
      attributes: {
        'step.iteration': iteration,
        'step.phase': facts.phase,
        'step.batch': batchText(facts) || undefined,
        'gpu.id': analyzer.profile.gpus[device].deviceId,
        'gpu.busy_ns': Math.round(busyNs),
      },
    };
  }
}

function requestSpans(analyzer: Analyzer): { spans: Span[]; why?: string } {
  const asked = ask(analyzer);
  if (typeof asked === 'string') return { spans: [], why: asked };
  const spans: Span[] = [];
  for (const row of asked) {
    const { key: trace, dueNs, ttftNs, decodeNs } = row;
    if (dueNs === null || ttftNs === null) continue;
    const firstNs = dueNs + ttftNs;
    spans.push({
      ...{
        key: trace,
        trace,
        name: 'request',
        kind: CLIENT,
        startNs: dueNs,
        endNs: firstNs + (decodeNs ?? 0),
      },
      attributes: {
        'request.id': row.request,
        'gen_ai.usage.input_tokens': row.inputTokens,
        'gen_ai.usage.output_tokens': row.outputTokens,
        'request.joined_by': row.joinedBy,
        'request.profiled': row.profiled,
        ...(decodeNs === null ? { 'request.end': 'not covered by recorded steps' } : {}),
      },
    });
    spans.push({
      key: `${trace}/first`,
      ...{
        trace,
        parent: trace,
        name: 'time to first token',
        kind: INTERNAL,
        startNs: dueNs,
        endNs: firstNs,
      },
      attributes: {
        'request.before_ns': row.beforeNs,
        'request.queue_ns': row.queueNs,
        'request.prefill_ns': row.prefillNs,
        'request.after_ns': row.afterNs,
        'request.prefill_steps': row.prefillSteps,
      },
    });
    if (decodeNs !== null)
      spans.push({
        key: `${trace}/decode`,
        ...{
          trace,
          parent: trace,
          name: 'decode',
          kind: INTERNAL,
          startNs: firstNs,
          endNs: firstNs + decodeNs,
        },
        attributes: {
          'request.decode_steps_ns': row.decodeStepsNs,
          'request.mixed_ns': row.mixedNs,
          'request.stall_ns': row.stallNs,
          'request.wait_ns': row.waitNs,
          'request.unexplained_ns': row.unexplainedNs,
          'request.decode_steps': row.decodeSteps,
        },
      });
  }
  return spans.length > 0 ? { spans } : { spans, why: 'the profile has no time of day to place them by' };
}

function ask(analyzer: Analyzer) {
  try {
    return analyzer.get(requests).rows;
  } catch (error) {
    if (error instanceof NotRecorded) return `${error.what} is not recorded; ${error.hint}`;
    throw error;
  }
}
