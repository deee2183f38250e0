/**
 * What Stepscope derived, as tracks of a trace: steps, phases, layers, idle time by cause, memory in use, and findings
 * with the times of their evidence. Only what the profile can answer; what it cannot has no track.
 */
import type { Analyzer } from '../../analyze/analysis.js';
import type { Finding } from '../../analyze/findings/finding.js';
import { findings } from '../../analyze/findings/findings.js';
import { gpuWork } from '../../analyze/gpu/gpu-work.js';
import { memoryCurves } from '../../analyze/gpu/memory-in-use.js';
import { gapJudge } from '../../analyze/inference/idle-causes.js';
import { layerOfWork } from '../../analyze/inference/layer-of-work.js';
import { selection } from '../../analyze/inference/selection.js';
import { stepWindows } from '../../analyze/inference/step-windows.js';
import { stepsOf } from '../../analyze/inference/steps.js';
import { NONE } from '../../base/column.js';
import { phases } from '../../catalog/phases.js';
import { withoutSecrets } from '../../catalog/secret-shapes.js';
import type { TimeWindow } from '../../model/slice.js';
import { causeLabelsIn, idleTrack } from '../gpu-tracks.js';
import { EventLabels } from '../labels.js';
import { layersTracks } from '../layers-track.js';
import { batchText, stepLabel } from '../step-label.js';
import type { Track } from '../track.js';
import { ifRecorded } from './if-recorded.js';
import { OWN_CATEGORY, type TraceArguments, type TraceEvent, type TraceSlice } from './trace-event.js';

/** The results that these events are made from. */
export const ownReads = [findings, memoryCurves, stepsOf, stepWindows, gapJudge, layerOfWork, selection];

export function* ownEvents(analyzer: Analyzer, window: TimeWindow): Iterable<TraceEvent> {
  const { profile } = analyzer;
  const hasWork = Boolean(profile.tables.kernels ?? profile.tables.copies ?? profile.tables.graphLaunches);
  const within = ({ startNs, endNs }: TraceSlice) =>
    startNs < window.toNs && (endNs > window.fromNs || startNs >= window.fromNs);
  if (hasWork) {
    const labels = new EventLabels(profile);
    const layers = ifRecorded(() => layersTracks(analyzer, labels));
    for (const gpu of analyzer.get(gpuWork).devices) {
      const steps = ifRecorded(() => [...stepEvents(analyzer, gpu)]) ?? [];
      yield* [...steps, ...phaseEvents(steps, gpu)].filter(within);
      const idle = ifRecorded(() => idleTrack(analyzer, gpu, '', causeLabelsIn(labels))) ?? [];
      for (const track of idle) yield* filtered(trackEvents(track, labels, gpu, 'idle'), within);
      const own = layers?.get(gpu);
      if (own) yield* filtered(trackEvents(own, labels, gpu, 'layer'), within);
    }
  }
  for (const { gpu, at, bytes } of ifRecorded(() => analyzer.get(memoryCurves)) ?? [])
    for (let i = 0; i < at.length; i++)
      if (at[i] >= window.fromNs && at[i] < window.toNs)
        yield {
          ...{ kind: 'counter', gpu, name: 'memory in use', unit: 'bytes' },
          ...{ startNs: at[i], value: bytes[i] },
        };
  const found = ifRecorded(() => analyzer.get(findings).findings) ?? [];
  const span = spanOf(analyzer);
  for (const finding of found) yield* filtered(findingEvents(finding, span), within);
}

function* filtered(
  events: Iterable<TraceSlice>,
  within: (event: TraceSlice) => boolean,
): Iterable<TraceSlice> {
  for (const event of events) if (within(event)) yield event;
}

function* stepEvents(analyzer: Analyzer, gpu: number): Iterable<TraceSlice> {
  const found = analyzer.get(stepsOf);
  if (!found) return;
  for (const { step, device, start, end, busyNs } of analyzer.get(stepWindows) ?? []) {
    if (device !== gpu) continue;
    const { iteration, facts } = found.steps[step];
    const batch = batchText(facts);
    yield {
      kind: 'slice',
      place: { kind: 'own', gpu, track: 'steps' },
      category: `${OWN_CATEGORY}step`,
      name: stepLabel(iteration, facts),
      startNs: start,
      endNs: end,
      args: {
        iteration,
        phase: facts.phase,
        'GPU busy ns': busyNs,
        ...(batch ? { batch } : {}),
        'found by': found.method,
        confidence: found.confidence,
      },
    };
  }
}

