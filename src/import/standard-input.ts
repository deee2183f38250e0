/**
 * `-` stands for standard input. What comes through it is kept in a file, since importers need random access and the
 * same input may be opened more than once.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { makeTemporaryFolder } from '../disk/temporary-folder.js';

const STANDARD_INPUT = '-';
let kept: Promise<string> | undefined;

interface Input {
  readonly path: string;
  /** What messages call it, where its path means nothing to the user. */
  readonly name?: string;
}

/** Where what the user named lies on disk. */
export async function inputOnDisk(given: string): Promise<Input> {
  if (given !== STANDARD_INPUT) return { path: given };
  kept ??= keepStandardInput();
  return { path: await kept, name: 'standard input' };
}

async function keepStandardInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new UserError(
      'usage',
      'Standard input is a terminal, not a file.',
      'For example: ssh server cat profile.sqlite | stepscope analyze -',
    );
  const file = path.join(makeTemporaryFolder('stepscope-input-'), 'standard-input');
  const fd = fs.openSync(file, 'wx', 0o600);
  try {
    for await (const chunk of process.stdin) fs.writeSync(fd, chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    throw new UserError(
      'no-space',
      `The disk of ${os.tmpdir()} is full: standard input cannot be stored.`,
      'Free some disk space, or set TMPDIR to a folder on a larger disk.',
    );
  } finally {
    fs.closeSync(fd);
  }
  return file;
}
