/**
 * One thread's part of a trace: it reads pieces of the file as it gets hold of them, and marks after each what it had
 * seen by then. From the marks all parts can be put together in the order of the file (see join-parts.ts).
 */
import { Buffer } from 'node:buffer';
import type { AnyArray } from '../../../base/column.js';
import { type Note, NoteCounter } from '../../../base/notes.js';
import { type PackedStrings, StringTable } from '../../../base/string-table.js';
import type { GivenCategories } from '../events/categories.js';
import { EventReader } from '../events/event-reader.js';
import { EventScanner } from '../events/event-scanner.js';
import { EventStore } from '../events/event-store.js';
import { Labels } from '../events/labels.js';
import type { GivenLanes } from '../events/lanes.js';
import type { Wanted } from '../events/read-trace.js';
import type { GivenName } from '../events/trace-names.js';
import { type GivenRows, kinetoTables } from '../events/trace-rows.js';
import { EventList } from '../read/event-list.js';

/** Room for pieces; one that ends in a long event gets more. */
const BUFFER_BYTES = 3 * 1024 * 1024;

/** How many of each a thread had seen at the end of a piece. */
export interface PieceMark {
  readonly piece: number;
  readonly strings: number;
  readonly labels: number;
  readonly categories: number;
  readonly places: number;
  readonly streams: number;
  readonly notes: number;
  /** Rows of each of kinetoTables. */
  readonly rows: readonly number[];
}

export interface Part {
  readonly marks: readonly PieceMark[];
  readonly strings: PackedStrings;
  readonly labels: PackedStrings;
  readonly categories: GivenCategories;
  readonly lanes: GivenLanes;
  readonly names: readonly GivenName[];
  readonly notes: readonly Note[];
  readonly rows: GivenRows;
  readonly events: number;
  readonly recording?: { readonly piece: number; readonly start: number; readonly end: number };
  readonly roundedDecimals: number;
  readonly exponentDecimals: number;
  readonly detailBytes: number;
}

/** Notes of things that only one reader of the whole file can judge. */
const beyondAPiece = ['damaged-event', 'damaged-metadata', 'loose-comma', 'oversized-value', 'unmatched-end'];

export class PartReader {
  readonly strings = new StringTable();
  readonly notes = new NoteCounter();
  readonly event: EventReader;
  readonly store: EventStore;
  private readonly labels = new Labels();
  private readonly list: EventList;
  private readonly marks: PieceMark[] = [];
  private recording: Part['recording'];
  private damaged = false;
  readonly scanner?: EventScanner;
  /** Where pieces lie. */
  private readonly buffer: Uint8Array;

  constructor({ unwanted, tables }: Wanted) {
    this.event = new EventReader(this.labels, unwanted);
    this.store = new EventStore(this, this.event, this.labels, tables);
    const noteDamage = () => {
      this.damaged = true;
    };
    const damage = { begins: noteDamage, ends: noteDamage };
    this.scanner = EventScanner.create(BUFFER_BYTES, unwanted);
    this.buffer = this.scanner?.bytes ?? new Uint8Array(BUFFER_BYTES);
    this.list = new EventList(this.event, this.store, this.notes, damage, this.scanner);
  }

  /** Times count from here, as another thread found out. */
  startAt(originMicros: number): void {
    this.store.originMicros = originMicros;
    this.event.sawTime = true;
  }

  /** Before a piece is read: its number, counted from the front of the file. */
  begin(piece: number): void {
    this.store.lanes.piece = piece;
    this.store.names.piece = piece;
  }

  /** Reads a piece from the middle of the list of events. False when it is not made of whole events. */
  read(piece: number, length: number, fill: (into: Uint8Array) => number): boolean {
    this.begin(piece);
    // The cursor puts two quotes behind the end.
    const buffer = length + 2 <= this.buffer.length ? this.buffer : Buffer.alloc(length + 2);
    if (fill(buffer.subarray(0, length)) !== length) return false;
    const { cursor } = this.list;
    cursor.reset(buffer, 0, length);
    this.list.openAtEvent();
    const closed = this.list.read();
    return !closed && cursor.pos === length && this.list.atEvent && this.end(piece);
  }

  /** After a piece was read. False when something in it needs what came before or comes behind. */
  end(piece: number): boolean {
    const { store, strings, labels, notes } = this;
    this.marks.push({
      piece,
      strings: strings.size,
      labels: labels.count,
      categories: store.categories.size,
      places: store.lanes.count,
      streams: store.lanes.streamCount,
      notes: notes.size,
      rows: kinetoTables.map(name => store.rows[name].start.length),
    });
    if (!Number.isNaN(store.recordingStart)) {
      this.recording = { piece, start: store.recordingStart, end: store.recordingEnd };
      store.recordingStart = Number.NaN;
    }
    const alone = notes.size === 0 || !beyondAPiece.some(code => notes.has(code));
    return alone && !this.damaged && store.openEvents === 0 && !labels.ambiguous;
  }

  /** Hands everything over. Ends the part. */
  give(): Part {
    const { store, labels, list } = this;
    const strings = this.strings.pack();
    return {
      marks: this.marks,
      strings,
      labels: labels.give(),
      categories: store.categories.give(),
      lanes: store.lanes.give(),
      names: store.names.give(),
      notes: this.notes.list(),
      rows: store.rows.give(),
      events: store.events,
      recording: this.recording,
      roundedDecimals: list.cursor.roundedDecimals,
      exponentDecimals: list.cursor.exponentDecimals,
      detailBytes: store.detailBytes,
    };
  }
}

/** The memory of a part that moves to another thread instead of being copied. */
export function memoryOf(part: Part): ArrayBuffer[] {
  const arrays: AnyArray[] = [part.strings.bytes, part.strings.ends];
  for (const table of Object.values(part.rows))
    for (const chunks of Object.values(table)) for (const chunk of chunks) arrays.push(chunk);
  return arrays.map(array => array.buffer as ArrayBuffer);
}
