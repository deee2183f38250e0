/** Names of the plain files in a folder. What cannot be looked at is told apart, never followed. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';

interface FolderFiles {
  readonly names: readonly string[];
  /** Links that lead nowhere or in circles, and names that are not UTF-8 and cannot be opened by them. */
  readonly unreachable: readonly string[];
}

export function filesIn(
  folder: string,
  isWanted: (name: string) => boolean,
  { recursive = false } = {},
): FolderFiles {
  const names: string[] = [];
  const unreachable: string[] = [];
  for (const name of list(folder, recursive)) {
    if (!isWanted(name)) continue;
    try {
      if (fs.statSync(path.join(folder, name)).isFile()) names.push(name);
    } catch {
      unreachable.push(name);
    }
  }
  return { names, unreachable };
}

function list(folder: string, recursive: boolean): string[] {
  try {
    return fs.readdirSync(folder, { recursive, encoding: 'utf8' });
  } catch (error) {
    throw new UserError(
      'unreadable',
      `The folder ${folder} cannot be listed: ${(error as Error).message}`,
      'Check the permissions of the folder and its subfolders.',
    );
  }
}
