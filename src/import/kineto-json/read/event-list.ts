/**
 * Reads the events of a list, one after the other, as far as the bytes go. Each is held against the standard before
 * anything of it is read, whoever wants it or not: so every question finds the same damage, and a damaged stretch
 * costs what is in it, not the rest.
 */
import { isUtf8 } from 'node:buffer';
import { JsonCursor, Trouble } from '../../../base/json/json-cursor.js';
import type { StrictValue } from '../../../base/json/strict-value.js';
import type { NoteCounter } from '../../../base/notes.js';
import type { EventReader } from '../events/event-reader.js';
import { type EventScanner, Scanned } from '../events/event-scanner.js';
import type { EventStore } from '../events/event-store.js';
import { EventSearch } from './event-search.js';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const SPACE = 0x20;
const LINE = 0x0a;
const RETURN = 0x0d;
const TAB = 0x09;

/** What may come next. */
const Place = { opened: 0, afterEvent: 1, afterComma: 2 } as const;

/** Told where a damaged stretch begins, and where it is over. */
interface DamageListener {
  begins(at: number): void;
  ends(at: number): void;
}

export class EventList {
  readonly cursor = new JsonCursor();
  readonly strict = this.cursor.strict;
  private readonly search = new EventSearch(this.strict);
  private place: number = Place.opened;
  private searching = false;

  constructor(
    private readonly event: EventReader,
    private readonly store: EventStore,
    private readonly notes: NoteCounter,
    private readonly damage: DamageListener,
    private readonly scanner?: EventScanner,
  ) {}

  /** The next byte is the first behind the opening bracket. */
  open(): void {
    this.place = Place.opened;
  }

  /** The next byte is the first of an event in the middle of the list. */
  openAtEvent(): void {
    this.place = Place.afterComma;
  }

  /** An event was stepped over by someone else. */
  passed(): void {
    this.place = Place.afterEvent;
  }

  /** Everything so far was sound, and an event comes next. */
  get atEvent(): boolean {
    return this.place === Place.afterComma && !this.searching;
  }

  /** What was no JSON has not ended yet. */
  get isLost(): boolean {
    return this.searching;
  }

  /** What lies at `at` is no JSON: the next whole event behind it will be looked for. */
  lose(at: number): void {
    this.searching = true;
    this.cursor.pos = at + 1;
    this.damage.begins(at);
  }

  /**
   * As many events as there are; true when the list is closed, false when more bytes are needed. The cursor is behind
   * the last whole event then. The busy loop of the whole importer. `final`: no more bytes will come.
   */
  read(final = false): boolean {
    const { cursor } = this;
    const { bytes, end } = cursor;
    if (this.searching && !this.resume(final)) return false;
    let i = cursor.pos;
    for (;;) {
      while (bytes[i] === LINE || bytes[i] === SPACE || bytes[i] === RETURN || bytes[i] === TAB) i++;
      const byte = bytes[i];
      if (i >= end) {
        cursor.pos = end;
        return false;
      }
      if (byte === COMMA) {
        if (this.place !== Place.afterEvent) this.noteComma();
        this.place = Place.afterComma;
        i++;
      } else if (byte === CLOSE_BRACKET) {
        if (this.place === Place.afterComma) this.noteComma();
        cursor.pos = i + 1;
        return true;
      } else {
        const isObject = byte === OPEN_BRACE;
        const scanned = isObject && this.place === Place.afterComma ? this.scan(i) : -1;
        const after = scanned > 0 ? scanned : this.take(i, isObject);
        if (after > 0) {
          if (this.place === Place.afterEvent) this.noteComma();
          this.place = Place.afterEvent;
          i = after;
        } else if (cursor.trouble === Trouble.ranOut) {
          // What is cut off at the end of the file is said once, of the whole.
          cursor.reset(bytes, final ? end : i, end);
          return false;
        } else {
          cursor.reset(bytes, i, end);
          this.lose(i);
          if (!this.resume(final)) return false;
          i = cursor.pos;
        }
      }
    }
  }

  /** Index behind events that the scanner could read, or -1. Until times count from somewhere, all is read in full. */
  private scan(from: number): number {
    const { scanner, event, store, cursor } = this;
    if (!scanner || scanner.bytes !== cursor.bytes || !event.sawTime) return -1;
    const status = scanner.next(from, cursor.end);
    store.events += scanner.passed;
    if (status === Scanned.wanted) {
      scanner.give(event);
      store.store(cursor.bytes);
    }
    return scanner.after > from ? scanner.after : -1;
  }

  /** Reads what begins here, to its end. Index behind it, or -1 where it is not whole: then nothing is kept of it. */
  private take(from: number, isObject: boolean): number {
    const { cursor, event, store, strict } = this;
    const { bytes, roundedDecimals, exponentDecimals } = cursor;
    const isPassed = !isObject || event.isUnwanted(bytes, from);
    strict.clear();
    cursor.pos = isPassed ? from : from + 1;
    if (isPassed) cursor.skipValue();
    else event.read(cursor);
    if (cursor.trouble !== Trouble.none) {
      // It may be read again, from its beginning.
      cursor.roundedDecimals = roundedDecimals;
      cursor.exponentDecimals = exponentDecimals;
      return -1;
    }
    const after = cursor.pos;
    if (strict.badTexts > 0 || strict.badNumbers > 0 || strict.beyondAscii)
      noteOddValues(strict, bytes.subarray(from, after), this.notes);
    if (!isPassed) store.store(bytes);
    else if (isObject) store.events++;
    else store.countNonEvent();
    return after;
  }

  /** Goes on at the next event behind the damage, if it has come. */
  private resume(final: boolean): boolean {
    const { cursor } = this;
    const found = this.search.next(cursor, final);
    if (!found) return false;
    this.searching = false;
    this.place = found === 'event' ? Place.afterComma : Place.afterEvent;
    this.damage.ends(cursor.pos);
    return true;
  }

  private noteComma(): void {
    noteLooseComma(this.notes, `before event ${this.store.events + 1}`);
  }
}

export function noteLooseComma(notes: NoteCounter, where: string): void {
  const text = 'commas are missing or extra: events may be lost there';
  notes.add('loose-comma', 'warning', text, where);
}

/** What the strict reader let pass although the standard does not. */
export function noteOddValues(strict: StrictValue, value: Uint8Array, notes: NoteCounter): void {
  const notUtf8 = strict.beyondAscii && !isUtf8(value) ? 1 : 0;
  if (strict.badTexts + notUtf8 > 0) {
    const text =
      'texts contain raw control characters, unknown escapes or invalid UTF-8 and were kept unchanged';
    notes.add('bad-string', 'warning', text, '', strict.badTexts + notUtf8);
  }
  if (strict.badNumbers > 0) {
    const text = 'values are NaN or infinite, which is not valid JSON, and count as not recorded';
    notes.add('bad-number', 'warning', text, '', strict.badNumbers);
  }
}
