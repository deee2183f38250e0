/**
 * Python frames come by the million, and one is written like the next: only name, times and numbers differ. A frame
 * that repeats the bytes of the last one between these is read without looking at its keys again. What it repeats was
 * held against the standard when the last one was read.
 */
import type { JsonCursor } from '../../../base/json/json-cursor.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
/** Longer ones are not worth it. */
const MOST_BYTES = 1024;

/** Bytes of a name that need no thought. */
const plain = new Uint8Array(256).fill(1, SPACE, 0x80);
plain[QUOTE] = 0;
plain[BACKSLASH] = 0;

/** Where the parts of an event are that differ, in the order in which they are written. */
export interface FrameParts {
  nameFrom: number;
  nameTo: number;
  timeFrom: number;
  timeTo: number;
  durationFrom: number;
  durationTo: number;
}

export class FrameShape {
  /** The last frame, from its brace. */
  private readonly last = new Uint8Array(MOST_BYTES);
  private length = 0;
  private readonly own: FrameParts = noParts();
  /** The name of the frame that was matched; of times, the values. */
  readonly found = { nameFrom: 0, nameTo: 0 };
  micros = 0;
  nanos = 0;
  durationNs = 0;

  /** Keeps the frame between brace and end. False where it is not written in the usual order. */
  learn(bytes: Uint8Array, brace: number, end: number, parts: FrameParts): boolean {
    const { nameFrom, nameTo, timeFrom, timeTo, durationFrom, durationTo } = parts;
    const inOrder =
      brace < nameFrom &&
      nameFrom <= nameTo &&
      nameTo < timeFrom &&
      timeFrom < timeTo &&
      timeTo < durationFrom &&
      durationFrom < durationTo &&
      durationTo < end;
    this.length = 0;
    if (!inOrder || end - brace > MOST_BYTES) return false;
    this.last.set(bytes.subarray(brace, end));
    this.length = end - brace;
    const { own } = this;
    own.nameFrom = nameFrom - brace;
    own.nameTo = nameTo - brace;
    own.timeFrom = timeFrom - brace;
    own.timeTo = timeTo - brace;
    own.durationFrom = durationFrom - brace;
    own.durationTo = durationTo - brace;
    return true;
  }

  /** Whether the event with this brace is a frame like the last one. The cursor is behind it then, else where it was. */
  match(cursor: JsonCursor, brace: number): boolean {
    if (this.length === 0) return false;
    const { pos, roundedDecimals, exponentDecimals } = cursor;
    if (this.step(cursor, brace)) return true;
    cursor.pos = pos;
    cursor.trouble = 0;
    cursor.roundedDecimals = roundedDecimals;
    cursor.exponentDecimals = exponentDecimals;
    return false;
  }

  private step(cursor: JsonCursor, brace: number): boolean {
    const { own, found, last } = this;
    const { bytes, end } = cursor;
    let i = this.same(bytes, brace, 0, own.nameFrom);
    if (i < 0) return false;
    found.nameFrom = i;
    while (plain[bytes[i]] === 1) i++;
    found.nameTo = i;
    i = this.same(bytes, i, own.nameTo, own.timeFrom);
    if (i < 0 || i >= end) return false;
    cursor.pos = i;
    if (!cursor.readDecimal()) return false;
    this.micros = cursor.units;
    this.nanos = cursor.thousandths;
    i = this.same(bytes, cursor.pos, own.timeTo, own.durationFrom);
    if (i < 0 || i >= end) return false;
    cursor.pos = i;
    if (!cursor.readDecimal()) return false;
    this.durationNs = cursor.units * 1000 + cursor.thousandths;
    // Behind the duration every whole number may be another.
    i = cursor.pos;
    let j = own.durationTo;
    const length = this.length;
    while (j < length) {
      const byte = last[j];
      if (byte >= ZERO && byte <= NINE) {
        const from = i;
        while (bytes[i] >= ZERO && bytes[i] <= NINE) i++;
        while (last[j] >= ZERO && last[j] <= NINE) j++;
        if (i === from || (bytes[from] === ZERO && i - from > 1)) return false;
      } else {
        if (byte !== bytes[i]) return false;
        i++;
        j++;
      }
    }
    if (i > end) return false;
    cursor.pos = i;
    return true;
  }

  /** Index behind the bytes that repeat last[from .. to), or -1. */
  private same(bytes: Uint8Array, at: number, from: number, to: number): number {
    const { last } = this;
    let i = at;
    for (let j = from; j < to; j++, i++) if (last[j] !== bytes[i]) return -1;
    return i;
  }
}

export function noParts(): FrameParts {
  return { nameFrom: 0, nameTo: 0, timeFrom: 0, timeTo: 0, durationFrom: 0, durationTo: 0 };
}
