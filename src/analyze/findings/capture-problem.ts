/** Findings about the capture itself. */
import type { Profile } from '../../model/profile.js';
import type { Finding } from './finding.js';
import type { Claim } from './rule.js';

/** A problem of the capture: no cost and no gain of its own. */
export const captureProblem = (
  text: string,
  severity: Finding['severity'],
  evidence: Finding['evidence'],
  confirm = 'stepscope info FILE',
): Claim => ({
  claim: text,
  phase: null,
  severity,
  costNs: null,
  costShare: null,
  gain: null,
  confidence: 'certain',
  evidence,
  confirm,
});

export const hasGpuWork = ({ tables }: Profile): boolean =>
  Boolean(tables.kernels ?? tables.graphLaunches ?? tables.copies ?? tables.memsets);
