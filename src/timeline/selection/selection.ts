/**
 * A selection in numbers: how many events, how long they take, how that is spread, and whose it is. Totals count the part
 * of an event inside the selection; means and percentiles are about whole events.
 */
import type { TableBlock } from '../../analyze/block.js';
import { formatCount } from '../../base/units.js';
import { percentile } from '../../stats/percentile.js';
import type { TimelineData } from '../timeline-data.js';
import type { DurationBin, SelectionDocument, SelectionSection } from '../wire.js';
import { type ChosenLane, chosenLanes, type SelectionAsked, sectionOf } from './chosen-events.js';
import { type Dimension, dimensionsOf } from './dimensions.js';

const MOST_ROWS = 500;
const BINS = 24;

const sectionLabels: Readonly<Record<SelectionSection, string>> = {
  gpu: 'GPU work',
  idle: 'GPU idle time',
  host: 'host',
  cpu: 'time on a CPU',
  layers: 'layers',
  replays: 'graph replays',
  ranks: 'ranks',
  steps: 'steps',
};
const order = Object.keys(sectionLabels) as SelectionSection[];

export function selectionDocument(
  data: TimelineData,
  asked: SelectionAsked & { readonly of?: string; readonly by?: string },
): SelectionDocument {
  const all = chosenLanes(data, asked);
  const bySection = new Map<SelectionSection, ChosenLane[]>();
  for (const lane of all) {
    const section = sectionOf(lane.track, lane.events);
    bySection.set(section, [...(bySection.get(section) ?? []), lane]);
  }
  const present = order.filter(section => bySection.has(section));
  const of = present.find(section => section === asked.of) ?? present[0] ?? 'gpu';
  const lanes = bySection.get(of) ?? [];
  const events = flatten(lanes, asked);
  const dimensions = dimensionsOf(of, data, lanes);
  const dimension = dimensions.find(({ id }) => id === asked.by) ?? dimensions[0];
  const sum = events.inside.reduce((total, ns) => total + ns, 0);
  return {
    sections: present.map(id => ({
      id,
      label: sectionLabels[id],
      count: bySection.get(id)!.reduce((count, { rows }) => count + rows.length, 0),
    })),
    of,
    fromNs: events.fromNs,
    toNs: events.toNs,
    count: events.length,
    totalNs: sum,
    coveredNs: coveredNs(events),
    meanNs: events.length > 0 ? events.whole.reduce((total, ns) => total + ns, 0) / events.length : 0,
    percentiles: [0, 50, 90, 99, 100].map(percent => ({
      percent,
      ns: events.length === 0 ? 0 : percentile(events.whole, percent),
    })),
    bins: binsOf(events.whole),
    dimensions: dimensions.map(({ id, label }) => ({ id, label })),
    by: dimension?.id ?? '',
    table: tableOf(lanes, events, dimension, sum),
  };
}

interface Events {
  readonly length: number;
  readonly fromNs: number;
  readonly toNs: number;
  /** Lengths, whole and inside the selection. */
  readonly whole: Float64Array;
  readonly inside: Float64Array;
  readonly start: Float64Array;
}

function flatten(lanes: readonly ChosenLane[], asked: SelectionAsked): Events {
  const length = lanes.reduce((count, { rows }) => count + rows.length, 0);
  const whole = new Float64Array(length);
  const inside = new Float64Array(length);
  const start = new Float64Array(length);
  let [at, first, last] = [0, Infinity, -Infinity];
  for (const { events, rows } of lanes)
    for (let i = 0; i < rows.length; i++) {
      const [from, to] = [events.start[rows[i]], events.end[rows[i]]];
      start[at] = Math.max(from, asked.fromNs);
      whole[at] = to - from;
      inside[at++] = Math.max(0, Math.min(to, asked.toNs) - Math.max(from, asked.fromNs));
      first = Math.min(first, from);
      last = Math.max(last, to);
    }
  const isOpen = !Number.isFinite(asked.fromNs) || !Number.isFinite(asked.toNs);
  return {
    length,
    whole,
    inside,
    start,
    fromNs: isOpen ? (length > 0 ? first : 0) : asked.fromNs,
    toNs: isOpen ? (length > 0 ? last : 0) : asked.toNs,
  };
}

