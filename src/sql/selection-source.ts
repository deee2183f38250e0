/** The events somebody has selected on the page, as the one table that SQL can ask there. */
import type { SqlSource } from './sql-session.js';
import type { SqlColumn, TableContent } from './sql-table.js';

export const selectionColumns: readonly SqlColumn[] = [
  { name: 'kind', type: 'text', about: 'gpu, idle, host, layers, replays, ranks or steps' },
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

export function selectionSource(content: TableContent): SqlSource {
  const table = {
    name: 'selection',
    about: 'the selected events',
    columns: selectionColumns,
    content: () => content,
  };
  return { tables: [table], prepare: async () => {}, content: () => content };
}
