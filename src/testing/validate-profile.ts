/** Checks that a Profile keeps its promises. Tests run it on everything they import; it must find nothing. */
import type { AnyArray } from '../base/column.js';
import { NONE } from '../base/column.js';
import type { Profile } from '../model/profile.js';
import { columnsOf, type TableName, tableNames } from '../model/schema.js';

/** What is wrong, in words; empty when nothing is. */
export function validateProfile(profile: Profile): string[] {
  const problems: string[] = [];
  for (const name of tableNames) {
    const table = profile.tables[name];
    if (table)
      checkTable(profile, name, table as unknown as { length: number } & Record<string, AnyArray>, problems);
  }
  profile.threads.forEach((thread, i) => {
    if (!profile.processes[thread.process]) problems.push(`threads[${i}] has no process`);
  });
  profile.streams.forEach((stream, i) => {
    if (!profile.processes[stream.process]) problems.push(`streams[${i}] has no process`);
    if (!profile.gpus[stream.gpu]) problems.push(`streams[${i}] has no GPU`);
  });
  return problems;
}

function checkTable(
  profile: Profile,
  name: TableName,
  table: { length: number } & Record<string, AnyArray>,
  problems: string[],
): void {
  if (table.length === 0) problems.push(`${name} is empty but present`);
  for (const [column, spec] of columnsOf(name)) {
    const cells = table[column];
    if (!cells) {
      if (!spec.optional) problems.push(`${name}.${column} is missing`);
      continue;
    }
    if (cells.length !== table.length)
      problems.push(`${name}.${column} has ${cells.length} of ${table.length} rows`);
    const limit = spec.text ? profile.strings.size : spec.ref ? sizeOf(profile, spec.ref) : undefined;
    if (limit === undefined) continue;
    const wrong = cells.findIndex((value: number) => value !== NONE && !(value >= 0 && value < limit));
    if (wrong >= 0) problems.push(`${name}.${column}[${wrong}] = ${cells[wrong]}, beyond ${limit}`);
  }
  if (!table.start) return;
  for (let row = 0; row < table.length; row++) {
    if (Number.isNaN(table.start[row])) return void problems.push(`${name}.start[${row}] is not a number`);
    if (row > 0 && table.start[row] < table.start[row - 1])
      return void problems.push(`${name} is not sorted at ${row}`);
    if (table.end && table.end[row] < table.start[row])
      return void problems.push(`${name}[${row}] ends before it starts`);
  }
}

function sizeOf(profile: Profile, ref: string): number {
  const list = profile[ref as 'gpus' | 'processes' | 'threads' | 'streams' | 'metrics'];
  return list ? list.length : (profile.tables[ref as TableName]?.length ?? 0);
}
