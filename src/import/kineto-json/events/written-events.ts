/**
 * Finds the end of an event as Kineto writes it, by its indentation, with the search that the machine is best at:
 *
 *   ␣␣{
 *   ␣␣␣␣"ph": "X", "cat": "cpu_op", …
 *   ␣␣}
 *
 * Text in JSON holds no bare line breaks, so a line of two spaces and a brace can only be the end.
 */
import { Buffer } from 'node:buffer';
import { type JsonCursor, Trouble } from '../../../base/json/json-cursor.js';

const NEWLINE = 0x0a;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const COMMA = 0x2c;
const END = Buffer.from('\n  }');

/** How events of a kind begin behind their brace, as Kineto writes them. */
export const beginnings = {
  ops: ['\n    "ph": "X", "cat": "cpu_op", '],
  frames: ['\n    "ph": "X", "cat": "python_function", '],
  flows: ['\n    "ph": "s", ', '\n    "ph": "f", '],
} as const;

export class WrittenEvents {
  private view: Buffer = Buffer.alloc(0);
  private viewed: Uint8Array = this.view;
  private readonly unwanted: readonly Uint8Array[];

  /** `unwanted`: beginnings of events to be passed over. */
  constructor(unwanted: readonly string[]) {
    this.unwanted = unwanted.map(text => Buffer.from(text));
  }

  /**
   * Steps over all unwanted events in a row, from the brace the cursor stands at to the brace of the next one, or
   * behind the last. Says how many there were. What is written differently, or cut off, is left to others.
   */
  skipRun(cursor: JsonCursor): number {
    const { bytes, end } = cursor;
    const view = this.viewOf(bytes);
    let at = cursor.pos;
    let events = 0;
    for (;;) {
      const length = this.unwantedLength(bytes, at + 1);
      if (length === 0) break;
      const last = view.indexOf(END, at + length);
      if (last < 0 || last + END.length > end) break;
      events++;
      at = last + END.length;
      // `},` and a line with the next brace: anything else is not ours to read.
      if (bytes[at] !== COMMA || !isIndented(bytes, at + 5)) break;
      at += 4;
    }
    cursor.pos = at;
    return events;
  }

  /** Length of the beginning that the event behind the brace shares with an unwanted kind; 0 when it is wanted. */
  private unwantedLength(bytes: Uint8Array, opened: number): number {
    for (const beginning of this.unwanted) {
      let i = 0;
      while (i < beginning.length && bytes[opened + i] === beginning[i]) i++;
      if (i === beginning.length) return i;
    }
    return 0;
  }

  private viewOf(bytes: Uint8Array): Buffer {
    if (this.viewed !== bytes) {
      this.viewed = bytes;
      this.view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return this.view;
  }

  /**
   * Steps behind an event of which enough was read, unless what is left of it holds the given text. False, and
   * nothing done, where it is written differently or its end has not come.
   */
  skipRest(cursor: JsonCursor, opened: number, unless: Uint8Array | undefined): boolean {
    const { bytes, end, pos } = cursor;
    if (!isIndented(bytes, opened)) return false;
    const view = this.viewOf(bytes);
    const at = view.indexOf(END, pos);
    if (at < 0 || at + END.length > end) return false;
    if (unless && view.subarray(pos, at).indexOf(unless) >= 0) return false;
    cursor.pos = at + END.length;
    return true;
  }

  /** Steps behind the event whose brace is before `opened`. False when it is not written like that. */
  skip(cursor: JsonCursor, opened: number): boolean {
    const { bytes, end } = cursor;
    if (!isIndented(bytes, opened)) return false;
    const at = this.viewOf(bytes).indexOf(END, cursor.pos);
    if (at < 0 || at + END.length > end) cursor.fail(Trouble.ranOut, end);
    else cursor.pos = at + END.length;
    return true;
  }
}

function isIndented(bytes: Uint8Array, opened: number): boolean {
  return (
    opened >= 4 &&
    bytes[opened - 4] === NEWLINE &&
    bytes[opened - 3] === SPACE &&
    bytes[opened - 2] === SPACE &&
    bytes[opened - 1] === OPEN_BRACE &&
    bytes[opened] === NEWLINE &&
    bytes[opened + 1] === SPACE &&
    bytes[opened + 2] === SPACE &&
    bytes[opened + 3] === SPACE &&
    bytes[opened + 4] === SPACE
  );
}
