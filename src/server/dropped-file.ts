/**
 * A file dropped onto the page. Importers read files, so its bytes go to one of our own making, in a folder for this
 * user alone; what the client calls it is shown and never becomes a path. Whatever happens, the folder goes again.
 */
import * as fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import * as os from 'node:os';
import * as path from 'node:path';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { fileFormats } from '../catalog/file-formats.js';
import { makeTemporaryFolder, removeTemporaryFolder } from '../disk/temporary-folder.js';
import { Refusal, SenderGone } from './refusal.js';

/** nsys insists on this ending for its reports; nothing else looks at it. */
const FILE_NAME = `dropped${fileFormats.nsysRep.endings[0]}`;
const LONGEST_NAME = 200;
/** Written at a time: pieces as they arrive are small, and each write costs a turn. */
const WRITE_BYTES = 1 << 20;
/** More at a time than anyone drops by hand. */
const MOST_AT_ONCE = 16;
/** A sender that sends nothing for so long is gone. */
const STALLED_MS = 5 * 60_000;

export const DEFAULT_LARGEST_DROP_BYTES = 8e9;

/** What to call it: its base name, without what cannot be seen or would turn the text around. */
export function displayName(given: string | null): string {
  const base = (given ?? '').split(/[\\/]/).at(-1)!;
  const visible = base.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return [...visible].slice(0, LONGEST_NAME).join('') || 'dropped file';
}

export class DroppedFiles {
  private readonly folders = new Set<string>();

  constructor(
    private readonly largestBytes = DEFAULT_LARGEST_DROP_BYTES,
    private readonly parent = os.tmpdir(),
  ) {}

  /** Refuses what need not be read at all. */
  check(request: IncomingMessage): void {
    if (Number(request.headers['content-length'] ?? 0) > this.largestBytes) throw this.tooLarge();
    if (this.folders.size >= MOST_AT_ONCE) {
      throw new Refusal(503, 'Too many files are being opened at once.', 'Drop it again in a few seconds.');
    }
  }

  /** Keeps the body in a file for as long as `use` runs. */
  async keepWhile<Result>(
    request: IncomingMessage,
    onProgress: (done: number) => void,
    use: (file: string) => Promise<Result>,
  ): Promise<Result> {
    const folder = this.makeFolder();
    try {
      const file = path.join(folder, FILE_NAME);
      await this.receive(request, file, onProgress);
      return await use(file);
    } finally {
      this.remove(folder);
    }
  }

  removeAll(): void {
    for (const folder of this.folders) this.remove(folder);
  }

  private async receive(
    request: IncomingMessage,
    file: string,
    onProgress: (done: number) => void,
  ): Promise<void> {
    const expected = Number(request.headers['content-length'] ?? Number.NaN);
    request.setTimeout(STALLED_MS, () => request.destroy());
    let received = 0;
    let handle: fs.promises.FileHandle | undefined;
    try {
      handle = await fs.promises.open(file, 'wx', 0o600);
      // The connection stays, so that a refusal can still be told.
      let waiting: Uint8Array[] = [];
      let written = 0;
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        received += chunk.length;
        if (received > this.largestBytes) throw this.tooLarge();
        waiting.push(chunk);
        if (received - written < WRITE_BYTES) continue;
        await handle.writeFile(Buffer.concat(waiting));
        waiting = [];
        written = received;
        if (expected > 0) onProgress(received / expected);
      }
      await handle.writeFile(Buffer.concat(waiting));
    } catch (error) {
      if (request.destroyed && !request.complete) throw new SenderGone();
      throw unwritable(error);
    } finally {
      await handle?.close();
      // Opening it may take longer than a sender may be silent.
      request.setTimeout(0);
    }
  }

  private makeFolder(): string {
    try {
      const folder = makeTemporaryFolder('stepscope-dropped-', this.parent);
      this.folders.add(folder);
      return folder;
    } catch (error) {
      throw unwritable(error);
    }
  }

  private remove(folder: string): void {
    this.folders.delete(folder);
    removeTemporaryFolder(folder);
  }

  private tooLarge(): Refusal {
    return new Refusal(
      413,
      `The file is larger than the ${formatBytes(this.largestBytes)} limit for dropped files.`,
      'Open it from the command line instead: stepscope view FILE',
    );
  }
}

/** The disk's fault is one the user can mend. */
function unwritable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof Refusal || code === undefined) return error;
  const what =
    code === 'ENOSPC'
      ? 'The disk is full: the dropped file cannot be stored'
      : 'The dropped file cannot be stored';
  return new UserError(
    'no-space',
    `${what}: ${message}`,
    'Free some disk space, or set TMPDIR to a folder on a larger disk and restart.',
  );
}
