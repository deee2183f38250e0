/**
 * What must be alike for two runs to be held against each other: one table (traits.ts), the same answer for everyone
 * who asks. What a difference does depends on the purpose alone.
 */
import { formatCount } from '../base/units.js';
import type { Phase } from '../catalog/phases.js';
import {
  type Effect,
  isProfiled,
  type Purpose,
  type Side,
  sameValue,
  type Trait,
  type Value,
} from './trait.js';
import { traits } from './traits.js';

export interface Sameness {
  readonly id: string;
  readonly label: string;
  readonly status: 'same' | 'differs' | 'unknown';
  readonly effect: Effect;
  /** What each side has, in their order; null: not stated or not recorded. */
  readonly values: readonly (string | null)[];
  readonly why: string;
  readonly kind?: string;
}

/** Everything a purpose asks about, of these phases. What a side does not say is unknown, not equal. */
export function samenessOf(purpose: Purpose, sides: readonly Side[], phases: readonly Phase[]): Sameness[] {
  const isThere = {
    profile: sides.some(side => side.some(isProfiled)),
    benchmark: sides.some(side => side.some(run => run.facts.load !== undefined)),
    either: true,
  };
  return traits(phases).flatMap(trait => {
    const effect = trait.effects[purpose];
    // Frameworks need both; whoever lacks one is told so.
    if (effect === undefined || !(isThere[trait.of] || purpose === 'frameworks')) return [];
    const found = judge(trait, sides);
    const isSilent = found.values.every(value => value === null) && trait.silent?.includes(purpose);
    return isSilent ? [] : [{ ...found, effect: typeof effect === 'string' ? effect : effect(sides) }];
  });
}

function judge(trait: Trait, sides: readonly Side[]): Omit<Sameness, 'effect'> {
  const { id, label, why, kind, tolerance = 0 } = trait;
  const all = sides.map(side => trait.values(side, sides));
  const known = all.flat();
  const isSame = known.every(value => sameValue(value, known[0], tolerance));
  const stated = sides.filter((_, i) => all[i].length > 0);
  const verdicts = trait.alike ? stated.map(side => trait.alike!(side, stated[0])) : [isSame];
  const status = verdicts.includes(false)
    ? 'differs'
    : stated.length < sides.length || verdicts.includes(undefined)
      ? 'unknown'
      : 'same';
  const values = all.map(side => (side.length === 0 ? null : side.map(wordsOf).join(' and ')));
  const words = typeof why === 'string' ? why : why(sides);
  return { id, label, status, values, why: words, ...(kind ? { kind } : {}) };
}

const wordsOf = (value: Value): string =>
  typeof value === 'number' ? formatCount(Number(value.toFixed(1))) : value;
