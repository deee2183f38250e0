/**
 * How closely two figures of several frameworks go together. Few points line up by chance, so beside each coefficient
 * stands how often: the share of all orders of the second figure that go together at least as closely.
 */
import type { Static } from '../../base/document.js';
import { pearson, ranks } from '../../stats/correlation.js';
import type { correlationSchema } from './frameworks-schema.js';

export type Correlation = Static<typeof correlationSchema>;

/** Two points always lie on a line. */
const FEWEST_POINTS = 3;
/** From here on a coefficient means something by itself. */
const ENOUGH_POINTS = 8;
/** 8! orders are looked at in a blink, 10! are not. */
const MOST_ORDERED = 8;
const SAME = 1e-9;

export function correlate(x: readonly number[], y: readonly number[]): Correlation {
  const points = x.length;
  if (points < FEWEST_POINTS)
    return { points, pearson: null, spearman: null, chance: null, warning: tooFew(points) };
  const [xRanks, yRanks] = [ranks(x), ranks(y)];
  const spearman = pearson(xRanks, yRanks);
  const chance = spearman === null || points > MOST_ORDERED ? null : chanceOf(xRanks, yRanks, spearman);
  return { points, pearson: pearson(x, y), spearman, chance, warning: warningFor(points, spearman, chance) };
}

function tooFew(points: number): string {
  if (points === 2) return '2 points: any two points lie on a line, so a correlation means nothing.';
  return `${points === 1 ? '1 point' : 'No point'}: nothing to correlate.`;
}

function warningFor(points: number, spearman: number | null, chance: number | null): string {
  if (spearman === null) return `${points} points: one of the figures does not vary.`;
  const often = chance === null ? '' : ` Chance alone gives an order this close ${frequency(chance)}.`;
  return points < ENOUGH_POINTS
    ? `${points} points: a trend, not proof.${often}`
    : `${points} points.${often}`;
}

function frequency(chance: number): string {
  if (chance > 0.9) return 'nearly always';
  const once = Math.round(1 / chance);
  return once <= 2 ? 'every second time' : `1 time in ${once}`;
}

function chanceOf(x: readonly number[], y: readonly number[], found: number): number {
  let [orders, asClose] = [0, 0];
  const order = [...y];
  const permute = (from: number): void => {
    if (from === order.length) {
      orders++;
      if (Math.abs(pearson(x, order)!) >= Math.abs(found) - SAME) asClose++;
      return;
    }
    for (let i = from; i < order.length; i++) {
      [order[from], order[i]] = [order[i], order[from]];
      permute(from + 1);
      [order[from], order[i]] = [order[i], order[from]];
    }
  };
  permute(0);
  return asClose / orders;
}
