/**
 * xz, by xz-decompress: xz-embedded as WebAssembly. It ends with the first stream of a file, and files may hold
 * several (`cat a.xz b.xz`, pixz), so the packed bytes are cut where one stream's footer meets the next one's header.
 */
import type { ReadableStream } from 'node:stream/web';
import type { Packing } from './packing.js';

const MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];
const FOOTER_END = [0x59, 0x5a];
const SEAM = Buffer.from([...FOOTER_END, ...MAGIC]);

export const xz: Packing = {
  ending: '.xz',
  unpacker: 'unxz',
  magic: MAGIC,

  async *unpack(packed) {
    const { XzReadableStream } = (await import('xz-decompress')).default;
    const streams = new PackedStreams(packed[Symbol.asyncIterator]());
    do {
      yield* new XzReadableStream(asWebStream(streams.next())) as ReadableStream<Uint8Array>;
    } while (await streams.hasMore());
  },
};

function asWebStream(pieces: AsyncIterator<Uint8Array>): globalThis.ReadableStream<Uint8Array> {
  return new globalThis.ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** Hands out the packed bytes stream by stream. */
class PackedStreams {
  private rest: Buffer = Buffer.alloc(0);
  private ended = false;

  constructor(private readonly packed: AsyncIterator<Uint8Array>) {}

  async hasMore(): Promise<boolean> {
    while (this.rest.length === 0 && !this.ended) await this.read();
    return this.rest.length > 0;
  }

  async *next(): AsyncGenerator<Uint8Array> {
    while (true) {
      const seam = this.rest.indexOf(SEAM);
      // A seam may lie across what was read and what comes, so the last bytes wait.
      const until = seam >= 0 ? seam + FOOTER_END.length : this.rest.length - (this.ended ? 0 : SEAM.length);
      if (until > 0) {
        const piece = this.rest.subarray(0, until);
        this.rest = this.rest.subarray(until);
        yield piece;
      }
      if (seam >= 0 || this.ended) return;
      await this.read();
    }
  }

  private async read(): Promise<void> {
    const { done, value } = await this.packed.next();
    if (done) this.ended = true;
    else this.rest = Buffer.concat([this.rest, value]);
  }
}
