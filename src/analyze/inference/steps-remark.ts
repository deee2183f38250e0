/** How steps were found and which of them count, in a sentence below their table. */
import { formatDuration } from '../../base/units.js';

export function stepsRemark(
  isSequence: boolean,
  summary: Readonly<Record<string, unknown>>,
  count: number,
): string {
  if (isSequence)
    return `Iteration ${summary.iteration}, ${summary.phase}: the step with the median time, ${formatDuration(summary.wallNs as number)}; ${summary.kernels} kernels.`;
  if (count === 0) return 'No engine steps were found: mark them with NVTX, or give --marker REGEX.';
  const left = Object.entries((summary.leftOut ?? {}) as Record<string, number>).map(
    ([state, n]) => `${n} ${state}`,
  );
  const found = `${count} steps found by ${summary.foundBy}${summary.engine ? ` of ${summary.engine}` : ''} (${summary.confidence})`;
  const range = summary.rangeMeaning
    ? ` Requested ${JSON.stringify(summary.requested)}: ${summary.rangeMeaning}.`
    : '';
  return `${found}; steady state: ${left.length > 0 ? `all but ${left.join(', ')}` : 'all'}.${range}`;
}
