/** One opened profile as the page sees it. The server calls this and knows nothing of tracks or analyses. */
import type { Analyzer, Settings } from '../analyze/analysis.js';
import type { FlameDocument } from '../analyze/host-code/flame-document.js';
import type { SelectionAsked } from './selection/chosen-events.js';
import type { SelectedEvents } from './selection/selected-events.js';
import type { Snapshot, SnapshotAsked } from './snapshot-document.js';
import type { Bytes, StepSpan } from './spans.js';
import type {
  AnswerDocument,
  EventDocument,
  LikeDocument,
  MatchDocument,
  PanelDocument,
  RanksDocument,
  SearchDocument,
  SelectionDocument,
  TimelineDocument,
  WaitDocument,
} from './wire.js';

/** UserError is thrown for what the asker can mend: an unknown lane, a query that cannot be read. */
export interface ViewedProfile {
  readonly name: string;
  /** Computes what the first look needs, and says what it is about to do; `breathe` lets others have a turn in between. */
  prepare(onPhase: (phase: string) => void, breathe: () => Promise<void>): Promise<void>;
  /** Computes what the answer needs, in the same way. */
  prepareAnswer(breathe: () => Promise<void>): Promise<void>;
  timeline(): TimelineDocument;
  columns(): Bytes;
  labels(page: number): readonly string[];
  event(lane: number, index: number): EventDocument;
  like(name: string): LikeDocument;
  search(query: string): SearchDocument;
  searchColumns(query: string): Bytes;
  match(query: string, at: { readonly n: number } | { readonly near: number }): MatchDocument;
  selection(asked: SelectionAsked & { readonly of?: string; readonly by?: string }): SelectionDocument;
  /** The same events one by one. */
  selectedEvents(asked: SelectionAsked): SelectedEvents;
  ranks(): RanksDocument;
  waits(fromNs: number, toNs: number): readonly WaitDocument[];
  answer(steps?: StepSpan): AnswerDocument;
  panel(analysis: string, steps?: StepSpan): PanelDocument;
  /** Of steps, or of a stretch of time. */
  flame(steps?: StepSpan, during?: NonNullable<Settings['during']>): FlameDocument;
  /** The analyses of these steps, for those who compare them with others'. */
  lookingAt(steps?: StepSpan): Analyzer;
  /** The view as a part that needs no server. */
  snapshot(asked: SnapshotAsked): { readonly snapshot: Snapshot; readonly columns: Uint8Array };
  /** Pieces of a Chrome trace of the window; joined they are one JSON document. */
  trace(fromNs: number, toNs: number): Iterable<string>;
  csv(fromNs: number, toNs: number): Iterable<string>;
}
