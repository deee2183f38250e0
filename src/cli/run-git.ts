/** The state of the repository around, as git tells it: which commit, and a hash of what is not committed. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { EntryChange } from '../journal/entry.js';

const MOST_BYTES = 256e6;

/** null: this is not a repository, or git is missing. */
export function runGit(folder: string): EntryChange['git'] {
  const git = (...args: string[]) => {
    const { status, stdout } = spawnSync('git', args, { cwd: folder, maxBuffer: MOST_BYTES });
    return status === 0 ? stdout : undefined;
  };
  const commit = git('rev-parse', 'HEAD')?.toString('utf8').trim();
  if (!commit) return null;
  const diff = git('diff', 'HEAD', '--no-ext-diff', '--no-color');
  const names = git('diff', 'HEAD', '--name-only', '-z')?.toString('utf8').split('\0').filter(Boolean) ?? [];
  return {
    commit,
    diffHash: diff && diff.length > 0 ? createHash('sha256').update(diff).digest('hex') : null,
    changedFiles: names.length,
  };
}
