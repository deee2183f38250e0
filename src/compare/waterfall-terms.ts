/** A comparison's terms as a waterfall shows them: few enough to read, and still the whole sum. */

import type { WaterfallTerm } from '../analyze/block.js';
import { plural } from '../base/units.js';
import { NEUTRAL } from '../catalog/palette.js';
import type { Term } from './term-rows.js';

/** Terms below this share of the step are added up in one line. */
const SMALL = 0.003;
const MOST_TERMS = 14;

interface Equation {
  readonly terms: readonly Term[];
  readonly from: { readonly wallNs: number };
  readonly to: { readonly wallNs: number };
}

/** The terms worth a line; all others in one, so that the sum stays what it is. */
export function shownTerms({ terms, from, to }: Equation): WaterfallTerm[] {
  const least = SMALL * Math.max(from.wallNs, to.wallNs);
  const byChange = [...terms].sort((a, b) => Math.abs(b.changeNs) - Math.abs(a.changeNs));
  const worth = new Set(
    byChange
      .filter(term => Math.abs(term.changeNs) >= least || term.fromNs >= 10 * least)
      .slice(0, MOST_TERMS),
  );
  const shown = terms.filter(term => worth.has(term));
  const rest = terms.filter(term => !worth.has(term));
  if (rest.length === 0) return shown.map(asWaterfallTerm);
  if (rest.length === 1) return terms.map(asWaterfallTerm);
  const sum = (of: (term: Term) => number | null) => rest.reduce((total, term) => total + (of(term) ?? 0), 0);
  return [
    ...shown.map(asWaterfallTerm),
    {
      label: `${plural(rest.length, 'smaller term')}`,
      color: NEUTRAL,
      fromNs: sum(term => term.fromNs),
      toNs: sum(term => term.toNs),
      changeNs: sum(term => term.changeNs),
      fromCount: sum(term => term.fromCount),
      toCount: sum(term => term.toCount),
    },
  ];
}

const asWaterfallTerm = ({
  label,
  color,
  fromNs,
  toNs,
  changeNs,
  fromCount,
  toCount,
}: Term): WaterfallTerm => ({
  ...{ label, color, fromNs, toNs, changeNs, fromCount, toCount },
});
