/** The summary of a lake: how much it holds, its configurations as bars, and the findings that cost most. */
import { busyParts, OTHER_IDLE, phaseLook } from '../analyze/names-and-colors.js';
import { MOST_ACTIONS, type PageSummary } from '../analyze/page-summary.js';
import { formatDuration, formatShare, plural } from '../base/units.js';
import { medianOf } from '../stats/summary.js';
import type { FleetReport, UnitMeans } from './fleet-report.js';

const MOST_BARS = 4;

export function fleetSummary({ runs, configurations, findings, data }: FleetReport): PageSummary | undefined {
  if (runs.length === 0) return undefined;
  const idle = medianOf(Float64Array.from(runs, ({ idleNs, wallNs }) => (wallNs > 0 ? idleNs / wallNs : 0)));
  // One configuration has no table of its own: then its runs are the bars.
  const shown =
    configurations.length > 1
      ? configurations.map(row => ({ ...row, name: `${row.configuration}, ${phaseLook(row.phase).label}` }))
      : runs.map(row => ({ ...row, name: `${row.run}, ${phaseLook(row.phase).label}` }));
  return {
    figures: [
      {
        value: String(runs.length),
        label: `runs with steps, from ${plural(data.files.counted.length, 'file')}`,
      },
      {
        value: formatDuration(Math.max(...runs.map(({ wallNs }) => wallNs))),
        label: 'per step in the slowest run',
      },
      { value: formatShare(idle), label: 'of a step the GPU is idle in the median run' },
    ],
    bars: shown
      .slice(0, MOST_BARS)
      .map(({ name, wallNs, ...row }) => ({ name, wallNs, parts: partsOf(row) })),
    title: 'Findings that cost most',
    actions: findings.slice(0, MOST_ACTIONS).map(({ claim, rule, runs: found, costNs }) => ({
      text: claim,
      about: `${rule} in ${plural(found, 'run')}${costNs === null ? '' : `, ${formatDuration(costNs)} per step on average`}`,
    })),
  };
}

const partsOf = ({ computeNs, communicationNs, copyNs, idleNs }: Omit<UnitMeans, 'wallNs'>) =>
  [
    { ...busyParts.compute, ns: computeNs },
    { ...busyParts.communication, ns: communicationNs },
    { ...busyParts.copies, ns: copyNs },
    { label: 'idle', color: OTHER_IDLE, ns: idleNs },
  ]
    .filter(({ ns }) => ns > 0)
    .map(({ label, color, ns }) => ({ label, color, ns }));
