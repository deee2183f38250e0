/**
 * The outer shape of a trace file, in whatever pieces its bytes come:
 *
 *   { "schemaVersion": 1, …metadata…, "traceEvents": [ {…}, {…} ], …more metadata… }      or      [ {…}, {…} ]
 *
 * Each complete event and each metadata value is handed on once; a damaged stretch costs what is in it, not the rest.
 */
import { ByteWindow } from '../../../base/json/byte-window.js';
import { type JsonCursor, Trouble } from '../../../base/json/json-cursor.js';
import { ValueSkipper } from '../../../base/json/value-skipper.js';
import type { NoteCounter } from '../../../base/notes.js';
import type { EventReader } from '../events/event-reader.js';
import type { EventStore } from '../events/event-store.js';
import { EventList } from './event-list.js';
import type { TraceMetadata } from './metadata.js';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const SPACE = 0x20;

/** Larger than any event of a real trace; what is larger is stepped over, so memory stays bounded. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
const WINDOW_BYTES = 6 * 1024 * 1024;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const State = { opening: 0, metadata: 1, events: 2, done: 3, skipping: 4 } as const;

export class TraceStream {
  readonly cursor: JsonCursor;
  private readonly list: EventList;
  private readonly window = new ByteWindow(WINDOW_BYTES);
  private state: number = State.opening;
  private bareArray = false;
  private skipper = new ValueSkipper();
  private afterSkip: number = State.events;
  /** Not worth trying again before this many bytes are there: a long value is not read anew for every chunk. */
  private enough = 0;
  sawEvents = false;

  constructor(
    event: EventReader,
    store: EventStore,
    private readonly metadata: TraceMetadata,
    private readonly notes: NoteCounter,
  ) {
    this.list = new EventList(event, store, at => this.noteDamage(at));
    this.cursor = this.list.cursor;
  }

  /** True when the file's closing bracket has come. */
  get complete(): boolean {
    return this.state === State.done;
  }

  /** True when everything so far was used up and the next byte belongs to the list of events. */
  get betweenEvents(): boolean {
    return this.state === State.events && this.window.length === 0;
  }

  append(chunk: Uint8Array): void {
    if (this.state === State.done) return;
    this.window.append(chunk);
    if (this.window.length >= this.enough) this.advance();
  }

  /** No more will come: a last try with what is left. */
  finish(): void {
    if (this.enough > 0) this.advance();
  }

  private advance(): void {
    const { window } = this;
    this.cursor.reset(window.bytes, window.start, window.end);
    this.enough = 0;
    while (this.state !== State.done && this.step()) window.start = this.cursor.pos;
    if (this.state === State.done || this.state === State.skipping) return;
    if (window.length > MAX_VALUE_BYTES) this.startSkipping();
    else if (window.length > WINDOW_BYTES / 2) this.enough = Math.min(window.length * 2, MAX_VALUE_BYTES + 1);
  }

  /** Takes one event, one metadata value or one piece of punctuation. False when more bytes are needed. */
  private step(): boolean {
    switch (this.state) {
      case State.opening:
        return this.stepOpening();
      case State.events:
        return this.stepEvents();
      case State.metadata:
        return this.stepMetadata();
      default:
        return this.stepSkipping();
    }
  }

  private stepOpening(): boolean {
    const byte = this.nextByte();
    if (byte < 0) return false;
    if (byte === OPEN_BRACE) this.state = State.metadata;
    else if (byte === OPEN_BRACKET) {
      this.state = State.events;
      this.bareArray = true;
      this.sawEvents = true;
    } else if (!BYTE_ORDER_MARK.includes(byte)) this.state = State.done;
    this.cursor.pos++;
    return true;
  }

  private stepEvents(): boolean {
    const closed = this.list.read();
    this.window.start = this.cursor.pos;
    if (closed) this.state = this.bareArray ? State.done : State.metadata;
    return closed;
  }

  private noteDamage(at: number): void {
    this.notes.add(
      'damaged-event',
      'loss',
      'Stretches between events that are not valid JSON were left out',
      `at byte ${this.window.offsetOf(at)}`,
    );
  }

  private stepMetadata(): boolean {
    const { cursor, window } = this;
    if (!cursor.nextKey()) {
      if (cursor.trouble === Trouble.ranOut) return false;
      if (cursor.trouble === Trouble.malformed) {
        this.notes.add('damaged-metadata', 'warning', 'Damaged stretches between metadata were left out');
        cursor.reset(cursor.bytes, cursor.pos + 1, cursor.end);
        return true;
      }
      this.state = State.done;
      return true;
    }
    const key = new TextDecoder().decode(
      cursor.bytes.subarray(cursor.textFrom, Math.min(cursor.textTo, cursor.textFrom + 200)),
    );
    const from = cursor.pos;
    if (key === 'traceEvents' && cursor.bytes[from] === OPEN_BRACKET) {
      this.state = State.events;
      this.sawEvents = true;
      cursor.pos++;
      return true;
    }
    cursor.skipValue();
    if (cursor.trouble === Trouble.malformed) {
      cursor.reset(cursor.bytes, from + 1, cursor.end);
      return true;
    }
    if (cursor.trouble === Trouble.ranOut) {
      // Only the value may be too large; its key has been read.
      if (window.length > MAX_VALUE_BYTES) window.start = from;
      return false;
    }
    this.metadata.add(key, cursor.bytes.subarray(from, cursor.pos));
    return true;
  }

  private startSkipping(): void {
    this.notes.add(
      'oversized-value',
      'loss',
      `Events or metadata larger than ${MAX_VALUE_BYTES / 1024 / 1024} MiB were left out`,
      `at byte ${this.window.offsetOf(this.window.start)}`,
    );
    this.afterSkip = this.state;
    this.state = State.skipping;
    this.skipper = new ValueSkipper();
    this.advance();
  }

  private stepSkipping(): boolean {
    const { window, cursor } = this;
    const after = this.skipper.skip(window.bytes, window.start, window.end);
    if (after < 0) {
      window.start = window.end;
      return false;
    }
    cursor.pos = after;
    this.state = this.afterSkip;
    return true;
  }

  private nextByte(): number {
    const { cursor } = this;
    while (cursor.pos < cursor.end && cursor.bytes[cursor.pos] <= SPACE) cursor.pos++;
    return cursor.pos < cursor.end ? cursor.bytes[cursor.pos] : -1;
  }
}