/** Steps of one phase that follow each other without a gap are one slice. */
function phaseEvents(steps: readonly TraceSlice[], gpu: number): TraceSlice[] {
  const runs: { phase: string; startNs: number; endNs: number; steps: number }[] = [];
  for (const { args, startNs, endNs } of steps) {
    const phase = String(args?.phase);
    const last = runs.at(-1);
    if (last && last.phase === phase && last.endNs === startNs) {
      last.endNs = endNs;
      last.steps++;
    } else runs.push({ phase, startNs, endNs, steps: 1 });
  }
  return runs.map(({ phase, startNs, endNs, steps: count }) => ({
    kind: 'slice',
    place: { kind: 'own', gpu, track: 'phases' },
    category: `${OWN_CATEGORY}phase`,
    name: phases.find(({ id }) => id === phase)?.label ?? phase,
    ...{ startNs, endNs },
    args: { steps: count },
  }));
}

function* trackEvents(track: Track, labels: EventLabels, gpu: number, kind: string): Iterable<TraceSlice> {
  for (const [depth, lane] of track.lanes.entries()) {
    if (lane.kind !== 'slices') continue;
    const { start, end, label, length } = lane.data;
    const place = { kind: 'own', gpu, track: depth === 0 ? track.label : `${track.label}, parts` } as const;
    for (let i = 0; i < length; i++) {
      const [name, about] = [labels.text(label[i]), labels.name(label[i])];
      yield {
        kind: 'slice',
        ...{ place, name, startNs: start[i], endNs: end[i] },
        category: `${OWN_CATEGORY}${kind}`,
        ...(about === name ? {} : { args: { about } }),
      };
    }
  }
}

/** From the first selected window to the last; of everything where nothing ran on a GPU. */
function spanOf(analyzer: Analyzer): TimeWindow {
  const windows = ifRecorded(() => analyzer.get(selection).windows) ?? [];
  let [fromNs, toNs] = [Infinity, -Infinity];
  const add = (start: number, end: number) => {
    if (start < fromNs) fromNs = start;
    if (end > toNs) toNs = end;
  };
  for (const { start, end } of windows) add(start, end);
  const calls = analyzer.profile.tables.apiCalls as unknown as
    | { readonly start: Float64Array; readonly end: Float64Array }
    | undefined;
  if (windows.length === 0 && calls)
    for (let row = 0; row < calls.start.length; row++) add(calls.start[row], calls.end[row]);
  return { fromNs, toNs };
}

/** One slice per piece of evidence that has a time; a finding without any lies over all that was looked at. */
function* findingEvents(finding: Finding, span: TimeWindow): Iterable<TraceSlice> {
  const { id, claim, phase, severity, confidence, costNs, gain, evidence, advice, confirm } = finding;
  const timed = evidence.filter(({ window }) => window !== undefined);
  const clean = (text: string) => withoutSecrets(text, () => {});
  const common: TraceArguments = {
    ...{ rule: id, claim: clean(claim), severity, confidence },
    ...(phase === null ? {} : { phase }),
    ...(costNs === null ? {} : { 'cost ns per step': costNs }),
    ...(gain === null ? {} : { 'gain ns per step': gain.nsPerStep, 'gain estimated': gain.how }),
    evidence: evidence.map(({ text }) => clean(text)),
    advice: advice.map(({ engine, text }) => `${engine}: ${clean(text)}`),
    confirm: clean(confirm),
  };
  const slice = (startNs: number, endNs: number, where: string): TraceSlice => ({
    kind: 'slice',
    place: { kind: 'own', gpu: NONE, track: `finding: ${id}` },
    category: `${OWN_CATEGORY}finding`,
    name: clean(claim),
    ...{ startNs, endNs },
    args: { ...common, time: where },
  });
  for (const { window, text } of timed) yield slice(window!.startNs, window!.endNs, clean(text));
  if (timed.length === 0 && span.toNs > span.fromNs)
    yield slice(span.fromNs, span.toNs, 'of the whole selection: the evidence names no time');
}
