/** The tables of a profile that SQL can ask: the registry, and the source that fills them. */
import { Analyzer, type Settings, tablesReadBy } from '../analyze/analysis.js';
import { shapesToRead } from '../analyze/inference/multiplied-sizes.js';
import type { Profile } from '../model/profile.js';
import type { TableName } from '../model/schema.js';
import { analysisTables } from './analysis-tables.js';
import { eventTables } from './event-tables.js';
import type { SqlSource } from './sql-session.js';
import type { SqlTable } from './sql-table.js';

export const profileTables: readonly SqlTable[] = [...eventTables, ...analysisTables];

/** What must be read of a file for these tables. */
function readFor(tables: readonly SqlTable[], { model }: Settings): Map<TableName, string[]> {
  const used = tables.flatMap(({ uses = [] }) => uses);
  const wanted = tablesReadBy(model === undefined || used.length === 0 ? used : [...used, shapesToRead]);
  for (const { reads = {} } of tables)
    for (const [table, columns] of Object.entries(reads) as [TableName, readonly string[]][])
      wanted.set(table, [...(wanted.get(table) ?? []), ...columns]);
  return wanted;
}

/** `open` is asked again when a later question needs more of the file. */
export function profileSource(
  open: (tables: ReadonlyMap<TableName, readonly string[]>) => Promise<Profile>,
  settings: Settings,
): SqlSource {
  const asked = new Set<SqlTable>();
  let analyzer: Analyzer | undefined;
  return {
    tables: profileTables,
    async prepare(tables) {
      if (analyzer && tables.every(table => asked.has(table))) return;
      for (const table of tables) asked.add(table);
      analyzer = new Analyzer(await open(readFor([...asked], settings)), settings);
    },
    content: table => table.content(analyzer!),
  };
}
