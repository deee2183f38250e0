/** gzip, by Node itself. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Packing } from './packing.js';

export const gzip: Packing = {
  ending: '.gz',
  unpacker: 'gunzip',
  magic: [0x1f, 0x8b],

  async *unpack(packed, pieceBytes) {
    const gunzip = createGunzip({ chunkSize: pieceBytes });
    const source = Readable.from(packed, { objectMode: true, highWaterMark: 2 });
    source.on('error', error => gunzip.destroy(error));
    source.pipe(gunzip);
    try {
      yield* gunzip as AsyncIterable<Uint8Array>;
    } finally {
      source.destroy();
      gunzip.destroy();
    }
  },
};
