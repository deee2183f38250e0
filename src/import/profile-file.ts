/**
 * A file as importers see it: its first bytes, random access, or a stream of chunks; packing is undone on the way.
 *
 * Packed files are bounded: a few bytes can blow up a thousandfold, so unpacking stops once the output is both large
 * and far larger than any real profile packs (see `unpackLimit`).
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import type { ByteSource } from '../base/byte-source.js';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { makeTemporaryFolder, removeTemporaryFolder } from '../disk/temporary-folder.js';
import type { Packing } from './unpack/packing.js';
import { packingOf } from './unpack/packings.js';
import { unpackAhead } from './unpack/unpack-ahead.js';
import { readAt, type UnpackedPiece, unpackFile } from './unpack/unpack-file.js';

/** Real profiles pack 5 to 30 times, grown ones up to about 60; beyond this ratio a large file is a bomb. */
const MAX_RATIO = 250;
const ALWAYS_ALLOWED = 256 * 1024 * 1024;
const HEAD_BYTES = 4096;
/** What Git leaves where a file is kept elsewhere: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
const LFS_POINTER =
  /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/[\s\S]{0,900}\nsize (\d{1,15})\n/;
const POINTER_BYTES = 1024;
/** Unpacked at a time. What is on its way when a damaged archive ends is lost, so not too much. */
const UNPACK_BYTES = 1 << 16;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Smaller packed files are read before a thread has started. */
const WORTH_A_THREAD = 8 * 1024 * 1024;

export class ProfileFile {
  readonly name: string;
  readonly sizeBytes: number;
  private readonly packing: Packing | undefined;
  /** Why unpacking stopped before its end, or found a wrong checksum there. */
  unpackingFailed?: string;
  private readonly fd: number;
  private closed = false;
  private temporary?: { fd: number; path: string };

  private constructor(
    readonly path: string,
    name?: string,
  ) {
    this.name = name ?? path.split(/[\\/]/).pop() ?? path;
    const called = name ?? path;
    try {
      // Opening a pipe waits for whoever writes to it, perhaps for ever.
      if (!fs.statSync(path).isFile()) throw notAFile(called);
      this.fd = fs.openSync(path, 'r');
    } catch (error) {
      throw error instanceof UserError ? error : openError(called, error as NodeJS.ErrnoException);
    }
    const stat = fs.fstatSync(this.fd);
    this.sizeBytes = stat.size;
    const opening = Buffer.alloc(POINTER_BYTES);
    const got = fs.readSync(this.fd, opening, 0, POINTER_BYTES, 0);
    this.packing = packingOf(opening);
    if (stat.size === 0) {
      this.close();
      throw new UserError(
        'not-a-profile',
        `${called} is empty.`,
        'The profiler probably stopped before it wrote its output. Capture again.',
      );
    }
    const pointer = LFS_POINTER.exec(opening.toString('latin1', 0, got));
    if (pointer) {
      this.close();
      throw new UserError(
        'not-found',
        `${called} is a Git LFS pointer; the file itself (${formatBytes(Number(pointer[1]))}) is missing.`,
        `Fetch it in its repository: git lfs pull --include=${JSON.stringify(this.name)}`,
      );
    }
  }

  /** `name` is what messages call it, where the path means nothing to the user. */
  static open(path: string, name?: string): ProfileFile {
    return new ProfileFile(path, name);
  }

  get packed(): boolean {
    return this.packing !== undefined;
  }

  /** The most bytes that will be unpacked from this file. */
  get unpackLimit(): number {
    return Math.max(ALWAYS_ALLOWED, this.sizeBytes * MAX_RATIO);
  }

  /** First bytes of the content, or all of it where there is less. */
  async head(bytes = HEAD_BYTES): Promise<Uint8Array> {
    // A thread of Node's to wait for a few bytes takes longer than they do.
    if (!this.packed) {
      const head = new Uint8Array(bytes);
      return head.subarray(0, fs.readSync(this.fd, head, 0, bytes, 0));
    }
    const parts: Uint8Array[] = [];
    let missing = bytes;
    try {
      for await (const chunk of this.chunks(bytes)) {
        parts.push(chunk.subarray(0, missing));
        missing -= Math.min(missing, chunk.length);
        if (missing === 0) break;
      }
    } catch (error) {
      if (!(error instanceof CutOffError)) throw error;
      // What came before the cut may tell what it was.
      this.unpackingFailed = error.message;
      if (missing === bytes) throw this.archiveError();
    }
    return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }

  /** The content from front to end. `readBytes` is how far into the file on disk we are, for progress. */
  async *chunks(chunkBytes = CHUNK_BYTES): AsyncGenerator<Uint8Array & { readBytes?: number }> {
    if (this.packing === undefined) {
      yield* this.plainChunks(chunkBytes);
      return;
    }
    yield* this.unpacked(unpackFile(this.fd, this.packing, Math.min(chunkBytes, UNPACK_BYTES)));
  }

  private async *unpacked(
    pieces: AsyncIterable<UnpackedPiece>,
  ): AsyncGenerator<Uint8Array & { readBytes?: number }> {
    let written = 0;
    try {
      for await (const { bytes, readBytes } of pieces) {
        written += bytes.length;
        if (written > this.unpackLimit) throw this.bombError();
        yield Object.assign(bytes, { readBytes });
      }
    } catch (error) {
      if (error instanceof UserError) throw error;
      // What was unpacked so far has been handed out; the importer decides what a cut file is worth.
      throw new CutOffError(`${this.name}: ${(error as Error).message}`);
    }
  }

