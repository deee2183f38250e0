/**
 * Where a trace may be cut into pieces that are read apart: where an event begins as Kineto writes it. This is only a
 * good guess, as text could look the same. Who reads a piece finds out whether it ends where an event does, and if
 * all of them do, then the guesses were right.
 */
import { Buffer } from 'node:buffer';
import type { ByteSource } from '../../../base/byte-source.js';

const EVENT = Buffer.from('\n  {\n    "');
const FIRST_LOOK = 16 * 1024;
/** Larger than nearly every event. Where none begins in so many bytes, the file is written in another way. */
const LAST_LOOK = 1024 * 1024;

/** The bounds of pieces of about so many bytes, from 0 to the size of the file. Undefined when it cannot be cut. */
export function cutTrace(source: ByteSource, pieceBytes: number): number[] | undefined {
  const bounds = [0];
  for (let near = pieceBytes; near < source.size; near += pieceBytes) {
    // An event longer than a piece moves the cut behind the place of the next one.
    if (near <= bounds[bounds.length - 1]) continue;
    const cut = eventAfter(source, near);
    if (cut < 0 && near + LAST_LOOK < source.size) return undefined;
    if (cut < 0) break;
    bounds.push(cut);
  }
  bounds.push(source.size);
  return bounds;
}

function eventAfter(source: ByteSource, position: number): number {
  for (let look = FIRST_LOOK; look <= LAST_LOOK; look *= 8) {
    const bytes = Buffer.alloc(look);
    const got = source.read(bytes, position);
    const at = bytes.subarray(0, got).indexOf(EVENT);
    if (at >= 0) return position + at;
    if (got < look) return -1;
  }
  return -1;
}
