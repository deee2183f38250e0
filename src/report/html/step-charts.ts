/** Charts with one bar per step: how long each took, and what it was made of. */

import type { BudgetRow } from '../../analyze/inference/budget-totals.js';
import { addBudgets } from '../../analyze/inference/budget-totals.js';
import type { IterationRow } from '../../analyze/inference/iterations.js';
import {
  busyParts,
  causeLook,
  causeOrder,
  isIdleColor,
  knownPhase,
  phaseLook,
} from '../../analyze/names-and-colors.js';
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import type { ChartSpec, Dataset } from './chart.js';
import type { Cutter } from './limits.js';

/** Steps that were left out are drawn paler. */
const PALE = '66';
/** A warm-up this many times the slowest selected step would flatten all others. */
const FLATTENS = 2.5;
const ROOM_ABOVE = 1.2;

const barOptions = (stacked: boolean, most?: number) => ({
  scales: {
    x: { stacked, title: { display: true, text: 'iteration' }, grid: { display: false } },
    y: { stacked, beginAtZero: true, ...(most === undefined ? {} : { max: most }) },
  },
});

/** One bar per step in the colour of its phase. Of many steps, the slowest of each stretch. */
export function stepStrip(all: readonly IterationRow[], cutter: Cutter): ChartSpec | undefined {
  if (all.length === 0) return undefined;
  const stride = cutter.stride(all.length);
  const rows = chunks(all, stride).map(part => part.reduce((a, b) => (b.wallNs > a.wallNs ? b : a)));
  const kinds = [...new Set(rows.map(row => row.phase))];
  const datasets = kinds.map((phase): Dataset => {
    const { label, color } = phaseLook(phase);
    return {
      label,
      data: rows.map(row => (row.phase === phase ? row.wallNs : null)),
      backgroundColor: rows.some(row => !row.selected)
        ? rows.map(row => (row.selected ? color : `${color}${PALE}`))
        : color,
      legendColor: color,
      grouped: false,
      categoryPercentage: 1,
      barPercentage: rows.length > 150 ? 1 : 0.9,
      maxBarThickness: 64,
    };
  });
  const slowest = (list: readonly IterationRow[]) =>
    list.reduce((most, row) => Math.max(most, row.wallNs), 0);
  const chosen = all.filter(row => row.selected);
  const most = slowest(all);
  const mostChosen = slowest(chosen);
  const capped =
    mostChosen > 0 && most > FLATTENS * mostChosen ? roundUp(ROOM_ABOVE * mostChosen) : undefined;
  const about = [
    stride > 1
      ? `Each bar is the slowest of ${stride} steps in a row.`
      : 'One bar per step, colored by phase.',
    chosen.length < all.length && 'Paler: excluded from the figures (warm-up, ramp, drain or not selected).',
    capped !== undefined && `Bars that reach the top are longer, up to ${formatDuration(most)}.`,
  ];
  return {
    id: 'step-strip',
    title: 'Time of every step',
    about: about.filter(Boolean).join(' '),
    label: `Bar chart of the wall time of ${plural(all.length, 'step')}, the slowest ${formatDuration(most)}.`,
    type: 'bar',
    data: { labels: rows.map(row => String(row.iteration)), datasets },
    options: barOptions(false, capped),
    x: 'plain',
    y: 'duration',
    tips: rows.map(stepTip),
    legend: true,
  };
}

/** To two digits, so that the axis ends on a number people read. */
function roundUp(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

function stepTip(row: IterationRow): string[] {
  const batch = [
    row.generationRequests === null ? '' : `${formatCount(row.generationRequests)} decoding`,
    row.contextRequests ? `${formatCount(row.contextRequests)} prefilling` : '',
    row.contextTokens ? `${formatCount(row.contextTokens)} tokens` : '',
  ].filter(Boolean);
  return [
    [`iteration ${row.iteration}`, knownPhase(row.phase)].filter(Boolean).join(', '),
    ...(batch.length > 0 ? [`batch: ${batch.join(', ')}`] : []),
    `wall ${formatDuration(row.wallNs)}`,
    `GPU busy ${formatDuration(row.gpuBusyNs)} (${formatShare(row.wallNs > 0 ? row.gpuBusyNs / row.wallNs : 0)})`,
    ...(row.selected ? [] : [`excluded: ${row.state}`]),
  ];
}

/** Stacked parts of every step; devices of a step, and steps of a stretch, as their mean: its parts still add up. */
export function budgetStack(all: readonly BudgetRow[], cutter: Cutter): ChartSpec | undefined {
  const bySteps = new Map<string, BudgetRow[]>();
  for (const row of all) {
    if (row.iteration === null) continue;
    const step = row.key.split('/')[0];
    const known = bySteps.get(step);
    if (known) known.push(row);
    else bySteps.set(step, [row]);
  }
  if (bySteps.size === 0) return undefined;
  const stride = cutter.stride(bySteps.size);
  const bars = chunks([...bySteps.values()], stride).map(part => {
    const rows = part.flat();
    return {
      rows,
      total: addBudgets(rows),
      first: part[0][0].iteration,
      last: part[part.length - 1][0].iteration,
    };
  });
  const mean = (pick: (total: (typeof bars)[number]['total']) => number) =>
    bars.map(({ rows, total }) => Math.round(pick(total) / rows.length));
  const parts = [
    {
      ...busyParts.compute,
      label: all.some(row => row.graphReplayNs > 0) ? 'compute and replays' : busyParts.compute.label,
      data: mean(total => total.computeNs),
    },
    {
      ...busyParts.communication,
      data: mean(total => total.communicationExposedNs - (total.communicationWaitingNs ?? 0)),
    },
    { ...busyParts.waiting, data: mean(total => total.communicationWaitingNs ?? 0) },
    { ...busyParts.copies, data: mean(total => total.copyExposedNs) },
    ...causeOrder.map(id => ({
      ...causeLook(id),
      label: `idle: ${causeLook(id).label}`,
      data: mean(total => total.idleByCause[id] ?? 0),
    })),
  ].filter(part => part.data.some(ns => ns > 0));
  const name = ({ first, last }: (typeof bars)[number]) => (first === last ? `${first}` : `${first}–${last}`);
  const devices = new Set(all.map(row => row.device)).size;
  const about = [
    'Time of each step, from compute at the bottom to idle by cause at the top.',
    devices > 1 && `Mean of ${devices} devices.`,
    stride > 1 && `Each bar is the mean of ${stride} steps in a row.`,
  ];
  return {
    id: 'budget-stack',
    title: 'Budget of every step',
    about: about.filter(Boolean).join(' '),
    label: `Stacked bar chart of ${plural(bySteps.size, 'step')}: ${parts.map(part => part.label).join(', ')}.`,
    type: 'bar',
    data: {
      labels: bars.map(name),
      datasets: parts.map(({ label, color, data }) => ({
        label,
        data,
        backgroundColor: color,
        hatched: isIdleColor(color),
        categoryPercentage: 1,
        barPercentage: bars.length > 150 ? 1 : 0.9,
        maxBarThickness: 64,
      })),
    },
    options: barOptions(true),
    x: 'plain',
    y: 'duration',
    tips: bars.map((bar, i) => {
      const wall = bar.total.wallNs / bar.rows.length;
      const lines = parts
        .filter(part => part.data[i] > 0)
        .map(part => `${part.label} ${formatDuration(part.data[i])} (${formatShare(part.data[i] / wall)})`);
      return [`iteration ${name(bar)}: ${formatDuration(wall)}`, ...lines.reverse()];
    }),
    tall: true,
  };
}

function chunks<Item>(list: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  );
}
