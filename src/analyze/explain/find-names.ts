/** Names in a profile that match a pattern: kernels, calls, ranges, operators and functions, each with count and time. */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import { tableNamed } from '../../model/rows.js';
import type { WantedTables } from '../wanted-tables.js';

const tables = ['kernels', 'apiCalls', 'ranges', 'ops', 'osCalls', 'frames'] as const;

export const namesFrom: WantedTables = Object.fromEntries(tables.map(table => [table, []]));

export interface FoundName {
  readonly key: string;
  readonly table: string;
  readonly name: string;
  readonly count: number;
  /** Sum of durations; null: marks, which have none. */
  readonly totalNs: number | null;
  readonly longestNs: number | null;
  /** Start of the first one. */
  readonly firstNs: number;
}

/** Most time first. */
export function findNames(profile: Profile, pattern: RegExp): FoundName[] {
  return tables
    .flatMap(table => namesOf(profile, table, pattern))
    .sort((a, b) => (b.totalNs ?? 0) - (a.totalNs ?? 0) || (a.key < b.key ? -1 : 1));
}

function namesOf(profile: Profile, name: (typeof tables)[number], pattern: RegExp): FoundName[] {
  const table = tableNamed(profile, name) as unknown as
    | { length: number; start: Float64Array; end: Float64Array; name: Int32Array }
    | undefined;
  if (!table) return [];
  const sums = new Map<
    number,
    { count: number; timed: number; totalNs: number; longestNs: number; firstNs: number }
  >();
  for (let row = 0; row < table.length; row++) {
    const id = table.name[row];
    if (id === NONE) continue;
    let sum = sums.get(id);
    if (!sum) {
      sum = { count: 0, timed: 0, totalNs: 0, longestNs: 0, firstNs: table.start[row] };
      sums.set(id, sum);
    }
    const ns = table.end[row] - table.start[row];
    sum.count++;
    if (Number.isNaN(ns)) continue;
    sum.timed++;
    sum.totalNs += ns;
    sum.longestNs = Math.max(sum.longestNs, ns);
  }
  return [...sums].flatMap(([id, { timed, totalNs, longestNs, ...sum }]) => {
    const text = profile.strings.text(id);
    if (!pattern.test(text)) return [];
    const times = timed > 0 ? { totalNs, longestNs } : { totalNs: null, longestNs: null };
    return [{ key: `${name}:${text}`, table: name, name: text, ...sum, ...times }];
  });
}
