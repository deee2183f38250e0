/** Small words of headlines. */
import { formatCount } from '../base/units.js';
import type { Phase } from '../catalog/phases.js';

/** What figures divided by the number of steps are per. */
export const perStep = (phase: Phase | null): string => (phase === null ? 'in total' : 'per step');

/** What a share is of. */
export const ofStep = (phase: Phase | null): string => (phase === null ? 'of the time' : 'of a step');

/** A mean count without needless digits: 3, 7.4, 2,041. */
export const formatMean = (count: number): string => formatCount(Number(count.toFixed(count < 10 ? 1 : 0)));

export const sumOf = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

/** A smaller one would read as +0.0%. */
export const readsAsGain = (gain: number): boolean => gain >= 0.0005;

/** `+12%`, or `×7.3` where it more than doubles. */
export function formatThroughput(gain: number): string {
  return gain >= 1 ? `×${(1 + gain).toFixed(1)}` : `+${(gain * 100).toFixed(gain < 0.01 ? 1 : 0)}%`;
}
