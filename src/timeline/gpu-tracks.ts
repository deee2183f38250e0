/** What a GPU did: steps, idle time by cause, layers, every stream with its graph replays, communication, copies. */

import type { Analyzer } from '../analyze/analysis.js';
import { type GpuWork, gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { familyIndex, HIDDEN, workFamilies } from '../analyze/gpu/work-families.js';
import { stepWindows } from '../analyze/inference/step-windows.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { nameTest } from '../analyze/name-test.js';
import { callsNamed } from '../analyze/names-used.js';
import { NONE } from '../base/column.js';
import { formatBytes, plural } from '../base/units.js';
import { GRAPH_LAUNCH } from '../catalog/host-activities.js';
import { idleCauses } from '../catalog/idle-causes.js';
import type { Profile } from '../model/profile.js';
import { idleLanes } from './idle-lanes.js';
import { type EventLabels, LaneBuilder, labelCells } from './labels.js';
import { layersTracks } from './layers-track.js';
import { type EventSource, makeLane, makeLanes, rowsByOwner } from './make-lanes.js';
import { toneOf } from './palettes.js';
import { levelsWith } from './slice-pyramid.js';
import { stepLabel } from './step-label.js';
import type { LaneData, SliceLane, Track } from './track.js';

/** Streams beyond these, least busy last, are folded away, and those with less than this part of the busiest's work. */
const OPEN_STREAMS = 6;
const WORTH_OPENING = 0.01;
/** Kernels of one stream that overlap by less follow each other: that is how exactly the GPU's clock was read. */
const TOUCHING_NS = 1000;

export function gpuTracks(analyzer: Analyzer, labels: EventLabels): { tracks: Track[]; tooDeep: number } {
  const work = analyzer.get(gpuWork);
  const { profile } = analyzer;
  const source = workSource(analyzer, work, labels);
  const byStream = rowsByOwner(work.stream, profile.streams.length);
  const replays = graphReplays(analyzer, work, byStream, labels);
  const layers = layersTracks(analyzer, labels);
  const communication = familyIndex('communication');
  const { family } = analyzer.get(workFamilies);
  const onDevices = (wanted: (i: number) => boolean) => {
    const lists = profile.gpus.map((): number[] => []);
    for (let i = 0; i < work.length; i++) if (wanted(i)) lists[work.device[i]].push(i);
    return lists.map(list => Int32Array.from(list));
  };
  const copies = onDevices(i => work.kind[i] === WorkKind.copy || work.kind[i] === WorkKind.memset);
  const exchanged = onDevices(i => family[i] === communication);
  let tooDeep = 0;
  const lanesOf = (rows: Int32Array): SliceLane[] => {
    const made = makeLanes(rows, source, TOUCHING_NS);
    tooDeep += made.tooDeep;
    return made.lanes;
  };
  const tracks = work.devices.flatMap((device): Track[] => {
    const group = `gpu:${device}`;
    const streams = profile.streams.flatMap((stream, row) =>
      stream.gpu === device && byStream[row].length > 0 ? [row] : [],
    );
    const byBusy = [...streams].sort((a, b) => byStream[b].length - byStream[a].length);
    const several = (name: string, rows: Int32Array, id: string): Track[] =>
      rows.length === 0
        ? []
        : [{ id: `${group}/${id}`, group, label: name, palette: 'family', lanes: lanesOf(rows) }];
    const steps = stepsTrack(analyzer, device, group, labels);
    const causeLabels = causeLabelsIn(labels);
    const others = [
      ...(layers.get(device) ? [layers.get(device)!] : []),
      ...byBusy.map(
        (row, place): Track => ({
          id: `${group}/stream:${row}`,
          group,
          label: streamLabel(profile, row, streams),
          palette: 'family',
          lanes: [...(replays[row] ? [replays[row]] : []), ...lanesOf(byStream[row])],
          ...(place >= OPEN_STREAMS || byStream[row].length < WORTH_OPENING * byStream[byBusy[0]].length
            ? { collapsed: true }
            : {}),
        }),
      ),
      ...several('communication', exchanged[device], 'communication'),
      ...several('copies', copies[device], 'copies'),
    ];
    // Last: a thread that helps may still be making it.
    return [...steps, ...idleTrack(analyzer, device, group, causeLabels), ...others];
  });
  return { tracks, tooDeep };
}

/** Processes and contexts number their streams alike: where numbers repeat, the process is named too. */
export function streamLabel(
  { streams, processes }: Profile,
  row: number,
  onDevice: readonly number[],
): string {
  const { streamId, process, contextId } = streams[row];
  const alike = onDevice.filter(other => streams[other].streamId === streamId);
  if (alike.length === 1) return `stream ${streamId}`;
  const owners = [...new Set(alike.map(other => streams[other].process))];
  if (owners.length === 1) return `stream ${streamId} · context ${contextId}`;
  const { pid } = processes[process];
  // Two recordings of one process have its number in common.
  const alsoIts = owners.filter(owner => processes[owner].pid === pid);
  const whose = alsoIts.length > 1 ? `recording ${alsoIts.indexOf(process) + 1}` : `pid ${pid}`;
  return `stream ${streamId} · ${whose}`;
}

function workSource(analyzer: Analyzer, work: GpuWork, labels: EventLabels): EventSource {
  const { profile } = analyzer;
  const { family, classOf } = analyzer.get(workFamilies);
  const kernels = profile.tables.kernels;
  const copies = profile.tables.copies;
  const memsets = profile.tables.memsets;
  const known: number[] = [];
  const kernelLabel = (id: number) =>
    (known[id] ??= labels.of(classOf(id).shortName, profile.strings.text(id)));
  const direction: Record<number, string> = { 1: 'H→D', 2: 'D→H', 8: 'D→D', 10: 'P→P' };
  const block = labels.of('graph replay (kernels not recorded)');
  const hidden = toneOf('family', 'graph-block');
  return {
    source: 'work',
    labels,
    start: work.start,
    end: row => work.end[row],
    ends: work.end,
    describe(rows, label, tone) {
      for (let at = 0; at < rows.length; at++) {
        const i = rows[at];
        label[at] =
          work.kind[i] === WorkKind.kernel ? kernelLabel(kernels!.name[work.row[i]]) : otherLabel(i);
        tone[at] = family[i] === HIDDEN ? hidden : family[i];
      }
    },
  };

  function otherLabel(i: number): number {
    const row = work.row[i];
    switch (work.kind[i]) {
      case WorkKind.copy:
        return labels.of(`copy ${direction[copies!.kind[row]] ?? ''} ${formatBytes(copies!.bytes[row])}`);
      case WorkKind.memset:
        return labels.of(`memset ${formatBytes(memsets!.bytes[row])}`);
      default:
        return block;
    }
  }
}

/** Per stream, one event for each replay of a graph whose nodes were recorded: from its first node to its last. */
function graphReplays(
  { profile }: Analyzer,
  work: GpuWork,
  byStream: readonly Int32Array[],
  labels: EventLabels,
): (SliceLane | undefined)[] {
  const calls = profile.tables.apiCalls;
  if (!calls || callsNamed(profile, GRAPH_LAUNCH).length === 0) return [];
  const launches = nameTest(profile, GRAPH_LAUNCH);
  const tone = toneOf('family', 'graph-replay');
  return byStream.map(rows => {
    const replays = new LaneBuilder();
    let call: number = NONE;
    let first: number = NONE;
    let end = 0;
    let nodes = 0;
    const close = () => {
      if (nodes > 0)
        replays.add(work.start[first], end, labels.of(`graph · ${plural(nodes, 'node')}`), tone, first);
      nodes = 0;
    };
    for (let at = 0; at < rows.length; at++) {
      const i = rows[at];
      const own = work.kind[i] === WorkKind.graphBlock ? NONE : work.launch[i];
      if (own === NONE || own !== call || nodes === 0) {
        close();
        call = own;
        if (own === NONE || !launches(calls.name[own])) continue;
        first = i;
        end = work.end[i];
      }
      nodes++;
      if (work.end[i] > end) end = work.end[i];
    }
    close();
    return replays.length > 0 ? makeLane({ source: 'replays', ...replays.finish() }) : undefined;
  });
}

function stepsTrack(analyzer: Analyzer, device: number, group: string, labels: EventLabels): Track[] {
  const found = analyzer.get(stepsOf);
  const windows = (analyzer.get(stepWindows) ?? []).filter(window => window.device === device);
  if (!found || windows.length === 0) return [];
  const lane = new LaneBuilder();
  for (const { step, start, end } of windows) {
    const { iteration, facts } = found.steps[step];
    lane.add(start, end, labels.of(stepLabel(iteration, facts)), toneOf('phase', facts.phase), step);
  }
  const lanes = [makeLane({ source: 'steps', ...lane.finish() })];
  return [{ id: `${group}/steps`, group, label: 'steps', palette: 'phase', lanes }];
}

/** By cause of idle time. */
export const causeLabelsIn = (labels: EventLabels): readonly number[] =>
  idleCauses.map(({ label, about }) => labels.of(label, `${label}: ${about}`));

/** Every gap of the device, in pieces of one cause. */
export function idleTrack(
  analyzer: Analyzer,
  device: number,
  group: string,
  causeLabels: readonly number[],
): Track[] {
  const unnamed = analyzer.get(idleLanes).get(device);
  if (!unnamed) return [];
  const { levels, ...lane } = unnamed;
  const label = labelCells(lane.length, { length: 1 + Math.max(...causeLabels) }, cells => {
    for (let at = 0; at < lane.length; at++) cells[at] = causeLabels[lane.tone[at]];
  });
  const data: LaneData = { source: 'idle', ...lane, label };
  const lanes: SliceLane[] = [{ kind: 'slices', data, levels: levelsWith(data, levels) }];
  return [{ id: `${group}/idle`, group, label: 'idle, by cause', palette: 'cause', lanes }];
}
