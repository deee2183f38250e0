/** The other end of unpack-ahead.ts. Descriptors belong to the process, so the file is already open here. */
import { parentPort, workerData } from 'node:worker_threads';
import { packingWith } from './packings.js';
import { BLOCK_BYTES, type UnpackInput, type UnpackNews } from './unpack-ahead.js';
import { unpackFile } from './unpack-file.js';

const { fd, ending, pieceBytes, memory, isFull } = workerData as UnpackInput;
const tell = (news: UnpackNews) => parentPort!.postMessage(news);

let block = 0;
let length = 0;
let readBytes = 0;

function give(): void {
  if (length === 0) return;
  Atomics.store(isFull, block, 1);
  tell({ kind: 'block', length, readBytes });
  block = (block + 1) % isFull.length;
  length = 0;
  Atomics.wait(isFull, block, 1);
}

async function unpackAll(): Promise<void> {
  try {
    for await (const piece of unpackFile(fd, packingWith(ending), pieceBytes)) {
      readBytes = piece.readBytes;
      for (let from = 0; from < piece.bytes.length; ) {
        const part = piece.bytes.subarray(from, from + BLOCK_BYTES - length);
        new Uint8Array(memory, block * BLOCK_BYTES + length).set(part);
        from += part.length;
        length += part.length;
        if (length === BLOCK_BYTES) give();
      }
    }
    give();
    tell({ kind: 'end' });
  } catch (error) {
    // What was unpacked before is good.
    give();
    tell({ kind: 'failed', message: (error as Error).message });
  }
}

void unpackAll();
