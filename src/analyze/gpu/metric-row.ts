/** A line of the GPU metrics. */
import type { Phase } from '../../catalog/phases.js';

export interface MetricRow {
  readonly key: string;
  readonly device: number;
  readonly metric: string;
  readonly unit: string;
  readonly phase: Phase | null;
  readonly family: string | null;
  readonly overWindow: number | null;
  readonly overBusy: number | null;
  readonly uncertainty: number | null;
  readonly bytesPerSecond: number | null;
  readonly coveredNs: number;
}
