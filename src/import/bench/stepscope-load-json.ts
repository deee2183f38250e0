/**
 * `stepscope load -o FILE`: one document, a run per level (src/load/load-schema.ts, docs/schemas/load.schema.json).
 * Figures are in base units already and come back as they were written.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { NoteSeverity } from '../../base/notes.js';
import {
  type BenchRequest,
  type BenchRun,
  type Distribution,
  type EngineLatency,
  type EngineState,
  latencyNames,
} from '../../model/bench-run.js';
import type { BenchContent } from './bench-content.js';
import type { BenchImporter } from './bench-importer.js';
import { at, listAt, numberAt } from './json-fields.js';
import { type NumberName, RunDraft } from './run-draft.js';
import { withoutAbsent } from './trtllm-iteration.js';

const isLoad = (value: unknown): value is JsonObject =>
  isJsonObject(value) && /^stepscope-load(-summary)?\/1$/.test(String(at(value, 'schema')));

/** What `--json` prints has the same levels, in an envelope. */
const withoutEnvelope = (value: JsonObject): JsonObject => {
  const data = at(value, 'data');
  return isJsonObject(data) ? data : value;
};

export const stepscopeLoadJson: BenchImporter = {
  id: 'stepscope-load-json',
  label: 'stepscope load -o',
  recognizes: content => content.objects.some(({ value }) => isLoad(value)),
  read: content =>
    content.objects
      .map(({ value }) => value)
      .filter(isLoad)
      .map(withoutEnvelope)
      .flatMap(load =>
        listAt(load, 'levels')
          .filter(isJsonObject)
          .map(level => readLevel(content, load, level)),
      ),
};

const numbers: readonly NumberName[] = [
  'load.inputTokens',
  'load.outputTokens',
  'load.maxConcurrency',
  'load.meanConcurrency',
  'load.requests',
  'throughput.requests',
  'throughput.inputTokens',
  'throughput.outputTokens',
  'throughput.totalTokens',
  'throughput.outputTokensPerUser',
  'throughput.generationSpeedPerUser',
  'counts.completed',
  'counts.errors',
  'counts.inputTokens',
  'counts.outputTokens',
  'energy.totalJoules',
  'energy.gpuPowerWatts',
  'energy.outputTokensPerSecondPerWatt',
  'durationNs',
];

function readLevel(content: BenchContent, document: JsonObject, level: JsonObject): BenchRun {
  const rate = at(level, 'load', 'requestRate');
  const draft = new RunDraft('stepscope load')
    .text('label', at(level, 'level'))
    .text('framework', at(document, 'target', 'framework'))
    .text('frameworkVersion', at(document, 'target', 'frameworkVersion'))
    .text('model', at(document, 'target', 'model'))
    .text('load.dataset', at(level, 'load', 'dataset'))
    .rate(rate === 'unlimited' ? Infinity : rate);
  for (const name of numbers) draft.number(name, at(level, ...name.split('.')));
  for (const name of latencyNames) {
    const distribution = at(level, 'latency', name);
    for (const stat of ['mean', 'stddev', 'min', 'max'] as const)
      draft.number(`latency.${name}.${stat}`, at(distribution, `${stat}Ns`));
    const percentiles = at(distribution, 'percentilesNs');
    for (const [percent, value] of isJsonObject(percentiles) ? Object.entries(percentiles) : [])
      if (/^\d{1,2}(\.\d{1,3})?$/.test(percent)) draft.number(`latency.${name}.p${Number(percent)}`, value);
  }
  draft.engineLatency = engineLatencyOf(at(level, 'engineLatency'));
  for (const row of listAt(level, 'requests')) if (isJsonObject(row)) draft.requests.push(request(row));
  for (const row of listAt(level, 'engineStates'))
    if (isJsonObject(row)) draft.engineStates.push(stateOf(row));
  if (draft.requests.length > 0) draft.clock = clockOf(document, level);
  for (const note of listAt(level, 'notes')) addNote(draft, note);
  if (at(level, 'interrupted') === true)
    draft.notes.add('interrupted', 'warning', 'the level was stopped early');
  return draft.build(content.file, stepscopeLoadJson.id);
}

