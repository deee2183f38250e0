/**
 * Threads that help to read a large trace. They are started before anything else of the importer is loaded, as a
 * thread takes about as long to start as that does.
 *
 * Pieces are handed out through one counter in shared memory. The first and the last are read by the main thread,
 * because metadata lies around the events; the first also tells where times count from, and helpers wait for that.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ByteSource } from '../../../base/byte-source.js';
import type { ImportContext } from '../../importer.js';
import type { ProfileFile } from '../../profile-file.js';
import type { Wanted } from '../events/read-trace.js';
import { cutTrace } from '../read/trace-cuts.js';
import type { Part } from './part-reader.js';

/** How a trace is shared out. Tests change it. */
export interface Sharing {
  /** Files of fewer bytes are read by one thread. */
  readonly leastBytes: number;
  readonly pieceBytes: number;
  /** Leave all but the first and last piece to the helpers. */
  readonly helpersOnly?: boolean;
}

/**
 * Every thread starts a Node of its own and compiles its own code: at 150 MB, which one thread reads in a quarter of a
 * second, a helper costs as much CPU time as it could save. A piece is small enough to stay in the cache.
 */
export const usualSharing: Sharing = { leastBytes: 192 * 1024 * 1024, pieceBytes: 2 * 1024 * 1024 };
/** Each thread has memory of its own, and past a few of them what is left to one thread takes longer. */
const MAX_HELPERS = 3;
const BYTES_PER_HELPER = 128 * 1024 * 1024;

const NEXT = 0;
const STATE = 1;
const State = { waiting: 0, reading: 1, stopped: 2 } as const;

/** The next piece to read, and where times count from. The same memory in all threads. */
export class PieceCounter {
  constructor(
    readonly pieces: number,
    private readonly control = new Int32Array(new SharedArrayBuffer(8)),
    private readonly origin = new Float64Array(new SharedArrayBuffer(8)),
  ) {}

  /** The same counter in another thread, where classes do not come along. */
  static from({ pieces, control, origin }: SharedCounter): PieceCounter {
    return new PieceCounter(pieces, control, origin);
  }

  get shared(): SharedCounter {
    return { pieces: this.pieces, control: this.control, origin: this.origin };
  }

  /** A piece of the middle, or -1 when all are taken or nobody needs them any more. */
  take(): number {
    const piece = Atomics.add(this.control, NEXT, 1) + 1;
    return piece < this.pieces - 1 && Atomics.load(this.control, STATE) !== State.stopped ? piece : -1;
  }

  start(originMicros: number): void {
    this.origin[0] = originMicros;
    this.set(State.reading);
  }

  stop(): void {
    this.set(State.stopped);
  }

  /** Waits until the others may start. Blocks, so not for the main thread. */
  waitForOrigin(): number {
    Atomics.wait(this.control, STATE, State.waiting);
    return this.origin[0];
  }

  private set(state: number): void {
    Atomics.store(this.control, STATE, state);
    Atomics.notify(this.control, STATE);
  }
}

interface SharedCounter {
  readonly pieces: number;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly origin: Float64Array<SharedArrayBuffer>;
}

export interface HelperInput {
  readonly fd: number;
  readonly bounds: readonly number[];
  readonly counter: SharedCounter;
  readonly wanted: Wanted;
}

export interface Helpers {
  readonly source: ByteSource;
  /** Where pieces begin and end: piece i is bounds[i] .. bounds[i + 1]. */
  readonly bounds: readonly number[];
  readonly counter: PieceCounter;
  readonly helpersOnly: boolean;
  /** What each helper read; undefined when it found something that one thread must judge. Never rejects. */
  readonly parts: readonly Promise<Part | undefined>[];
}

/** Undefined when one thread should read the file. */
export async function startHelpers(
  file: ProfileFile,
  { workers }: ImportContext,
  wanted: Wanted,
  { leastBytes, pieceBytes, helpersOnly = false }: Sharing,
): Promise<Helpers | undefined> {
  if (file.packed || file.sizeBytes < leastBytes) return undefined;
  const useful = Math.min(
    availableParallelism() - 1,
    MAX_HELPERS,
    Math.ceil(file.sizeBytes / BYTES_PER_HELPER),
  );
  const count = Math.min(workers ?? useful, MAX_HELPERS);
  if (count < 1) return undefined;
  const source = await file.randomAccess();
  const bounds = cutTrace(source, pieceBytes);
  if (!bounds || bounds.length < 4) return undefined;
  const counter = new PieceCounter(bounds.length - 1);
  const input: HelperInput = { fd: source.fd, bounds, counter: counter.shared, wanted };
  return {
    source,
    bounds,
    counter,
    helpersOnly,
    parts: Array.from({ length: count }, () => startHelper(input)),
  };
}

/** A helper that fails for whatever reason is no loss: one thread can still read the file, and will say why not. */
function startHelper(input: HelperInput): Promise<Part | undefined> {
  const part = new Promise<Part | undefined>(resolve => {
    const worker = new Worker(new URL('./part-worker.js', import.meta.url), { workerData: input });
    worker.once('message', resolve);
    worker.once('error', () => resolve(undefined));
    worker.once('exit', () => resolve(undefined));
  });
  return part.catch(() => undefined);
}
