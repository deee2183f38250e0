/** One thing that runs are asked about before they are held against each other. */
import type { Run } from './run.js';

/** `router`: whether nothing but the router changed. */
export type Purpose = 'compare' | 'check' | 'frameworks' | 'router';

/**
 * What a difference does. `prevents`: another question was asked. `weakens`: the same question, measured less well.
 * `explains`: it may be the very thing that is being compared.
 */
export type Effect = 'prevents' | 'weakens' | 'explains';

export type Value = string | number;

/** Runs of one thing: repeats, a profile and its benchmarks. */
export type Side = readonly Run[];

export interface Trait {
  readonly id: string;
  readonly label: string;
  /** Of a profile or of a benchmark: it is asked where a side has one. */
  readonly of: 'profile' | 'benchmark' | 'either';
  /** What the runs of a side say, each thing once; empty: they do not say. */
  values(side: Side, sides: readonly Side[]): readonly Value[];
  /** Undefined: not known to be alike. Without it values are alike within the tolerance. */
  alike?(a: Side, b: Side): boolean | undefined;
  /** Part of the larger by which numbers may differ. */
  readonly tolerance?: number;
  readonly effects: Readonly<Partial<Record<Purpose, Effect | ((sides: readonly Side[]) => Effect)>>>;
  /** What a difference, or not knowing, means for the reader. */
  readonly why: string | ((sides: readonly Side[]) => string);
  /** Purposes for which it is not worth a word where nobody says it. */
  readonly silent?: readonly Purpose[];
  /** What `--allow-different` calls it. */
  readonly kind?: string;
}

export const isProfiled = ({ facts }: Run): boolean => facts.profiler !== 'none';

/** Numbers within the tolerance, a part of the larger; texts in any case. */
export function sameValue(a: Value, b: Value, tolerance: number): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  return String(a).toLowerCase() === String(b).toLowerCase();
}