function engineLatencyOf(value: unknown): EngineLatency {
  const figures = (name: string): Distribution | undefined => {
    const own = at(value, name);
    const number = (field: string) => {
      const found = numberAt(own, field);
      return found !== undefined && Number.isFinite(found) && found >= 0 ? found : undefined;
    };
    const percentiles = at(own, 'percentilesNs');
    return isJsonObject(percentiles)
      ? withoutAbsent({
          ...{ meanNs: number('meanNs'), stddevNs: number('stddevNs') },
          ...{ minNs: number('minNs'), maxNs: number('maxNs') },
          percentilesNs: Object.fromEntries(
            Object.entries(percentiles).filter(
              (entry): entry is [string, number] =>
                /^\d{1,2}(\.\d{1,3})?$/.test(entry[0]) && typeof entry[1] === 'number' && entry[1] >= 0,
            ),
          ),
        })
      : undefined;
  };
  return withoutAbsent({
    ...{ queue: figures('queue'), prefill: figures('prefill'), kvTransfer: figures('kvTransfer') },
  });
}

function request(row: JsonObject): BenchRequest {
  const number = (name: string) => {
    const value = numberAt(row, name);
    return value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined;
  };
  return withoutAbsent({
    id: number('id'),
    inputTokens: number('inputTokens'),
    outputTokens: number('outputTokens'),
    startNs: number('startNs'),
    e2eNs: number('e2eNs'),
    ttftNs: number('ttftNs'),
    tpotNs: number('tpotNs'),
    serverId: textLike(/^[0-9a-f]{12}$/, at(row, 'serverId')),
    failed: at(row, 'failed') === true ? (true as const) : undefined,
  });
}

function stateOf(row: JsonObject): EngineState {
  const number = (name: string, most = Number.MAX_SAFE_INTEGER) => {
    const value = numberAt(row, name);
    return value !== undefined && value >= 0 && value <= most ? value : undefined;
  };
  return withoutAbsent({
    ...{ atNs: number('atNs'), iteration: number('iteration'), running: number('running') },
    ...{ waiting: number('waiting'), kvShare: number('kvShare', 1) },
  });
}

const textLike = (pattern: RegExp, value: unknown) =>
  typeof value === 'string' && pattern.test(value) ? value : undefined;

/** Files of earlier versions have only the date of the whole run, whose levels begin later. */
function clockOf(document: JsonObject, level: JsonObject): NonNullable<BenchRun['clock']> {
  const utcNs = textLike(/^\d{1,20}$/, at(level, 'begin', 'utcNs'));
  const dateMs = Date.parse(String(at(document, 'date')));
  const isFirst = listAt(document, 'levels')[0] === level && !numberAt(at(document, 'settings'), 'rampNs');
  const warmup = numberAt(at(document, 'settings'), 'warmup');
  return withoutAbsent({
    utcNs,
    monotonicNs: textLike(/^\d{1,20}$/, at(level, 'begin', 'monotonicNs')),
    machine: textLike(/^[0-9a-f]{16}$/, at(document, 'machine')),
    notBeforeNs:
      utcNs === undefined && Number.isFinite(dateMs) && dateMs > 0
        ? String(BigInt(dateMs) * 1_000_000n)
        : undefined,
    // One request tries the server out.
    requestsBefore:
      utcNs === undefined && isFirst && warmup !== undefined && warmup >= 0 ? warmup + 1 : undefined,
  });
}

function addNote(draft: RunDraft, note: unknown): void {
  const code = at(note, 'code');
  const text = at(note, 'text');
  const severity = (['info', 'warning', 'loss'] as NoteSeverity[]).find(
    name => name === at(note, 'severity'),
  );
  if (typeof code !== 'string' || typeof text !== 'string' || !severity) return;
  draft.notes.add(
    code.slice(0, 100),
    severity,
    text.slice(0, 300),
    String(at(note, 'example') ?? ''),
    numberAt(note, 'count') ?? 1,
  );
}
