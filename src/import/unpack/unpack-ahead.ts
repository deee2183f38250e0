/**
 * Unpacks a large file in another thread, while this one reads what it has unpacked: the one takes about as long as the
 * other. Blocks of shared memory are filled in turns, and a thread that is too far ahead waits for one to be free.
 */
import { Worker } from 'node:worker_threads';
import type { Packing } from './packing.js';
import type { UnpackedPiece } from './unpack-file.js';

export const BLOCK_BYTES = 1 << 20;
const BLOCKS = 4;

export interface UnpackInput {
  readonly fd: number;
  readonly ending: Packing['ending'];
  readonly pieceBytes: number;
  readonly memory: SharedArrayBuffer;
  /** One for each block: whether it holds bytes that nobody has read yet. */
  readonly isFull: Int32Array<SharedArrayBuffer>;
}

/** `block`: the next one is full. `failed`: the packed bytes end early or make no sense. */
export type UnpackNews =
  | { readonly kind: 'block'; readonly length: number; readonly readBytes: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'end' };

/** Pieces are good until the next one is asked for. */
export async function* unpackAhead(
  fd: number,
  { ending }: Packing,
  pieceBytes: number,
): AsyncGenerator<UnpackedPiece> {
  const memory = new SharedArrayBuffer(BLOCKS * BLOCK_BYTES);
  const isFull = new Int32Array(new SharedArrayBuffer(BLOCKS * 4));
  const input: UnpackInput = { fd, ending, pieceBytes, memory, isFull };
  const worker = new Worker(new URL('./unpack-worker.js', import.meta.url), { workerData: input });
  const news = newsOf(worker);
  // Not all who read bytes can read those that threads share.
  const own = new Uint8Array(BLOCK_BYTES);
  try {
    for (let block = 0; ; block = (block + 1) % BLOCKS) {
      const told = await news();
      if (told.kind === 'end') return;
      if (told.kind === 'failed') throw new Error(told.message);
      own.set(new Uint8Array(memory, block * BLOCK_BYTES, told.length));
      Atomics.store(isFull, block, 0);
      Atomics.notify(isFull, block);
      yield { bytes: own.subarray(0, told.length), readBytes: told.readBytes };
    }
  } finally {
    // The descriptor may be closed after this.
    await worker.terminate();
  }
}

/** Asks for the next message; throws when the thread ends without one. */
function newsOf(worker: Worker): () => Promise<UnpackNews> {
  const told: UnpackNews[] = [];
  let broken: Error | undefined;
  let wake = () => {};
  worker.on('message', (message: UnpackNews) => {
    told.push(message);
    wake();
  });
  const end = (error: Error) => {
    broken ??= error;
    wake();
  };
  worker.on('error', end);
  worker.on('exit', () => end(new Error('the thread that unpacks has ended')));
  return async () => {
    while (told.length === 0) {
      if (broken) throw broken;
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
    return told.shift()!;
  };
}
