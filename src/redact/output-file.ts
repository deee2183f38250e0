/**
 * Where the copy is written: a file beside the wanted one, renamed at the very end. Whatever goes wrong on the way,
 * no half of a copy is left behind under the name that was asked for.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { UserError } from '../base/user-error.js';

const BUFFER_BYTES = 1 << 20;

export class OutputFile {
  private readonly temporary: string[] = [];
  readonly packed: boolean;

  constructor(
    readonly target: string,
    private readonly force: boolean,
  ) {
    this.packed = target.toLowerCase().endsWith('.gz');
  }

  /** Refuses early what would be refused late: the profile itself, a file that is there, a folder. */
  check(input: string): void {
    const there = fs.statSync(this.target, { throwIfNoEntry: false, bigint: true });
    if (!there) return;
    const own = fs.statSync(input, { throwIfNoEntry: false, bigint: true });
    if (own && own.dev === there.dev && own.ino === there.ino)
      throw new UserError('usage', 'The output file is the input profile.', 'Choose another -o.');
    if (!there.isFile())
      throw new UserError('usage', `${this.target} is not a file.`, 'Name a file with -o.');
    if (!this.force) throw exists(this.target);
  }

  /** A new file beside the target, removed by `discard` unless it became the target. */
  begin(): { fd: number; path: string } {
    const name = `.${path.basename(this.target)}.${randomBytes(6).toString('hex')}.part`;
    const file = path.join(path.dirname(this.target), name);
    try {
      const fd = fs.openSync(file, 'wx+', 0o666);
      this.temporary.push(file);
      return { fd, path: file };
    } catch (error) {
      throw unwritable(this.target, error as Error);
    }
  }

  /** Puts a finished file in the target's place. */
  commit(finished: string): void {
    try {
      // The last moment to see that someone else has made the target meanwhile.
      if (this.force) fs.renameSync(finished, this.target);
      else {
        fs.linkSync(finished, this.target);
        fs.rmSync(finished);
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') throw exists(this.target);
      // Some file systems know no links.
      if (this.force || fs.existsSync(this.target)) throw unwritable(this.target, error as Error);
      fs.renameSync(finished, this.target);
    }
    this.discard();
  }

  discard(): void {
    for (const file of this.temporary.splice(0)) fs.rmSync(file, { force: true });
  }
}

/** Where the pages of a database go: all but the first in order, the first at the end. */
export interface PageSink {
  append(page: Uint8Array): void;
  putFirst(page: Uint8Array): void;
}

/** Where bytes go from front to end; they may be used again once this has resolved. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

/** For those who only want to know what would be removed. */
export const nowhere: PageSink & ByteSink = {
  append: () => {},
  putFirst: () => {},
  write: async () => {},
};

export class PageFile implements PageSink {
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private filled = 0;
  private position = 0;
  private readonly file: { fd: number; path: string };
  private isOpen = true;

  constructor(private readonly output: OutputFile) {
    this.file = output.begin();
  }

  append(page: Uint8Array): void {
    if (this.position === 0) this.position = page.length;
    if (this.filled + page.length > this.buffer.length) this.flush();
    this.buffer.set(page, this.filled);
    this.filled += page.length;
  }

  putFirst(page: Uint8Array): void {
    this.flush();
    writeAll(this.output, this.file.fd, page, 0);
  }

  private flush(): void {
    writeAll(this.output, this.file.fd, this.buffer.subarray(0, this.filled), this.position);
    this.position += this.filled;
    this.filled = 0;
  }

  async finish(onProgress: (done: number) => void): Promise<void> {
    this.close();
    if (!this.output.packed) {
      this.output.commit(this.file.path);
      return;
    }
    const packed = this.output.begin();
    const size = this.position;
    let read = 0;
    try {
      await pipeline(
        fs.createReadStream(this.file.path, { highWaterMark: BUFFER_BYTES }),
        async function* (chunks: AsyncIterable<Uint8Array>) {
          for await (const chunk of chunks) {
            yield chunk;
            read += chunk.length;
            onProgress(read / size);
          }
        },
        createGzip(),
        fs.createWriteStream(packed.path, { fd: packed.fd }),
      );
    } catch (error) {
      throw unwritable(this.output.target, error as Error);
    }
    this.output.commit(packed.path);
  }

  close(): void {
    // Never twice: the number may be another file's by then.
    if (this.isOpen) fs.closeSync(this.file.fd);
    this.isOpen = false;
  }
}

/** Bytes from front to end, packed on the way where the target's name asks for it. */
export class StreamFile implements ByteSink {
  private readonly file: { fd: number; path: string };
  private isOpen = true;
  private readonly gzip: Gzip | undefined;
  private position = 0;
  private failed: Error | undefined;

  constructor(private readonly output: OutputFile) {
    this.file = output.begin();
    if (!output.packed) return;
    this.gzip = createGzip();
    this.gzip.on('data', (chunk: Uint8Array) => {
      try {
        this.put(chunk);
      } catch (error) {
        this.failed ??= error as Error;
      }
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!this.gzip) this.put(bytes);
    else
      await new Promise<void>((resolve, reject) =>
        this.gzip!.write(bytes, error => (error ? reject(error) : resolve())),
      );
    if (this.failed) throw this.failed;
  }

  async finish(): Promise<void> {
    if (this.gzip) {
      const ended = once(this.gzip, 'end');
      this.gzip.end();
      await ended;
      if (this.failed) throw this.failed;
    }
    this.close();
    this.output.commit(this.file.path);
  }

  close(): void {
    this.gzip?.destroy();
    if (this.isOpen) fs.closeSync(this.file.fd);
    this.isOpen = false;
  }

  private put(bytes: Uint8Array): void {
    writeAll(this.output, this.file.fd, bytes, this.position);
    this.position += bytes.length;
  }
}

function writeAll(output: OutputFile, fd: number, bytes: Uint8Array, position: number): void {
  try {
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done);
  } catch (error) {
    throw unwritable(output.target, error as Error);
  }
}

function exists(target: string): UserError {
  return new UserError('usage', `${target} already exists.`, 'Choose another -o, or overwrite with --force.');
}

function unwritable(target: string, error: Error): UserError {
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new UserError(
      'no-space',
      `The disk is full: ${target} cannot be written.`,
      'Free some disk space, or choose another -o.',
    );
  return new UserError(
    'usage',
    `${target} cannot be written: ${error.message}`,
    'Check the folder given with -o.',
  );
}