/** Time in which at least one of the events runs. */
function coveredNs({ length, start, inside }: Events): number {
  const order = Uint32Array.from({ length }, (_, i) => i).sort((a, b) => start[a] - start[b]);
  let [covered, until] = [0, -Infinity];
  for (const i of order) {
    const end = start[i] + inside[i];
    covered += Math.max(0, end - Math.max(until, start[i]));
    until = Math.max(until, end);
  }
  return covered;
}

/** On a scale of factors: kernels of 2 µs and of 2 ms are seen side by side. */
function binsOf(whole: Float64Array): DurationBin[] {
  if (whole.length === 0) return [];
  let [least, most] = [Infinity, 0];
  for (const ns of whole) {
    least = Math.min(least, Math.max(1, ns));
    most = Math.max(most, ns, 1);
  }
  const bins = most / least < 1.0001 ? 1 : BINS;
  const factor = (most / least) ** (1 / bins);
  const counts = new Array<number>(bins).fill(0);
  for (const ns of whole) {
    const place = factor > 1 ? Math.floor(Math.log(Math.max(1, ns) / least) / Math.log(factor)) : 0;
    counts[Math.min(bins - 1, Math.max(0, place))]++;
  }
  return counts.map((count, i) => ({
    fromNs: i === 0 ? 0 : least * factor ** i,
    toNs: i === bins - 1 ? most : least * factor ** (i + 1),
    count,
  }));
}

interface Group {
  readonly key: string | number;
  count: number;
  totalNs: number;
  wholeNs: number;
  longest: { readonly startNs: number; readonly endNs: number };
  readonly lengths: number[];
}

function tableOf(
  lanes: readonly ChosenLane[],
  events: Events,
  dimension: Dimension | undefined,
  sum: number,
): TableBlock {
  const groups = new Map<string | number, Group>();
  let at = 0;
  for (const lane of lanes) {
    const keyOf = dimension?.keyOf(lane) ?? (() => '');
    for (let i = 0; i < lane.rows.length; i++, at++) {
      const row = lane.rows[i];
      const key = keyOf(row);
      const place = { startNs: lane.events.start[row], endNs: lane.events.end[row] };
      let group = groups.get(key);
      if (!group) {
        group = { key, count: 0, totalNs: 0, wholeNs: 0, longest: place, lengths: [] };
        groups.set(key, group);
      }
      group.count++;
      group.totalNs += events.inside[at];
      group.wholeNs += events.whole[at];
      group.lengths.push(events.whole[at]);
      if (events.whole[at] > group.longest.endNs - group.longest.startNs) group.longest = place;
    }
  }
  const sorted = [...groups.values()].sort((a, b) => b.totalNs - a.totalNs || b.count - a.count);
  const shown = sorted.slice(0, MOST_ROWS);
  return {
    kind: 'table',
    id: 'selection',
    title: dimension ? `By ${dimension.label}` : 'Events',
    rows: shown.length,
    columns: [
      {
        header: dimension?.header ?? 'Event',
        kind: 'text',
        values: shown.map(({ key }) => dimension?.text(key) ?? ''),
      },
      { header: 'Count', kind: 'count', values: shown.map(({ count }) => count) },
      { header: 'Total', kind: 'ns', values: shown.map(({ totalNs }) => totalNs) },
      {
        header: 'Share (%)',
        kind: 'share',
        values: shown.map(({ totalNs }) => (sum > 0 ? totalNs / sum : 0)),
      },
      { header: 'Mean', kind: 'ns-mean', values: shown.map(({ wholeNs, count }) => wholeNs / count) },
      { header: 'Median', kind: 'ns', values: shown.map(({ lengths }) => percentile(lengths, 50)) },
      { header: 'p99', kind: 'ns', values: shown.map(({ lengths }) => percentile(lengths, 99)) },
      {
        header: 'Longest',
        kind: 'ns',
        values: shown.map(({ longest }) => longest.endNs - longest.startNs),
      },
    ],
    places: shown.map(({ longest }) => longest),
    ...(sorted.length > shown.length
      ? { advice: `The ${formatCount(MOST_ROWS)} rows with the most time of ${formatCount(sorted.length)}.` }
      : {}),
  };
}
