/** Ranks against each other: who waited for whom in a stretch of time, and the time of every rank in every step. */
import type { Analyzer } from '../../analyze/analysis.js';
import { type CollectiveWaits, rankMatching } from '../../analyze/comm/collective-waits.js';
import { gpuWork, WorkKind } from '../../analyze/gpu/gpu-work.js';
import { layerOfWork } from '../../analyze/inference/layer-of-work.js';
import { stepWindows } from '../../analyze/inference/step-windows.js';
import { stepsOf } from '../../analyze/inference/steps.js';
import { NONE } from '../../base/column.js';
import { type Intervals, lengthWithin } from '../../base/intervals.js';
import type { RankHeat, RanksDocument, WaitDocument } from '../wire.js';
import { rankLabels } from './rank-labels.js';
import { rankParts } from './rank-tracks.js';

/** More lines than these hide what they show. */
const MOST_WAITS = 40;

/** The collectives of a stretch in which ranks waited longest, each with who came when. */
export function waitsWithin(analyzer: Analyzer, fromNs: number, toNs: number): WaitDocument[] {
  const { waits } = analyzer.get(rankMatching);
  if (!waits) return [];
  const found: { readonly wait: WaitDocument; readonly ns: number }[] = [];
  for (const collective of waits.collectives) {
    const { calls, lastRank } = collective;
    const last = calls.find(call => waits.calls.rank[call] === lastRank)!;
    const lastDevice = waits.calls.ranks[lastRank].device;
    const lastNs = waits.calls.start[last];
    if (lastDevice === NONE || lastNs < fromNs || lastNs > toNs) continue;
    const waiting = calls.flatMap(call => waitOf(waits, call, last));
    const ns = waiting.reduce((sum, one) => sum + one.untilNs - one.fromNs, 0);
    if (ns > 0) found.push({ wait: { lastDevice, lastNs, waiting }, ns });
  }
  found.sort((a, b) => b.ns - a.ns);
  return found.slice(0, MOST_WAITS).map(({ wait }) => wait);
}

function waitOf({ calls, waitingNs }: CollectiveWaits, call: number, last: number): WaitDocument['waiting'] {
  const { device } = calls.ranks[calls.rank[call]];
  if (call === last || device === NONE || !(waitingNs[call] > 0)) return [];
  return [{ device, fromNs: calls.start[call], untilNs: calls.start[call] + waitingNs[call] }];
}

const measures = [
  ['wall', 'step time'],
  ['compute', 'compute'],
  ['communication', 'exposed communication'],
  ['waiting', 'waiting for the last rank'],
  ['idle', 'idle'],
] as const;

export function ranksDocument(analyzer: Analyzer): RanksDocument {
  const parts = rankParts(analyzer);
  const devices = [...parts.keys()];
  const names = rankLabels(analyzer.profile);
  const ranks = devices.map(device => ({
    device,
    label: names.get(device) ?? `GPU ${device}`,
    group: `gpu:${device}`,
  }));
  return {
    ranks,
    problem: analyzer.get(rankMatching).problem ?? null,
    bySteps: stepHeats(analyzer, parts, devices),
    byLayers: layerHeats(analyzer, devices),
  };
}

function stepHeats(
  analyzer: Analyzer,
  parts: ReturnType<typeof rankParts>,
  devices: readonly number[],
): RankHeat[] {
  const steps = analyzer.get(stepsOf)?.steps.length ?? 0;
  const windows = analyzer.get(stepWindows) ?? [];
  if (steps === 0 || windows.length === 0) return [];
  const row = new Map(devices.map((device, i) => [device, i]));
  const values = new Map(
    measures.map(([id]) => [id, new Array<number | null>(devices.length * steps).fill(null)]),
  );
  for (const { device, step, start, end } of windows) {
    const at = (row.get(device) ?? NONE) * steps + step;
    if (at < 0) continue;
    const own = new Map<string, Intervals>(parts.get(device));
    const part = (id: string) => lengthWithin(own.get(id)!, start, end);
    const [compute, communication, waiting] = [part('compute'), part('communication'), part('waiting')];
    const add = (id: (typeof measures)[number][0], ns: number) => {
      const list = values.get(id)!;
      list[at] = (list[at] ?? 0) + ns;
    };
    add('wall', end - start);
    add('compute', compute);
    add('communication', communication);
    add('waiting', waiting);
    add('idle', Math.max(0, end - start - compute - communication - waiting - part('copy')));
  }
  return measures.map(([id, label]) => ({ id, label, columns: steps, values: values.get(id)! }));
}

/** Kernel time of each rank in each layer, where layers are named. */
function layerHeats(analyzer: Analyzer, devices: readonly number[]): RankHeat[] {
  const { layer } = analyzer.get(layerOfWork);
  const work = analyzer.get(gpuWork);
  let columns = 0;
  for (let i = 0; i < work.length; i++) if (layer[i] !== NONE) columns = Math.max(columns, layer[i] + 1);
  if (columns < 2 || columns > 1000) return [];
  const row = new Map(devices.map((device, i) => [device, i]));
  const values = new Array<number | null>(devices.length * columns).fill(null);
  for (let i = 0; i < work.length; i++) {
    if (layer[i] === NONE || work.kind[i] !== WorkKind.kernel) continue;
    const at = row.get(work.device[i])! * columns + layer[i];
    values[at] = (values[at] ?? 0) + work.end[i] - work.start[i];
  }
  return [{ id: 'layer', label: 'kernel time', columns, values }];
}
