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
import type { EventScanner } from '../events/event-scanner.js';
import type { EventStore } from '../events/event-store.js';
import { EventList, noteLooseComma, noteOddValues } from './event-list.js';
import type { TraceMetadata } from './metadata.js';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const white = new Set([0x20, 0x0a, 0x0d, 0x09]);

/** Larger than any event of a real trace; what is larger is stepped over, so memory stays bounded. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
export const WINDOW_BYTES = 6 * 1024 * 1024;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const State = { opening: 0, metadata: 1, events: 2, behind: 3, skipping: 4 } as const;

/** Where in the outermost object we are. */
const Place = { opened: 0, afterEntry: 1, afterComma: 2 } as const;

export class TraceStream {
  readonly cursor: JsonCursor;
  private readonly list: EventList;
  private readonly window: ByteWindow;
  private state: number = State.opening;
  private bareArray = false;
  private skipper = new ValueSkipper();
  private afterSkip: number = State.events;
  /** Not worth trying again before this many bytes are there: a long value is not read anew for every chunk. */
  private enough = 0;
  private place: number = Place.opened;
  /** Where the stretch of damage that has not ended began. */
  private lostFrom = -1;
  private lastByte = 0;
  sawEvents = false;

  constructor(
    event: EventReader,
    store: EventStore,
    private readonly metadata: TraceMetadata,
    private readonly notes: NoteCounter,
    scanner?: EventScanner,
  ) {
    this.window = new ByteWindow(scanner?.bytes ?? WINDOW_BYTES);
    const damage = {
      begins: (at: number) => {
        this.lostFrom = this.window.offsetOf(at);
      },
      ends: (at: number) => this.noteDamage(this.window.offsetOf(at)),
    };
    this.list = new EventList(event, store, notes, damage, scanner);
    this.cursor = this.list.cursor;
  }

  /** True when the file's closing bracket has come, or what is damaged at its end looks like it. */
  get complete(): boolean {
    if (this.state === State.behind) return true;
    return this.list.isLost && (this.lastByte === CLOSE_BRACE || this.lastByte === CLOSE_BRACKET);
  }

  /** True when everything so far was used up and sound, and the next byte is that of an event. */
  get betweenEvents(): boolean {
    return this.state === State.events && this.window.length === 0 && this.list.atEvent;
  }

  append(chunk: Uint8Array): void {
    for (let i = chunk.length - 1; i >= 0; i--) {
      if (white.has(chunk[i])) continue;
      this.lastByte = chunk[i];
      break;
    }
    this.window.append(chunk);
    if (this.window.length >= this.enough) this.advance();
  }

  /** No more will come: a last try with what is left. */
  finish(): void {
    this.advance(true);
    if (this.list.isLost) this.noteDamage(this.window.offsetOf(this.window.end));
  }

  private advance(final = false): void {
    const { window } = this;
    this.cursor.reset(window.bytes, window.start, window.end);
    this.enough = 0;
    while (this.step(final)) window.start = this.cursor.pos;
    window.start = this.cursor.pos;
    if (this.state === State.skipping) return;
    if (window.length > MAX_VALUE_BYTES) this.startSkipping();
    else if (window.length > WINDOW_BYTES / 2) this.enough = Math.min(window.length * 2, MAX_VALUE_BYTES + 1);
  }

  /** Takes one event, one metadata value or one piece of punctuation. False when more bytes are needed. */
  private step(final: boolean): boolean {
    switch (this.state) {
      case State.opening:
        return this.stepOpening();
      case State.events:
        return this.stepEvents(final);
      case State.metadata:
        return this.stepMetadata();
      case State.behind:
        return this.stepBehind();
      default:
        return this.stepSkipping();
    }
  }

  private stepOpening(): boolean {
    const byte = this.nextByte();
    if (byte < 0) return false;
    if (byte === OPEN_BRACE) this.state = State.metadata;
    else if (byte === OPEN_BRACKET) {
      this.bareArray = true;
      this.openList();
    } else if (!BYTE_ORDER_MARK.includes(byte)) {
      this.lose(this.cursor.pos);
      return true;
    }
    this.cursor.pos++;
    return true;
  }

  private openList(): void {
    this.state = State.events;
    this.sawEvents = true;
    this.list.open();
  }

  private stepEvents(final: boolean): boolean {
    const closed = this.list.read(final);
    if (!closed) return false;
    this.state = this.bareArray ? State.behind : State.metadata;
    this.place = Place.afterEntry;
    return true;
  }

  /** What is no JSON, wherever it stands, ends with the next event. */
  private lose(at: number): void {
    this.state = State.events;
    this.list.lose(at);
  }

  private noteDamage(to: number): void {
    this.sawEvents = true;
    this.notes.add(
      'damaged-event',
      'loss',
      'Sections between events that are not valid JSON were left out',
      `${to - this.lostFrom} bytes at byte ${this.lostFrom}`,
    );
  }

  /** One entry of the outermost object, or what separates two. */
  private stepMetadata(): boolean {
    const { cursor, window } = this;
    const { strict } = this.list;
    const { bytes, end } = cursor;
    const byte = this.nextByte();
    const at = cursor.pos;
    if (byte < 0) return false;
    const isBehindEntry = this.place === Place.afterEntry;
    if (byte === CLOSE_BRACE) {
      if (this.place === Place.afterComma) noteLooseComma(this.notes, 'at the end of the metadata');
      this.state = State.behind;
      cursor.pos++;
      return true;
    }
    if (byte === COMMA && isBehindEntry) {
      this.place = Place.afterComma;
      cursor.pos++;
      return true;
    }
    strict.clear();
    let from = isBehindEntry ? at : strict.key(bytes, at, end);
    if (from < 0 && strict.trouble === Trouble.ranOut) return false;
    if (from < 0 || isBehindEntry) {
      this.lose(at);
      return true;
    }
    const key = new TextDecoder().decode(bytes.subarray(at + 1, Math.min(strict.keyEnd, at + 201)));
    while (from < end && white.has(bytes[from])) from++;
    if (key === 'traceEvents' && bytes[from] === OPEN_BRACKET) {
      cursor.pos = from + 1;
      this.openList();
      return true;
    }
    const after = strict.end(bytes, from, end);
    if (after < 0 && strict.trouble === Trouble.ranOut) {
      // Only the value may be too large; its key has been read.
      if (window.length > MAX_VALUE_BYTES) cursor.pos = from;
      return false;
    }
    if (after < 0) {
      this.lose(at);
      return true;
    }
    noteOddValues(strict, bytes.subarray(at, after), this.notes);
    this.metadata.add(key, bytes.subarray(from, after));
    this.place = Place.afterEntry;
    cursor.pos = after;
    return true;
  }

  /** Behind the closing bracket nothing but white space belongs to the file. */
  private stepBehind(): boolean {
    if (this.nextByte() < 0) return false;
    this.lose(this.cursor.pos);
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
    cursor.pos = after < 0 ? window.end : after;
    if (after < 0) return false;
    this.state = this.afterSkip;
    this.place = Place.afterEntry;
    this.list.passed();
    return true;
  }

  private nextByte(): number {
    const { cursor } = this;
    while (cursor.pos < cursor.end && white.has(cursor.bytes[cursor.pos])) cursor.pos++;
    return cursor.pos < cursor.end ? cursor.bytes[cursor.pos] : -1;
  }
}
