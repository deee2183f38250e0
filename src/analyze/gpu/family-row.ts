/** A line of the table of kernel families. */
import type { Phase } from '../../catalog/phases.js';

interface FamilyPhase {
  readonly phase: Phase | null;
  readonly kernels: number;
  readonly totalNs: number;
  readonly kernelsPerStep: number;
  readonly nsPerStep: number;
}

export interface VariantRow {
  readonly variant: string;
  readonly dtype: string;
  readonly library: string;
  readonly kernels: number;
  readonly totalNs: number;
}

export interface FamilyRow {
  readonly key: string;
  readonly family: string;
  readonly kernels: number;
  readonly totalNs: number;
  readonly share: number;
  readonly kernelsPerStep: number;
  readonly nsPerStep: number;
  readonly distinct: number;
  readonly phases: readonly FamilyPhase[];
  readonly variants: readonly VariantRow[];
}
