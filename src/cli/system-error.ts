/** What the system refused (a full disk, a folder one may not list, a missing TMPDIR), in two lines like any mistake. */
import { UserError, type UserErrorCode } from '../base/user-error.js';

const codes: Readonly<Record<string, UserErrorCode>> = {
  ENOENT: 'not-found',
  ENOTDIR: 'not-found',
  ENOSPC: 'no-space',
  EDQUOT: 'no-space',
};

/** Undefined for anything that is not the system's word: that is a bug of ours. */
export function systemError(error: unknown): UserError | undefined {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || typeof code !== 'string' || typeof syscall !== 'string') return undefined;
  return new UserError(
    codes[code] ?? 'unreadable',
    `${message.replaceAll('\n', ' ')}.`,
    hintFor(code, syscall),
  );
}

function hintFor(code: string, syscall: string): string {
  if (syscall === 'mkdtemp') return 'TMPDIR must name a folder that this user may write to.';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Free some room, or write elsewhere.';
  if (code === 'EACCES' || code === 'EPERM') return 'Check who may read that path, and the folders above it.';
  if (code === 'ELOOP') return 'A link there leads back to itself; remove it.';
  return 'Check the path and the disk.';
}
