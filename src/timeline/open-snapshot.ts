/** A snapshot as the timeline it was cut from: levels of detail, search and selections are made from its columns. */
import { areaPyramid } from './area-pyramid.js';
import { columnsFile } from './columns-file.js';
import { companyOf } from './event-company.js';
import { makeLane } from './make-lanes.js';
import { search } from './search/search.js';
import type { SelectionAsked } from './selection/chosen-events.js';
import { selectionDocument } from './selection/selection.js';
import { areaColumnBytes, sliceColumnBytes } from './snapshot.js';
import { unpackDetails } from './snapshot-details.js';
import type { Snapshot, SnapshotLane } from './snapshot-document.js';
import type { Bytes } from './spans.js';
import { timeFacts } from './time-facts.js';
import type { TimelineData } from './timeline-data.js';
import type { Track, TrackLane } from './track.js';
import { trackDocuments } from './track-documents.js';
import {
  type EventDocument,
  LABELS_PER_PAGE,
  type SearchDocument,
  type SelectionDocument,
  type TimelineDocument,
} from './wire.js';

export interface OpenedSnapshot {
  readonly document: TimelineDocument;
  readonly columns: Bytes;
  labels(page: number): readonly string[];
  event(lane: number, index: number): EventDocument;
  search(query: string): SearchDocument;
  searchColumns(query: string): Bytes;
  match(query: string, at: { readonly n: number } | { readonly near: number }): unknown;
  selection(asked: SelectionAsked & { readonly of?: string; readonly by?: string }): SelectionDocument;
}

export function openSnapshot(snapshot: Snapshot, bytes: ArrayBuffer): OpenedSnapshot {
  const data = dataOf(snapshot, bytes);
  const laneAt = (lane: number) => data.lanes[lane];
  const placeOf = (at: { readonly lane: number; readonly index: number }) => {
    const { lane } = laneAt(at.lane);
    if (lane?.kind !== 'slices') throw new Error('There is no such event.');
    const { start, end, label } = lane.data;
    return {
      title: data.labels.text(label[at.index]),
      startNs: start[at.index],
      endNs: end[at.index],
    };
  };
  const last: { query: string; result?: ReturnType<typeof search> } = { query: '' };
  const searched = (query: string) => {
    if (last.query !== query || !last.result) Object.assign(last, { query, result: search(data, query) });
    return last.result!;
  };
  return {
    document: data.document,
    columns: data.columns.bytes,
    labels: page =>
      snapshot.labels.slice(page * LABELS_PER_PAGE, (page + 1) * LABELS_PER_PAGE).map(([short]) => short),
    event(lane, index) {
      const known = snapshot.events.find(event => event.lane === lane && event.index === index);
      if (known) return known;
      const { track, lane: own } = laneAt(lane);
      if (own?.kind !== 'slices' || index >= own.data.length) throw new Error('There is no such event.');
      const { start, end, label, tone } = own.data;
      const look = data.document.palettes[track.palette][tone[index]];
      const details = unpackDetails(snapshot.details, lane, index);
      return {
        ...{ lane, index, startNs: start[index], endNs: end[index] },
        title: data.labels.text(label[index]),
        name: data.labels.name(label[index]),
        facts: [
          ...timeFacts(start[index], end[index]),
          ...(details?.facts ?? [
            { label: 'on', text: track.label },
            ...(look ? [{ label: 'kind', text: look.label }] : []),
          ]),
        ],
        company: companyOf(data, own.data, index),
        links: (details?.links ?? []).map(link => ({ ...link, ...placeOf(link) })),
        moreLinks: details?.moreLinks ?? 0,
      };
    },
    search: query => searched(query).document,
    searchColumns: query => searched(query).columns.bytes,
    match: (query, at) => ('n' in at ? searched(query).match(at.n) : searched(query).near(at.near)),
    selection: asked => selectionDocument(data, asked),
  };
}

/** Lanes keep the numbers they had in the profile; those that were left out are empty. */
function dataOf(snapshot: Snapshot, bytes: ArrayBuffer): TimelineData {
  const lanes: { track: Track; lane: TrackLane }[] = [];
  const tracks: Track[] = [];
  let at = 0;
  for (const { lanes: own, kind: _, ...rest } of snapshot.tracks) {
    const made = own.map((lane): TrackLane => {
      const opened = lane.source === undefined ? areaLane(lane, bytes, at) : sliceLane(lane, bytes, at);
      at += lane.source === undefined ? areaColumnBytes(lane.length) : sliceColumnBytes(lane.length);
      return opened;
    });
    const track: Track = { ...rest, lanes: made };
    tracks.push(track);
    made.forEach((lane, i) => {
      lanes[own[i].id] = { track, lane };
    });
  }
  const ids = snapshot.tracks.flatMap(track => track.lanes.map(({ id }) => id));
  const columns = columnsFile(ids.map(id => ({ id, lane: lanes[id].lane })));
  const labels = {
    length: snapshot.labels.length,
    text: (id: number) => snapshot.labels[id]?.[0] ?? '',
    name: (id: number) => snapshot.labels[id]?.[1] ?? '',
  };
  const document: TimelineDocument = {
    ...snapshot.document,
    tracks: trackDocuments(tracks, columns),
    overviewBytes: columns.overviewBytes,
  };
  const empty = { track: tracks[0], lane: { kind: 'area', levels: [] } as const };
  const all = Array.from(lanes, lane => lane ?? empty);
  return { document, columns, labels, tracks, lanes: all };
}

function sliceLane({ length, source }: SnapshotLane, bytes: ArrayBuffer, at: number): TrackLane {
  return makeLane({
    source: source!,
    length,
    start: new Float64Array(bytes, at, length),
    end: new Float64Array(bytes, at + length * 8, length),
    label: new Int32Array(bytes, at + length * 16, length),
    row: new Int32Array(bytes, at + length * 20, length),
    tone: new Uint8Array(bytes, at + length * 24, length),
  });
}

function areaLane({ length }: SnapshotLane, bytes: ArrayBuffer, at: number): TrackLane {
  const start = new Float64Array(bytes, at, length);
  return {
    kind: 'area',
    levels: areaPyramid({ start, value: new Float64Array(bytes, at + length * 8, length) }),
  };
}
