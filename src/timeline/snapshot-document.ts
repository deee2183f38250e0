/**
 * A part of a profile that needs no server: the events of a stretch of time as columns, the steps in it, and the
 * documents that were computed from the whole profile. The page makes levels of detail, searches and selections from
 * the columns itself, with the code the server uses (open-snapshot.ts).
 */
import type { WrittenNote } from './notes.js';
import type { StepSpan } from './spans.js';
import type { LaneSource } from './track.js';
import type { EventDocument, TimelineDocument, TrackDocument, WaitDocument } from './wire.js';

export interface SnapshotLane {
  readonly id: number;
  /** Area lanes have none. */
  readonly source?: LaneSource;
  readonly length: number;
}

/** Packed, see snapshot-details.ts. */
export interface SnapshotDetails {
  /** Label and text of each fact that occurs. */
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** Per lane, for each event from the first on: the numbers of its facts. */
  readonly lanes: Readonly<Record<number, readonly (readonly number[])[]>>;
  /** Per lane and event: how many more there are, then kind of relation, lane and number of each event it is tied to. */
  readonly links: Readonly<Record<number, Readonly<Record<number, readonly number[]>>>>;
}

export interface Snapshot {
  readonly name: string;
  /** Without levels and bytes, which the page makes. */
  readonly document: Omit<TimelineDocument, 'tracks' | 'overviewBytes'>;
  readonly tracks: readonly (Omit<TrackDocument, 'lanes' | 'events' | 'tones'> & {
    readonly lanes: readonly SnapshotLane[];
  })[];
  /** Short and full texts of the labels that occur. */
  readonly labels: readonly (readonly [string, string])[];
  /** Answers by address. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The selected one, with all that is known of it. */
  readonly events: readonly EventDocument[];
  /** What is known of the others. */
  readonly details: SnapshotDetails;
  /** Who waited for whom, the longest waits of the stretch. */
  readonly waits: readonly WaitDocument[];
  readonly notes: readonly WrittenNote[];
  /** The view, as in an address. */
  readonly at: string;
  /** What of the profile this is, in words. */
  readonly about: string;
}

export interface SnapshotAsked {
  readonly fromNs: number;
  readonly toNs: number;
  readonly steps?: StepSpan;
  readonly event?: { readonly lane: number; readonly index: number };
  readonly notes: readonly WrittenNote[];
  readonly at: string;
}
