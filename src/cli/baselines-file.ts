/** Files of baselines on disk: read with a bound, written as a whole or not at all. */
import * as fs from 'node:fs';
import { UserError } from '../base/user-error.js';
import { withLock } from '../disk/file-lock.js';
import { writeWhole } from '../disk/write-whole.js';
import { type Baselines, formatBaselines } from '../gate/baselines.js';
import { parseBaselines } from '../gate/read-baselines.js';
import { readBounded } from './read-bounded.js';

const MOST_BYTES = 64e6;

export function readBaselines(file: string): Baselines {
  return parseBaselines(
    readBounded(file, MOST_BYTES, 'Create one with: stepscope baseline save NAME FILE'),
    file,
  );
}

/** Where the file is not there yet, there are none. */
export const readBaselinesIfThere = (file: string): Baselines =>
  fs.existsSync(file) ? readBaselines(file) : { baselines: [] };

/**
 * Changes the file as it is at this moment. Several jobs may save at the same time: each sees what the one before it
 * wrote, and none reports a success that another one overwrote.
 */
export function changeBaselines(file: string, change: (known: Baselines) => Baselines): void {
  if (fs.statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new UserError('unreadable', `${file} is not a file.`, 'Name a file with --baselines.');
  try {
    withLock(file, () => writeWhole(file, formatBaselines(change(readBaselinesIfThere(file)))));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      'unreadable',
      `${file} cannot be written: ${(error as Error).message}`,
      'Check the folder given with --baselines.',
    );
  }
}
