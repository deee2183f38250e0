/** The figures of a profile that are put beside each other: one list for the page, CSV, JSON and the documentation. */
import type { ColumnKind } from '../analyze/block.js';

export type MeasureGroup = 'token' | 'kernels' | 'memory';

export interface Measure {
  readonly id: MeasureId;
  readonly group: MeasureGroup;
  readonly label: string;
  readonly kind: ColumnKind;
  readonly about: string;
}

export type MeasureId =
  | 'stepNs'
  | 'tokensPerStep'
  | 'wallNsPerToken'
  | 'kernelNsPerToken'
  | 'communicationNsPerToken'
  | 'copyNsPerToken'
  | 'hostNsPerToken'
  | 'otherIdleNsPerToken'
  | 'kernelsPerLayer'
  | 'kernelsPerStep'
  | 'meanKernelNs'
  | 'graphCoverage'
  | 'ofLeastTime'
  | 'peakBytes'
  | 'allocationsPerStep'
  | 'copiesPerStep'
  | 'copyBytesPerStep'
  | 'waitedCopiesPerStep';

const measure = (
  id: MeasureId,
  group: MeasureGroup,
  label: string,
  kind: ColumnKind,
  about: string,
): Measure => ({ id, group, label, kind, about });

export const measures: readonly Measure[] = [
  measure('stepNs', 'token', 'Step', 'ns-mean', 'wall time of a step'),
  measure('tokensPerStep', 'token', 'Tokens per step', 'mean', 'as the step markers say'),
  measure('wallNsPerToken', 'token', 'Wall per token', 'ns-mean', 'the sum of the five parts'),
  measure('kernelNsPerToken', 'token', 'Kernels per token', 'ns-mean', 'compute: a union, not a sum'),
  measure('communicationNsPerToken', 'token', 'Comm per token', 'ns-mean', 'exposed communication'),
  measure('copyNsPerToken', 'token', 'Copies per token', 'ns-mean', 'exposed copies and memsets'),
  measure('hostNsPerToken', 'token', 'Host per token', 'ns-mean', 'GPU idle, caused by the host'),
  measure('otherIdleNsPerToken', 'token', 'Other idle per token', 'ns-mean', 'device-side wait and unknown'),
  measure('kernelsPerLayer', 'kernels', 'Kernels per layer', 'mean', 'fewer: more is fused'),
  measure('kernelsPerStep', 'kernels', 'Kernels per step', 'mean', 'median of the steps on one device'),
  measure('meanKernelNs', 'kernels', 'Mean kernel', 'ns-mean', 'kernel time by kernels'),
  measure('graphCoverage', 'kernels', 'In CUDA graphs', 'share', 'of GPU time'),
  measure('ofLeastTime', 'kernels', 'Of speed of light', 'share', 'least time of the step by its time'),
  measure('peakBytes', 'memory', 'Peak GPU memory', 'bytes', 'of the device that has most in use'),
  measure('allocationsPerStep', 'memory', 'Allocations per step', 'mean', 'calls that allocate or free'),
  measure('copiesPerStep', 'memory', 'Copies per step', 'mean', 'copies and memsets on one device'),
  measure('copyBytesPerStep', 'memory', 'Copied per step', 'bytes', 'bytes of those'),
  measure('waitedCopiesPerStep', 'memory', 'Copies waited for', 'mean', 'per step: the host waits for them'),
];

/** Figures of the benchmark that have a row where anyone has them; the first that all have ranks them. */
export const benchRows: readonly string[] = [
  'outputTokensPerSecond',
  'requestsPerSecond',
  'totalTokensPerSecond',
  'ttftMeanNs',
  'ttftP99Ns',
  'tpotMeanNs',
  'tpotP99Ns',
  'itlMeanNs',
  'e2eMeanNs',
];
