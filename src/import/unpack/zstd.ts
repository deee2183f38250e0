/**
 * Zstandard (RFC 8878), by fzstd: Node has it from 22.15 on, and we run on 20. Frames are told apart here, so that the
 * window each asks for is looked at before it is made, and the checksum behind each is held against its content.
 *
 *   frame  magic  descriptor  window, dictionary, size  [block header  block]…  checksum
 */
import { PackedBytes } from './packed-bytes.js';
import type { Packing } from './packing.js';
import { XxHash64 } from './xxhash64.js';

/**
 * Given at a time. Four packed bytes can stand for a block of 128 KiB, and all blocks of what is given come out before
 * we can stop: at most 32 MiB so.
 */
const FEED_BYTES = 1024;
/** What the zstd program itself refuses unless told otherwise. */
const MOST_WINDOW_BYTES = 128 * 1024 * 1024;
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
const HAS_CHECKSUM = 0x04;
const IS_ONE_SEGMENT = 0x20;
const REPEATED_BYTE = 1;

export const zstd: Packing = {
  ending: '.zst',
  unpacker: 'unzstd',
  magic: MAGIC,

  async *unpack(packed) {
    const bytes = new PackedBytes(packed);
    for (let magic = await bytes.take(4); magic; magic = await bytes.take(4)) {
      if (isSkippable(magic)) await skip(bytes);
      else if (MAGIC.every((byte, i) => byte === magic![i])) yield* unpackFrame(bytes);
      else throw new Error('the data after a frame is not a frame');
    }
  },
};

async function* unpackFrame(bytes: PackedBytes): AsyncGenerator<Uint8Array> {
  const { Decompress } = await import('fzstd');
  const [descriptor] = await must(bytes, 1);
  const header = await must(bytes, headerBytes(descriptor));
  if (windowBytes(descriptor, header) > MOST_WINDOW_BYTES)
    throw new Error('its window is larger than 128 MiB');
  let out: Uint8Array[] = [];
  const hash = new XxHash64();
  const hasChecksum = (descriptor & HAS_CHECKSUM) !== 0;
  const decoder = new Decompress(piece => {
    if (piece.length === 0) return;
    if (hasChecksum) hash.update(piece);
    out.push(piece);
  });
  decoder.push(Uint8Array.from([...MAGIC, descriptor, ...header]));
  for (let isLast = false; !isLast; ) {
    const block = await must(bytes, 3);
    const word = block[0] | (block[1] << 8) | (block[2] << 16);
    isLast = (word & 1) !== 0;
    decoder.push(block);
    const length = ((word >> 1) & 3) === REPEATED_BYTE ? 1 : word >> 3;
    let passed = 0;
    for await (const part of bytes.pass(length, FEED_BYTES)) {
      passed += part.length;
      decoder.push(part);
      yield* out;
      out = [];
    }
    if (passed < length) throw new Error('it ends early');
  }
  const checksum = await must(bytes, hasChecksum ? 4 : 0);
  decoder.push(checksum, true);
  yield* out;
  if (hasChecksum && new DataView(checksum.buffer).getUint32(0, true) !== hash.digest().low)
    throw new Error('its checksum does not match its content');
}

/** A frame that holds no content of the file. */
const isSkippable = (magic: Uint8Array) =>
  (magic[0] & 0xf0) === 0x50 && magic[1] === 0x2a && magic[2] === 0x4d && magic[3] === 0x18;

async function skip(bytes: PackedBytes): Promise<void> {
  const length = new DataView((await must(bytes, 4)).buffer).getUint32(0, true);
  let passed = 0;
  for await (const part of bytes.pass(length, FEED_BYTES)) passed += part.length;
  if (passed < length) throw new Error('it ends early');
}

async function must(bytes: PackedBytes, count: number): Promise<Uint8Array> {
  const taken = count === 0 ? new Uint8Array(0) : await bytes.take(count);
  if (!taken) throw new Error('it ends early');
  return taken;
}

const dictionaryBytes = (descriptor: number) => [0, 1, 2, 4][descriptor & 3];

/** Behind the descriptor: the window, which dictionary, and how long the content is. */
function headerBytes(descriptor: number): number {
  const isOneSegment = (descriptor & IS_ONE_SEGMENT) !== 0;
  const size = [isOneSegment ? 1 : 0, 2, 4, 8][descriptor >> 6];
  return (isOneSegment ? 0 : 1) + dictionaryBytes(descriptor) + size;
}

/** What the header of a frame asks to be kept of the content; a frame of one segment asks for all of it. */
function windowBytes(descriptor: number, header: Uint8Array): number {
  if ((descriptor & IS_ONE_SEGMENT) === 0) {
    const base = 2 ** (10 + (header[0] >> 3));
    return base + (base / 8) * (header[0] & 7);
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const at = dictionaryBytes(descriptor);
  const sizeField = descriptor >> 6;
  if (sizeField === 0) return header[at];
  if (sizeField === 1) return view.getUint16(at, true) + 256;
  return sizeField === 2 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
