/** The headline is the first finding: terminal, JSON, report and page of the web view all take it from here. */
import { formatDuration, formatShare } from '../../base/units.js';
import { formatThroughput, perStep } from '../words.js';
import type { Finding } from './finding.js';

/** Remarks are none, and a broken file has a line of its own before everything. */
export const isHeadline = ({ severity, id }: Finding): boolean => severity !== 'note' && id !== 'broken-file';

/** Cause, cost and gain of a finding, in its own words. */
export function findingHeadline({ claim, costNs, costShare, gain, phase, confidence }: Finding): string {
  const cost =
    costNs === null
      ? undefined
      : `${formatDuration(costNs)} ${perStep(phase)}${costShare === null ? '' : `, ${formatShare(costShare)}`}`;
  const win =
    gain && gain.throughput > 0 ? `gain ${formatThroughput(gain.throughput)}, ${confidence}` : undefined;
  const figures = [cost, win].filter(text => text !== undefined).join('; ');
  return `${claim}${figures === '' ? '' : ` (${figures})`}.`;
}
