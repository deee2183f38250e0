/** The content of a packed file, from front to end, and how far into the file on disk it came from. */
import * as fs from 'node:fs';
import type { Packing } from './packing.js';

export interface UnpackedPiece {
  readonly bytes: Uint8Array;
  /** Bytes of the packed file that were read by then. */
  readonly readBytes: number;
}

const READ_BYTES = 1 << 20;

export async function* unpackFile(
  fd: number,
  packing: Packing,
  pieceBytes: number,
): AsyncGenerator<UnpackedPiece> {
  let readBytes = 0;
  async function* packed() {
    while (true) {
      const buffer = new Uint8Array(READ_BYTES);
      const got = await readAt(fd, buffer, readBytes);
      if (got === 0) return;
      readBytes += got;
      yield buffer.subarray(0, got);
    }
  }
  for await (const bytes of packing.unpack(packed(), pieceBytes)) yield { bytes, readBytes };
}

export function readAt(fd: number, into: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) =>
    fs.read(fd, into, 0, into.length, position, (error, got) => (error ? reject(error) : resolve(got))),
  );
}
