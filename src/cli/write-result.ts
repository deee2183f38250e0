/** Results written to files the user named. */
import * as fs from 'node:fs';
import { UserError } from '../base/user-error.js';
import type { Output } from './command.js';

export function writeResult(file: string, content: string, force: boolean, output: Output): void {
  try {
    fs.writeFileSync(file, content, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new UserError(
        'usage',
        `${file} is there already.`,
        'Choose another -o, or overwrite with --force.',
      );
    }
    throw new UserError(
      'usage',
      `${file} cannot be written: ${(error as Error).message}`,
      'Check the folder given with -o.',
    );
  }
  output.err(`wrote ${file}\n`);
}