  /**
   * Like `chunks`, for large files read once: a chunk is good only until the next one is asked for. Two buffers take
   * turns, and while one is being worked on the other is already being filled.
   */
  async *borrowedChunks(chunkBytes = CHUNK_BYTES): AsyncGenerator<Uint8Array & { readBytes?: number }> {
    if (this.packing !== undefined && this.sizeBytes >= WORTH_A_THREAD && os.availableParallelism() > 1) {
      yield* this.unpacked(unpackAhead(this.fd, this.packing, UNPACK_BYTES));
      return;
    }
    if (this.packed) {
      yield* this.chunks(chunkBytes);
      return;
    }
    let position = 0;
    // Zeroing eight megabytes would take longer than reading a small file.
    const room = Math.max(1, Math.min(chunkBytes, this.sizeBytes));
    let filling = new Uint8Array(room);
    let spare = new Uint8Array(room);
    let coming = readAt(this.fd, filling, position);
    try {
      while (true) {
        const got = await coming;
        if (got === 0) return;
        position += got;
        const chunk = Object.assign(filling.subarray(0, got), { readBytes: position });
        [filling, spare] = [spare, filling];
        coming = readAt(this.fd, filling, position);
        yield chunk;
      }
    } finally {
      // A reader that stops early must not leave a read behind that outlives the descriptor.
      await coming.catch(() => 0);
    }
  }

  private async *plainChunks(chunkBytes: number): AsyncGenerator<Uint8Array & { readBytes?: number }> {
    let position = 0;
    while (true) {
      const buffer = new Uint8Array(chunkBytes);
      const got = await readAt(this.fd, buffer, position);
      if (got === 0) return;
      position += got;
      yield Object.assign(buffer.subarray(0, got), { readBytes: position });
    }
  }

  /** Random access. A packed file is unpacked to a temporary file without a name first, gone when this one is closed. */
  async randomAccess(onProgress?: (done: number) => void): Promise<ByteSource & { fd: number }> {
    if (!this.packed) return new DescriptorSource(this.fd);
    if (!this.temporary) {
      const folder = makeTemporaryFolder('stepscope-');
      const file = path.join(folder, 'unpacked');
      this.temporary = { fd: fs.openSync(file, 'wx+', 0o600), path: folder };
      // Open files need no name: however this process ends, nothing of it is left. Windows does not allow it.
      if (process.platform !== 'win32') removeTemporaryFolder(folder);
      try {
        for await (const chunk of this.chunks()) {
          fs.writeSync(this.temporary.fd, chunk);
          onProgress?.((chunk.readBytes ?? 0) / this.sizeBytes);
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
          throw new UserError(
            'no-space',
            `The disk of ${os.tmpdir()} is full: ${this.name} cannot be decompressed.`,
            'Free some disk space, or set TMPDIR to a folder on a larger disk.',
          );
        }
        // A cut-off archive still holds the pages before the cut.
        if (!(error instanceof CutOffError)) throw error;
        if (fs.fstatSync(this.temporary.fd).size < HEAD_BYTES) throw this.archiveError();
        this.unpackingFailed = error.message;
      }
    }
    return new DescriptorSource(this.temporary.fd);
  }

  close(): void {
    // Not a second time: the number may by then belong to another file, or to a thread that is starting.
    if (!this.closed) fs.closeSync(this.fd);
    this.closed = true;
    if (this.temporary) {
      fs.closeSync(this.temporary.fd);
      removeTemporaryFolder(this.temporary.path);
      this.temporary = undefined;
    }
  }

  archiveError(): UserError {
    return new UserError(
      'damaged',
      `${this.name} is compressed, and the archive is truncated or damaged.`,
      'Copy it again and compare its size with the original.',
    );
  }

  private bombError(): UserError {
    return new UserError(
      'too-large',
      `${this.name} decompresses to more than ${formatBytes(this.unpackLimit)}, over ${MAX_RATIO} times its size.`,
      `No real profile compresses that well. If you trust it, decompress it yourself (${this.packing?.unpacker}) and open the result.`,
    );
  }
}

/** The packed stream ended early or is damaged. */
export class CutOffError extends Error {}

class DescriptorSource implements ByteSource {
  readonly size: number;

  constructor(readonly fd: number) {
    this.size = fs.fstatSync(fd).size;
  }

  read(into: Uint8Array, position: number): number {
    return readFully(this.fd, into, position);
  }
}

export function readFully(fd: number, into: Uint8Array, position: number): number {
  let filled = 0;
  while (filled < into.length) {
    const got = readSome(fd, into, filled, position + filled);
    if (got === 0) break;
    filled += got;
  }
  return filled;
}

function readSome(fd: number, into: Uint8Array, offset: number, position: number): number {
  try {
    return fs.readSync(fd, into, offset, into.length - offset, position);
  } catch (error) {
    throw new UserError(
      'unreadable',
      `Reading failed: ${(error as Error).message}`,
      'Check the disk or the network share.',
    );
  }
}

function notAFile(path: string): UserError {
  return new UserError(
    'not-found',
    `${path} is not a file.`,
    'Give a profile, a folder of profiles, or - for standard input.',
  );
}

function openError(path: string, error: NodeJS.ErrnoException): UserError {
  if (error.code === 'ENOENT')
    return new UserError('not-found', `${path} does not exist.`, 'Check the path.');
  if (error.code === 'EACCES') {
    return new UserError('unreadable', `${path} is not readable by this user.`, `Try: chmod +r ${path}`);
  }
  return new UserError(
    'unreadable',
    `${path} cannot be opened: ${error.message}`,
    'Check the path and the disk.',
  );
}
