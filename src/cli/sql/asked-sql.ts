/** What `stepscope sql` was given: a question or none, and the files or the lake it is about. */
import * as fs from 'node:fs';
import type { Settings } from '../../analyze/analysis.js';
import { UserError } from '../../base/user-error.js';
import { Lake } from '../../fleet/lake.js';
import { lakeSource } from '../../sql/lake-source.js';
import { SqlSession } from '../../sql/sql-session.js';
import { profileSource } from '../../sql/tables.js';
import type { Output } from '../output.js';
import { profileOf } from '../profile-of.js';

/** A question has a space in it; a file exists. */
export function splitSql(given: readonly string[]): { sql?: string; files: readonly string[] } {
  const [first, ...others] = given;
  if (first === undefined) return { files: [] };
  return !fs.existsSync(first) && /\s/.test(first.trim()) ? { sql: first, files: others } : { files: given };
}

export async function openSql(
  files: readonly string[],
  settings: Settings,
  output: Output,
): Promise<SqlSession> {
  if (files.length === 0)
    throw new UserError(
      'usage',
      'No profile and no lake was given.',
      'For example: stepscope sql "SELECT family, sum(durationNs) FROM kernels GROUP BY ALL" profile.sqlite',
    );
  const isLake = files.some(file => Lake.isAt(file));
  if (isLake && files.length > 1)
    throw new UserError('usage', 'A lake is asked alone.', 'Give one lake, or the files of one run.');
  return SqlSession.open(
    isLake ? await lakeSource(files[0]) : profileSource(tables => profileOf(files, output, tables), settings),
  );
}
