/** Files of baselines on disk: read with a bound, written as a whole or not at all. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { type Baselines, formatBaselines } from '../gate/baselines.js';
import { parseBaselines } from '../gate/read-baselines.js';
import { readBounded } from './read-bounded.js';

const MOST_BYTES = 64e6;

export function readBaselines(file: string): Baselines {
  return parseBaselines(readBounded(file, MOST_BYTES, 'stepscope baseline save makes one.'), file);
}

/** Where the file is not there yet, there are none. */
export const readBaselinesIfThere = (file: string): Baselines =>
  fs.existsSync(file) ? readBaselines(file) : { baselines: [] };

/** Whoever reads meanwhile sees the old file or the new one. */
export function writeBaselines(file: string, baselines: Baselines): void {
  // A link stays a link: what it points to is replaced.
  const target = fs.existsSync(file) ? fs.realpathSync(file) : file;
  const draft = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.tmp`);
  try {
    const handle = fs.openSync(draft, 'wx');
    try {
      fs.writeFileSync(handle, formatBaselines(baselines));
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
    fs.renameSync(draft, target);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw new UserError(
      'unreadable',
      `${file} cannot be written: ${(error as Error).message}`,
      'Check the folder given with --baselines.',
    );
  }
}
