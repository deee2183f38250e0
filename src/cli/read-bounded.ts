/** Text of a file a person wrote or keeps; too large a one is another file. */
import * as fs from 'node:fs';
import { UserError } from '../base/user-error.js';

export function readBounded(file: string, mostBytes: number, hint: string): string {
  try {
    const stat = fs.statSync(file);
    const { size } = stat;
    // A device has no end, and a pipe may never begin.
    if (!stat.isFile()) throw new UserError('unreadable', `${file} is not a file.`, hint);
    if (size > mostBytes)
      throw new UserError(
        'too-large',
        `${file} is too large: ${Math.ceil(size / 1e6)} MB.`,
        'Check that it is the right file.',
      );
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new UserError('not-found', `${file} does not exist.`, hint);
    throw new UserError('unreadable', `${file} cannot be read: ${message}`, hint);
  }
}
