/** Where the rows of an analysis are on a timeline, and what of them can be drawn small beside their figures. */
import type { Place, Spread } from './block.js';

type AnyRow = Readonly<Record<string, unknown>>;

/** What fits into a cell. */
const MOST_BARS = 48;

/** A stretch of time where the row has one; for kernels and families the search that finds them all. */
export function placeOfRow({ key, startNs, endNs, durationNs, kernel, name }: AnyRow): Place | null {
  if (typeof startNs === 'number') {
    if (typeof endNs === 'number') return { startNs, endNs };
    if (typeof durationNs === 'number') return { startNs, endNs: startNs + durationNs };
  }
  if (typeof kernel === 'string' && typeof name === 'string') return { query: nameQuery(name) };
  if (typeof key === 'string' && /^family:[a-z-]+$/.test(key)) return { query: key };
  return null;
}

/** Searches have a longest length; so much of a name tells it from all others but its closest kin. */
const LONGEST_NAME = 400;

/** The search for events of this name. */
export const nameQuery = (name: string): string =>
  `name:"${name.slice(0, LONGEST_NAME).replace(/["\\]/g, '\\$&')}"`;

/** Of long series the highest of each stretch, so that peaks stay. */
export function barsOf(header: string, rows: readonly AnyRow[], list: string, member: string): Spread {
  return {
    header,
    bars: rows.map(row => {
      const items = (row[list] ?? []) as readonly Readonly<Record<string, number>>[];
      const stride = Math.max(1, Math.ceil(items.length / MOST_BARS));
      return Array.from({ length: Math.ceil(items.length / stride) }, (_, i) =>
        items.slice(i * stride, (i + 1) * stride).reduce((most, item) => Math.max(most, item[member]), 0),
      );
    }),
  };
}
