/** Cuts a stretch of time out of a timeline: the events in it as columns, the steps in it, the labels that occur. */
import { lowerBound, upperBound } from '../base/bisect.js';
import type { Snapshot, SnapshotLane } from './snapshot-document.js';
import type { TimelineData } from './timeline-data.js';
import { rowAt } from './track.js';
import type { StepsDocument } from './wire.js';

export interface CutTimeline {
  readonly document: Snapshot['document'];
  readonly tracks: Snapshot['tracks'];
  readonly labels: Snapshot['labels'];
  /** start f64 · end f64 · label i32 · row i32 · tone u8, or start f64 · value f64, lane after lane; each padded to 8. */
  readonly columns: Uint8Array;
  /** Per lane id: how many of its events lie before the first one kept. */
  readonly skipped: ReadonlyMap<number, number>;
  /** Positions of the steps kept, in the steps of the whole. */
  readonly steps: { readonly first: number; readonly last: number } | null;
}

const padded = (bytes: number) => Math.ceil(bytes / 8) * 8;
export const sliceColumnBytes = (length: number) => padded(length * 25);
export const areaColumnBytes = (length: number) => length * 16;

export function cutTimeline(data: TimelineData, fromNs: number, toNs: number): CutTimeline {
  const labels: [string, string][] = [];
  const renamed = new Map<number, number>();
  const labelOf = (id: number) => {
    let own = renamed.get(id);
    if (own === undefined) {
      own = labels.length;
      renamed.set(id, own);
      labels.push([data.labels.text(id), data.labels.name(id)]);
    }
    return own;
  };
  const pieces: Uint8Array[] = [];
  const skipped = new Map<number, number>();
  let id = 0;
  const tracks = data.tracks.flatMap((track, place) => {
    const lanes = track.lanes.flatMap((lane): SnapshotLane[] => {
      const own = id++;
      if (lane.kind === 'area') {
        const { start, mean } = lane.levels[0];
        const first = Math.max(0, upperBound(start, fromNs) - 1);
        const last = lowerBound(start, toNs);
        if (last <= first) return [];
        const bytes = new ArrayBuffer(areaColumnBytes(last - first));
        new Float64Array(bytes, 0, last - first).set(start.subarray(first, last));
        new Float64Array(bytes, (last - first) * 8, last - first).set(mean.subarray(first, last));
        pieces.push(new Uint8Array(bytes));
        return [{ id: own, length: last - first }];
      }
      const { start, end, label, tone, row, source } = lane.data;
      const first = Math.min(upperBound(end, fromNs), lowerBound(start, fromNs));
      const length = lowerBound(start, toNs) - first;
      if (length <= 0) return [];
      skipped.set(own, first);
      const bytes = new ArrayBuffer(sliceColumnBytes(length));
      new Float64Array(bytes, 0, length).set(start.subarray(first, first + length));
      new Float64Array(bytes, length * 8, length).set(end.subarray(first, first + length));
      const labels = new Int32Array(bytes, length * 16, length);
      const rows = new Int32Array(bytes, length * 20, length);
      for (let i = 0; i < length; i++) {
        labels[i] = labelOf(label[first + i]);
        rows[i] = rowAt(row, first + i);
      }
      new Uint8Array(bytes, length * 24, length).set(tone.subarray(first, first + length));
      pieces.push(new Uint8Array(bytes));
      return [{ id: own, source, length }];
    });
    if (lanes.length === 0) return [];
    const { lanes: _, events: __, tones: ___, ...rest } = data.document.tracks[place];
    return [{ ...rest, lanes }];
  });
  const steps = stepsWithin(data.document.steps, fromNs, toNs);
  const { tracks: _, overviewBytes: __, ...document } = data.document;
  const groups = new Set(tracks.map(({ group }) => group));
  return {
    document: {
      ...document,
      startNs: fromNs,
      endNs: toNs,
      main: { startNs: fromNs, endNs: toNs },
      groups: document.groups.filter(group => groups.has(group.id)),
      steps: cutSteps(document.steps, steps),
      labels: labels.length,
    },
    tracks,
    labels,
    columns: joined(pieces),
    skipped,
    steps,
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function stepsWithin({ startNs, endNs, length }: StepsDocument, fromNs: number, toNs: number) {
  let [first, last] = [-1, -1];
  for (let i = 0; i < length; i++) {
    if (startNs[i] < fromNs || endNs[i] > toNs) continue;
    if (first < 0) first = i;
    last = i;
  }
  return first < 0 ? null : { first, last };
}

function cutSteps(steps: StepsDocument, kept: CutTimeline['steps']): StepsDocument {
  const part = <T>(column: readonly T[]) => (kept ? column.slice(kept.first, kept.last + 1) : []);
  return {
    ...steps,
    length: kept ? kept.last - kept.first + 1 : 0,
    iteration: part(steps.iteration),
    phase: part(steps.phase),
    startNs: part(steps.startNs),
    endNs: part(steps.endNs),
    wallNs: part(steps.wallNs),
    busyNs: part(steps.busyNs),
    kernels: part(steps.kernels),
    batch: part(steps.batch),
    state: part(steps.state),
  };
}
