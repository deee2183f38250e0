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
import { type JsonCursor, Trouble } from '../../base/json/json-cursor.js';

const NEWLINE = 0x0a;
const SPACE = 0x20;
const OPEN_BRACE = 0x7b;
const END = Buffer.from('\n  }');

export class WrittenEvents {
  private view: Buffer = Buffer.alloc(0);
  private viewed: Uint8Array = this.view;

  /** Steps behind the event whose brace is before `opened`. False when it is not written like that. */
  skip(cursor: JsonCursor, opened: number): boolean {
    const { bytes, end } = cursor;
    if (!isIndented(bytes, opened)) return false;
    if (this.viewed !== bytes) {
      this.viewed = bytes;
      this.view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    const at = this.view.indexOf(END, cursor.pos);
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
