/**
 * Names of calls and kernels: how often each comes, and where those of one kind are. Calls come by the million and those
 * that somebody looks for (waits, graph launches, allocations) by the hundred, so the tables are read once for all.
 */
import { oncePerProfile } from '../model/once-per-profile.js';
import type { Profile } from '../model/profile.js';
import { asRows, type Rows } from '../model/rows.js';
import { nameTest } from './name-test.js';

type Named = 'apiCalls' | 'kernels';

/** By name id, how many rows have it. */
const countsOf = (table: Named) =>
  oncePerProfile(({ strings, tables }): Uint32Array => {
    const counts = new Uint32Array(strings.size);
    const names = (tables[table]?.name ?? []) as ArrayLike<number>;
    for (let row = 0; row < names.length; row++) counts[names[row]]++;
    return counts;
  });
const counts: Readonly<Record<Named, (profile: Profile) => Uint32Array>> = {
  apiCalls: countsOf('apiCalls'),
  kernels: countsOf('kernels'),
};

/** Ids of names that rows of the table have. */
export function namesUsed(profile: Profile, table: Named): number[] {
  const found: number[] = [];
  counts[table](profile).forEach((count, id) => {
    if (count > 0) found.push(id);
  });
  return found;
}

/** Rows of the table with such a name. */
export function countNamed(profile: Profile, table: Named, isNamed: (id: number) => boolean): number {
  const perName = counts[table](profile);
  return namesUsed(profile, table).reduce((sum, id) => sum + (isNamed(id) ? perName[id] : 0), 0);
}

const knownRows = oncePerProfile(() => new Map<RegExp, Int32Array>());

/** Rows of calls with such a name, in order. For patterns that few calls match. */
export function callsNamed(profile: Profile, pattern: RegExp): Rows<'apiCalls'> {
  const known = knownRows(profile);
  let rows = known.get(pattern);
  if (!rows) {
    const isNamed = nameTest(profile, pattern);
    rows = new Int32Array(countNamed(profile, 'apiCalls', isNamed));
    const names = (profile.tables.apiCalls?.name ?? []) as ArrayLike<number>;
    for (let row = 0, found = 0; found < rows.length; row++) if (isNamed(names[row])) rows[found++] = row;
    known.set(pattern, rows);
  }
  return asRows(rows);
}
