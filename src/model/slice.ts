/**
 * The part of a Profile that touches a window of time. An event is in when it starts in the window, ends in it, or
 * spans it: the rule of `nsys stats --filter-time`.
 */
import type { AnyArray } from '../base/column.js';
import { NONE } from '../base/column.js';
import { linkLaunches } from './link.js';
import type { Profile } from './profile.js';
import { columnsOf, type TableName, tableNames } from './schema.js';

export interface TimeWindow {
  readonly fromNs: number;
  readonly toNs: number;
}

export function sliceProfile(profile: Profile, { fromNs, toNs }: TimeWindow): Profile {
  const tables: Record<string, unknown> = {};
  const newRow = new Map<TableName, Int32Array>();
  for (const name of tableNames) {
    const table = profile.tables[name] as unknown as
      | ({ length: number } & Record<string, AnyArray>)
      | undefined;
    if (!table) continue;
    const { start, end = start } = table;
    if (!start) {
      tables[name] = table;
      continue;
    }
    const within = (time: number) => time >= fromNs && time < toNs;
    const place = new Int32Array(table.length).fill(NONE);
    let kept = 0;
    for (let row = 0; row < table.length; row++) {
      if (within(start[row]) || within(end[row]) || (start[row] < fromNs && end[row] >= toNs))
        place[row] = kept++;
    }
    if (kept === 0) continue;
    newRow.set(name, place);
    const columns: Record<string, AnyArray | number> = { length: kept };
    for (const [column] of columnsOf(name)) {
      if (table[column])
        columns[column] = table[column].filter((_: number, row: number) => place[row] !== NONE);
    }
    tables[name] = columns;
  }
  const sliced: Profile = { ...profile, tables };
  followReferences(sliced, newRow);
  linkLaunches(sliced);
  return sliced;
}

function followReferences(profile: Profile, newRow: Map<TableName, Int32Array>): void {
  for (const name of newRow.keys()) {
    const table = profile.tables[name] as unknown as Record<string, AnyArray>;
    for (const [column, spec] of columnsOf(name)) {
      const cells = table[column];
      if (!cells || !spec.ref || !tableNames.includes(spec.ref as TableName) || column === 'launch') continue;
      const target = profile.tables[spec.ref as TableName];
      // A table that belongs to no time was kept whole.
      if (target && !('start' in target)) continue;
      const place = newRow.get(spec.ref as TableName);
      for (let row = 0; row < cells.length; row++)
        if (cells[row] !== NONE) cells[row] = place ? place[cells[row]] : NONE;
    }
  }
}
