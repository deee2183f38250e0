/** Whether a file is the result of a benchmark rather than a profile, by content. */
import * as fs from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { importersOf } from '../index.js';
import { ProfileFile } from '../profile-file.js';

/**
 * What begins like a profile is one: reading gigabytes as text to find no benchmark in them would be a waste. Whatever
 * else it is, the benchmark formats say it better.
 */
export async function isBenchmark(path: string): Promise<boolean> {
  if (!fs.existsSync(path)) throw new UserError('not-found', `${path} does not exist.`, 'Check the path.');
  if (fs.statSync(path).isDirectory()) return false;
  const file = ProfileFile.open(path);
  try {
    return (await importersOf(file)).length === 0;
  } finally {
    file.close();
  }
}
