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
  if (syscall === 'mkdtemp') return 'Set TMPDIR to a folder that this user can write to.';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Free some disk space, or write to another disk.';
  if (code === 'EACCES' || code === 'EPERM')
    return 'Check the permissions of that path and its parent folders.';
  if (code === 'ELOOP') return 'Remove the symbolic link that points back to itself.';
  return 'Check the path and the disk.';
}
