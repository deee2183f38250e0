/** What `stepscope sql` was given: a question or none, and the files or the lake it is about. */
import * as fs from 'node:fs';
import type { Settings } from '../../analyze/analysis.js';
import { closestWord } from '../../base/closest-word.js';
import { UserError } from '../../base/user-error.js';
import { Lake } from '../../fleet/lake.js';
import type { Profile } from '../../model/profile.js';
import { lakeSource } from '../../sql/lake-source.js';
import type { SqlSource } from '../../sql/sql-session.js';
import type { SqlTable } from '../../sql/sql-table.js';
import { profileSource } from '../../sql/tables.js';
import type { Output } from '../output.js';
import { profileOf } from '../profile-of.js';

/** A question has a space in it; a file exists. */
export function splitSql(given: readonly string[]): { sql?: string; files: readonly string[] } {
  const [first, ...others] = given;
  if (first === undefined) return { files: [] };
  return !fs.existsSync(first) && /\s/.test(first.trim()) ? { sql: first, files: others } : { files: given };
}

/** Where the tables come from: the files of one run, or a lake. `onProfile` gets what was opened. */
export async function openSource(
  files: readonly string[],
  settings: Settings,
  output: Output,
  onProfile?: (profile: Profile) => void,
): Promise<SqlSource> {
  if (files.length === 0)
    throw new UserError(
      'usage',
      'No profile and no lake was given.',
      'For example: stepscope sql "SELECT family, sum(durationNs) FROM kernels GROUP BY ALL" profile.sqlite',
    );
  const isLake = files.some(file => Lake.isAt(file));
  if (isLake && files.length > 1)
    throw new UserError('usage', 'A lake is asked alone.', 'Give one lake, or the files of one run.');
  if (isLake) return lakeSource(files[0]);
  return profileSource(async tables => {
    const profile = await profileOf(files, output, tables);
    onProfile?.(profile);
    return profile;
  }, settings);
}

/** Tables by their names or other names, as often as they were named: once; all where none was. */
export function chosenTables(tables: readonly SqlTable[], names: readonly string[]): readonly SqlTable[] {
  if (names.length === 0) return tables;
  const found = names.map(name => {
    const own = name.replaceAll('-', '_').toLowerCase();
    const table = tables.find(each => each.name === own || each.aliases?.includes(own));
    if (table) return table;
    const meant = closestWord(
      own,
      tables.flatMap(each => [each.name, ...(each.aliases ?? [])]),
    );
    throw new UserError(
      'usage',
      `There is no table ${JSON.stringify(name)}.`,
      `${meant === undefined ? '' : `Did you mean ${meant}? `}stepscope sql --tables lists the tables.`,
    );
  });
  return [...new Set(found)];
}
