/** The headline is the first finding: terminal, JSON, report and page of the web view all take it from here. */
import { formatDuration, formatShare } from '../../base/units.js';
import { formatThroughput, perStep, readsAsGain } from '../words.js';
import type { Finding } from './finding.js';

/** Remarks are none, and a broken file has a line of its own before everything. */
export const isHeadline = ({ severity, id }: Finding): boolean => severity !== 'note' && id !== 'broken-file';

/** Cause, cost and gain of a finding, in its own words. */
export function findingHeadline({ claim, costNs, costShare, gain, phase, confidence }: Finding): string {
  // A claim that names its cost needs no second mention.
  const length = costNs === null ? '' : formatDuration(costNs);
  const cost = length === '' || claim.includes(length) ? undefined : `${length} ${perStep(phase)}`;
  const share = costShare === null ? undefined : formatShare(costShare);
  const win =
    gain && readsAsGain(gain.throughput) ? `gain ${formatThroughput(gain.throughput)}, ${confidence}` : '';
  const costs = [cost, share].filter(text => text !== undefined).join(', ');
  const figures = [costs, win].filter(Boolean).join('; ');
  return `${claim}${figures === '' ? '' : ` (${figures})`}.`;
}
