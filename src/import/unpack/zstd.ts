/**
 * Zstandard (RFC 8878), by fzstd: Node has it from 22.15 on, and we run on 20. Checksums of frames are not looked at.
 */
import type { Packing } from './packing.js';

/**
 * Given at a time. Four packed bytes can stand for a block of 128 KiB, and all blocks of what is given come out before
 * we can stop: at most 32 MiB so.
 */
const FEED_BYTES = 1024;
/** What the zstd program itself refuses unless told otherwise. */
const MOST_WINDOW_BYTES = 128 * 1024 * 1024;
const LONGEST_HEADER = 18;

export const zstd: Packing = {
  ending: '.zst',
  unpacker: 'unzstd',
  magic: [0x28, 0xb5, 0x2f, 0xfd],

  async *unpack(packed) {
    const { Decompress } = await import('fzstd');
    let out: Uint8Array[] = [];
    const decoder = new Decompress(piece => {
      if (piece.length > 0) out.push(piece);
    });
    let first = true;
    for await (const chunk of packed) {
      if (first && chunk.length >= LONGEST_HEADER && windowBytes(chunk) > MOST_WINDOW_BYTES)
        throw new Error('its window is larger than 128 MiB');
      first = false;
      for (let at = 0; at < chunk.length; at += FEED_BYTES) {
        decoder.push(chunk.subarray(at, at + FEED_BYTES));
        yield* out;
        out = [];
      }
    }
    decoder.push(new Uint8Array(0), true);
    yield* out;
  },
};

/** What the header of a frame asks to be kept of the content; a frame of one segment asks for all of it. */
function windowBytes(header: Uint8Array): number {
  const descriptor = header[4];
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if ((descriptor & 0x20) === 0) {
    const base = 2 ** (10 + (header[5] >> 3));
    return base + (base / 8) * (header[5] & 7);
  }
  const at = 5 + [0, 1, 2, 4][descriptor & 3];
  const sizeField = descriptor >> 6;
  if (sizeField === 0) return header[at];
  if (sizeField === 1) return view.getUint16(at, true) + 256;
  return sizeField === 2 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
