/** What SQL can ask on the page: the events somebody has selected as a table, next to all tables of the profile. */
import type { Analyzer } from '../analyze/analysis.js';
import type { SqlSource } from './sql-session.js';
import type { SqlColumn, TableContent } from './sql-table.js';
import { profileTables } from './tables.js';

export const selectionColumns: readonly SqlColumn[] = [
  { name: 'kind', type: 'text', about: 'gpu, idle, host, cpu, layers, replays, ranks or steps' },
  { name: 'name', type: 'text', about: 'of the kernel, call, range or layer, in full' },
  { name: 'category', type: 'text', about: 'kernel family, idle cause, phase or host activity' },
  { name: 'track', type: 'text', about: 'stream or thread' },
  { name: 'place', type: 'text', about: 'GPU or process' },
  { name: 'iteration', type: 'whole', about: 'of the step it begins in; null: outside all steps' },
  { name: 'startNs', type: 'number', about: "on the profile's clock" },
  { name: 'endNs', type: 'number', about: "on the profile's clock" },
  { name: 'durationNs', type: 'number', about: 'of the whole event' },
  { name: 'insideNs', type: 'number', about: 'the part of it inside the selection' },
];

/** Both are asked for only when a question names a table of theirs. */
export function selectionSource(selected: () => TableContent, analyzer: () => Analyzer): SqlSource {
  const table = {
    name: 'selection',
    about: 'the selected events',
    columns: selectionColumns,
    content: selected,
  };
  return {
    tables: [table, ...profileTables],
    prepare: async () => {},
    content: asked => (asked === table ? selected() : asked.content(analyzer())),
  };
}
