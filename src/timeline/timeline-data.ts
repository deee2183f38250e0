/** The whole timeline of a profile: tracks with their lanes numbered, as a document and as bytes. */
import type { Analyzer } from '../analyze/analysis.js';
import { analyses } from '../analyze/index.js';
import { describeHeader } from '../analyze/page.js';
import type { Profile } from '../model/profile.js';
import { memoryTracks, metricTracks } from './area-tracks.js';
import { type ColumnsFile, columnsFile } from './columns-file.js';
import { coresLabel, cpuTracks } from './cpu-tracks.js';
import { gpuTracks } from './gpu-tracks.js';
import { hostLanes } from './host-lanes.js';
import { hostTracks } from './host-tracks.js';
import { EventLabels } from './labels.js';
import { mainSpan } from './main-span.js';
import { palettes } from './palettes.js';
import { processesOf } from './ranks/rank-labels.js';
import { rankTracks } from './ranks/rank-tracks.js';
import { stepsDocument } from './steps-document.js';
import type { Track, TrackLane } from './track.js';
import { trackDocuments } from './track-documents.js';
import type { GroupDocument, TimelineDocument } from './wire.js';

export interface TimelineData {
  readonly document: TimelineDocument;
  readonly columns: ColumnsFile;
  readonly labels: Pick<EventLabels, 'length' | 'text' | 'name'>;
  readonly tracks: readonly Track[];
  /** All lanes by number, and the track each is in. */
  readonly lanes: readonly { readonly track: Track; readonly lane: TrackLane }[];
}

export function timelineData(analyzer: Analyzer): TimelineData {
  const { profile } = analyzer;
  const labels = new EventLabels(profile);
  const { kernels, copies, memsets, graphLaunches } = profile.tables;
  const onGpu =
    kernels || copies || memsets || graphLaunches ? gpuTracks(analyzer, labels) : { tracks: [], tooDeep: 0 };
  // Last: a thread that helps may still be making these.
  const { span } = analyzer.get(hostLanes);
  const onHost = hostTracks(analyzer, labels);
  const onCpus = cpuTracks(analyzer, labels);
  const byGroup = new Map<string, Track[]>();
  const hasWork = onGpu.tracks.length > 0;
  for (const track of [
    ...(hasWork ? rankTracks(analyzer, labels) : []),
    ...onGpu.tracks,
    ...metricTracks(analyzer),
    ...memoryTracks(analyzer, span.endNs),
    ...onHost.tracks,
    ...onCpus.tracks,
  ])
    byGroup.set(track.group, [...(byGroup.get(track.group) ?? []), track]);
  const tracks = [...byGroup.values()].flat();
  const lanes = tracks.flatMap(track => track.lanes.map(lane => ({ track, lane })));
  const columns = columnsFile(lanes.map(({ lane }, id) => ({ id, lane })));
  const tooDeep = onGpu.tooDeep + onHost.tooDeep;
  const document: TimelineDocument = {
    ...span,
    // Switches are recorded before and after everything else.
    main: mainSpan(
      lanes.filter(({ lane }) => lane.kind !== 'slices' || lane.data.source !== 'contextSwitches'),
      span,
    ),
    facts: describeHeader(analyzer).lines[0].split(' · '),
    steps: stepsDocument(analyzer),
    groups: groupsOf(profile, [...byGroup.keys()], onCpus.folded),
    tracks: trackDocuments(tracks, columns),
    palettes,
    labels: labels.length,
    overviewBytes: columns.overviewBytes,
    panels: analyses.map(({ id, title, question }) => ({ id, title, question })),
    notes: [
      ...profile.notes.map(({ text, severity, count }) => ({ text, severity, count })),
      ...(tooDeep > 0
        ? [{ text: 'events are nested too deeply to draw', severity: 'warning', count: tooDeep }]
        : []),
    ],
  };
  return { document, columns, labels, tracks, lanes };
}

/** GPUs first, then processes, then CPUs, each as a person would name it. */
function groupsOf(profile: Profile, ids: readonly string[], folded: ReadonlySet<string>): GroupDocument[] {
  const severalHosts = new Set(profile.gpus.map(gpu => gpu.host)).size > 1;
  return ids.map(id => {
    const [kind, number] = id.split(':');
    if (kind === 'gpu') {
      const { deviceId, name, host } = profile.gpus[Number(number)];
      return { id, label: [`GPU ${deviceId}`, name, severalHosts ? host : ''].filter(Boolean).join(' · ') };
    }
    if (kind === 'cpus')
      return {
        id,
        label: coresLabel(profile, Number(number)),
        ...(folded.has(id) ? { folded: true as const } : {}),
      };
    const { pid, name, rank } = profile.processes[Number(number)];
    const gpus = [...processesOf(profile)].filter(([, own]) => own.has(Number(number)));
    return {
      id,
      label: `${name || 'process'} ${pid}${rank === undefined ? '' : ` · rank ${rank}`}`,
      ...(gpus.length === 1 ? { under: `gpu:${gpus[0][0]}` } : {}),
    };
  });
}
