/** Files to a profile, as every command opens them. */
import { recordedWith } from '../capture/run/recorded-with.js';
import { openProfile } from '../import/open.js';
import type { Profile } from '../model/profile.js';
import type { TableName } from '../model/schema.js';

export interface OpenFilesOptions {
  /** Only these tables, and of their optional columns those that are listed; everything where it is not given. */
  readonly tables?: ReadonlyMap<TableName, readonly string[]>;
  /** Told which file is being read and how far it is, 0 to 1. */
  readonly onProgress?: (file: string, done: number) => void;
}

/**
 * Opens one run: a file, the files of its ranks, a folder of them, and logs or benchmark results of the same run.
 * Throws UserError where a file cannot be read.
 */
export async function openFiles(
  files: string | readonly string[],
  options: OpenFilesOptions = {},
): Promise<Profile> {
  const given = typeof files === 'string' ? [files] : files;
  return openProfile([...given, ...(await recordedWith(given))], options);
}
