/** Kernel families as bars, a chart per phase. */

import type { FamilyRow } from '../../analyze/gpu/family-row.js';
import { familyLook, knownPhase } from '../../analyze/names-and-colors.js';
import { formatCount, formatDuration, formatShare } from '../../base/units.js';
import type { ChartSpec } from './chart.js';

const MOST_PHASES = 4;
const MOST_FAMILIES = 12;

/** `order`: the phases as the page has them, those with most time first. */
export function familyBars(rows: readonly FamilyRow[], order: readonly (string | null)[]): ChartSpec[] {
  const totals = new Map<string | null, number>();
  for (const row of rows)
    for (const { phase, totalNs } of row.phases) totals.set(phase, (totals.get(phase) ?? 0) + totalNs);
  return [...totals]
    .filter(([phase]) => phase !== null || totals.size === 1)
    .sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]) || b[1] - a[1])
    .slice(0, MOST_PHASES)
    .map(([phase]) => phaseChart(rows, phase));
}

function phaseChart(rows: readonly FamilyRow[], phase: string | null): ChartSpec {
  const own = rows
    .flatMap(row => {
      const part = row.phases.find(candidate => candidate.phase === phase);
      return part ? [{ ...familyLook(row.family), ...part }] : [];
    })
    .sort((a, b) => b.nsPerStep - a.nsPerStep);
  const sum = own.reduce((total, part) => total + part.nsPerStep, 0);
  const shown = own.slice(0, MOST_FAMILIES);
  const where = phase === null ? 'the whole capture' : `a ${knownPhase(phase)} step`.replace('  ', ' ');
  return {
    id: `families-${phase ?? 'all'}`,
    title: `Kernel families of ${where}`,
    about: `GPU time by kernel purpose${phase === null ? '' : ', mean per step and device'}.${own.length > shown.length ? ` The ${shown.length} largest of ${own.length}.` : ''}`,
    label: `Bar chart of GPU time by kernel family: ${shown
      .slice(0, 5)
      .map(part => `${part.label} ${formatDuration(part.nsPerStep)}`)
      .join(', ')}.`,
    type: 'bar',
    data: {
      labels: shown.map(part => part.label),
      datasets: [
        {
          label: 'GPU time',
          data: shown.map(part => Math.round(part.nsPerStep)),
          backgroundColor: shown.map(part => part.color),
          maxBarThickness: 22,
          outline: true,
        },
      ],
    },
    options: {
      indexAxis: 'y',
      scales: { x: { beginAtZero: true }, y: { grid: { display: false }, ticks: { autoSkip: false } } },
    },
    x: 'duration',
    y: 'plain',
    tips: shown.map(part => [
      part.label,
      `${formatDuration(part.nsPerStep)} (${formatShare(sum > 0 ? part.nsPerStep / sum : 0)} of GPU time)`,
      `${formatCount(Number(part.kernelsPerStep.toFixed(1)))} kernels${phase === null ? '' : ' per step'}`,
    ]),
    ...(shown.length > 6 ? { tall: true } : {}),
  };
}
