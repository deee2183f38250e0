/**
 * Writes a file whole or not at all: beside its place first, then renamed. Whoever reads meanwhile sees the old content
 * or the new. What is not a plain file (a device, a pipe, a link to one) is written to and never replaced.
 */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';

interface WriteWhole {
  /** Refuse (EEXIST) where something is there already. */
  readonly exclusive?: boolean;
  /** Of a new file; one that is there keeps its own. */
  readonly mode?: number;
}

/** Content that may hold what is not for everyone's eyes: this user alone reads it. */
export const PRIVATE_MODE = 0o600;

export function writeWhole(
  file: string,
  content: string | Uint8Array,
  { exclusive = false, mode = 0o666 }: WriteWhole = {},
): void {
  const there = fs.statSync(file, { throwIfNoEntry: false });
  if (there && exclusive) throw Object.assign(new Error(`${file} already exists`), { code: 'EEXIST' });
  // A link to nothing is followed by writing through it, too.
  const isLink = fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if ((there && !there.isFile()) || (isLink && !there)) {
    fs.writeFileSync(file, content, { mode });
    return;
  }
  const target = there ? fs.realpathSync(file) : path.resolve(file);
  const draft = path.join(
    path.dirname(target),
    `.${path.basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}.tmp`,
  );
  try {
    writeDraft(draft, content, there ? there.mode & 0o777 : mode);
    if (exclusive) {
      fs.linkSync(draft, target);
      fs.rmSync(draft);
    } else fs.renameSync(draft, target);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    // A folder closed to us may hold a file that is open; some file systems have no links.
    const mayWriteInPlace = there && (code === 'EACCES' || code === 'EPERM' || code === 'EROFS');
    const hasNoLinks = exclusive && (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS');
    if (!mayWriteInPlace && !hasNoLinks) throw error;
    fs.writeFileSync(target, content, { mode, flag: exclusive ? 'wx' : 'w' });
  }
}

function writeDraft(draft: string, content: string | Uint8Array, mode: number): void {
  const handle = fs.openSync(draft, 'wx', mode);
  try {
    fs.writeFileSync(handle, content);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}
