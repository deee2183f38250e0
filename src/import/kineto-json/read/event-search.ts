/**
 * Finds the way back into a list of events behind bytes that are no JSON: the next object that is whole, has a phase
 * (ph) and is no one's argument, or the list's own closing bracket. Brackets of shapes and braces of arguments are
 * passed by.
 */
import { Buffer } from 'node:buffer';
import { type JsonCursor, Trouble } from '../../../base/json/json-cursor.js';
import type { StrictValue } from '../../../base/json/strict-value.js';
import { isEventKey } from '../events/event-reader.js';
import { isTraceKey } from './recognize.js';

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const PHASE = Buffer.from('"ph"');
/** Longer than any key we look for, and the white space around it. */
const LOOK_AHEAD = 256;
/** Bytes that may be looked at again behind a beginning that led nowhere. Then the search no longer goes back. */
const MAX_REPEATED_BYTES = 128 * 1024 * 1024;

export class EventSearch {
  private repeatedBytes = 0;

  constructor(private readonly strict: StrictValue) {}

  /**
   * Moves the cursor to the next event or to the list's end. Undefined when neither has come; then the cursor is where
   * to go on once there are more bytes. `final`: there will be none.
   */
  next(cursor: JsonCursor, final: boolean): 'event' | 'end' | undefined {
    const { bytes, end } = cursor;
    for (let i = cursor.pos; i < end; i++) {
      const byte = bytes[i];
      if (byte !== OPEN_BRACE && byte !== CLOSE_BRACKET) continue;
      cursor.pos = i;
      // What decides may not have come yet.
      if (!final && i + LOOK_AHEAD > end) return undefined;
      if (byte === CLOSE_BRACKET) {
        if (closesList(bytes, i + 1, end)) return 'end';
        continue;
      }
      if (!beginsEvent(bytes, i, end)) continue;
      const after = this.strict.end(bytes, i, end);
      if (after > 0) {
        if (Buffer.from(bytes.buffer, bytes.byteOffset + i, after - i).includes(PHASE)) return 'event';
        i = after - 1;
        continue;
      }
      if (this.strict.trouble === Trouble.ranOut && !final) return undefined;
      const seen = this.strict.at - i;
      if (this.repeatedBytes + seen > MAX_REPEATED_BYTES) i = this.strict.at - 1;
      else this.repeatedBytes += seen;
    }
    cursor.pos = end;
    return undefined;
  }
}

/** `{ "ph"` and the like, unless it is the value of a key. */
function beginsEvent(bytes: Uint8Array, brace: number, end: number): boolean {
  let before = brace - 1;
  while (before >= 0 && bytes[before] <= SPACE && bytes[before] > 0) before--;
  if (before >= 0 && bytes[before] === COLON) return false;
  const key = keyAt(bytes, brace + 1, end);
  return key !== undefined && isEventKey(bytes, key.from, key.to);
}

/** What follows the bracket is the end of the file, or metadata as it stands behind events. */
function closesList(bytes: Uint8Array, behind: number, end: number): boolean {
  let i = pastSpace(bytes, behind, end);
  if (i >= end) return true;
  if (bytes[i] === CLOSE_BRACE) return pastSpace(bytes, i + 1, end) >= end;
  if (bytes[i++] !== COMMA) return false;
  const key = keyAt(bytes, i, end);
  return key !== undefined && isTraceKey(Buffer.from(bytes.subarray(key.from, key.to)).toString('latin1'));
}

function keyAt(bytes: Uint8Array, at: number, end: number): { from: number; to: number } | undefined {
  const from = pastSpace(bytes, at, end) + 1;
  if (from > end || bytes[from - 1] !== QUOTE) return undefined;
  const last = Math.min(end, from + LOOK_AHEAD);
  let to = from;
  while (to < last && bytes[to] !== QUOTE) to++;
  return to < last && bytes[pastSpace(bytes, to + 1, end)] === COLON ? { from, to } : undefined;
}

function pastSpace(bytes: Uint8Array, from: number, end: number): number {
  let i = from;
  while (i < end && bytes[i] <= SPACE && bytes[i] > 0) i++;
  return i;
}
