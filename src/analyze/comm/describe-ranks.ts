/** How ranks were matched and their clocks aligned, in words, and who makes the others wait: by step and by layer. */
import { NONE } from '../../base/column.js';
import { formatDuration, formatShare, plural } from '../../base/units.js';
import type { Block, HeatBlock, StatementBlock } from '../block.js';
import { clockUncertainty } from './align-clocks.js';
import type { CollectiveWaits } from './collective-waits.js';
import type { LateArrival } from './late-arrivals.js';

export function describeMatching(
  waits: CollectiveWaits | undefined,
  arrivals: readonly LateArrival[],
  iterationOf: (step: number) => number,
): Block[] {
  if (!waits) return [];
  const lines = [matchedLine(waits), clockLine(waits), ...groupLines(waits)];
  const statement: StatementBlock = { kind: 'statement', id: 'rank-matching', title: '', lines, quiet: true };
  return [
    statement,
    ...heat(waits, arrivals, 'step', step => `step ${iterationOf(step)}`),
    ...heat(waits, arrivals, 'layer', layer => `layer ${layer}`),
  ];
}

const matchedLine = ({ matched, total, collectives }: CollectiveWaits) =>
  `${plural(collectives.length, 'collective')} of several ranks matched: ${formatShare(matched / total)} of ${plural(total, 'call')} that all ranks of a group join.`;

/** How far times of different ranks can be trusted. */
export function clockLine({ alignment }: Pick<CollectiveWaits, 'alignment'>): string {
  const { status, clocks } = alignment;
  if (status === 'one-clock') return 'All ranks were recorded on one clock.';
  if (status === 'unchecked')
    return 'Too few collectives match to check the clocks of the files: they are used as recorded.';
  const off = `± ${formatDuration(clockUncertainty(alignment))} (median of the files)`;
  if (status === 'agree') return `The clocks of the files agree at the ends of collectives, ${off}.`;
  const corrected = clocks.filter(clock => clock.corrected);
  const most = corrected.reduce((largest, { offsetNs }) => Math.max(largest, Math.abs(offsetNs)), 0);
  const drifting = corrected.filter(({ drift }) => drift !== 0);
  const drift =
    drifting.length === 0
      ? ''
      : ` and drift of up to ${Math.max(...drifting.map(clock => Math.abs(clock.drift * 1e6))).toFixed(1)} ppm`;
  return `The clocks of ${plural(corrected.length, 'file')} were corrected by the ends of collectives: offsets of up to ${formatDuration(most)}${drift}, ${off}.`;
}

function groupLines({ groups, calls }: CollectiveWaits): string[] {
  const incomplete = groups.filter(({ ranks, size }) => ranks.length < size);
  const isLower =
    incomplete.length > 0
      ? [
          `Not all ranks of a group were given (${incomplete[0].ranks.length} of ${incomplete[0].size}): waiting is a lower bound.`,
        ]
      : [];
  const distinct = [
    ...new Set(groups.map(({ ranks }) => ranks.map(rank => calls.ranks[rank].rank ?? rank).join(', '))),
  ];
  return distinct.length > 1 ? [`Groups of ranks: ${distinct.join(' · ')}.`, ...isLower] : isLower;
}

/** Columns are steps or layers: a rank's part of the waiting that it caused, by the mean of the ranks. */
function heat(
  { calls }: CollectiveWaits,
  arrivals: readonly LateArrival[],
  by: 'step' | 'layer',
  nameOf: (column: number) => string,
): HeatBlock[] {
  const columns = [...new Set(arrivals.map(arrival => arrival[by]))]
    .filter(id => id !== NONE)
    .sort((a, b) => a - b);
  if (columns.length < 2) return [];
  const place = new Map(columns.map((id, i) => [id, i]));
  const ranks = calls.places.length;
  const values = new Float64Array(ranks * columns.length);
  for (const arrival of arrivals) {
    const column = place.get(arrival[by]);
    if (column !== undefined)
      values[calls.ranks[arrival.rank].place * columns.length + column] += arrival.waitedNs;
  }
  for (let column = 0; column < columns.length; column++) {
    let sum = 0;
    for (let rank = 0; rank < ranks; rank++) sum += values[rank * columns.length + column];
    for (let rank = 0; rank < ranks; rank++) {
      const at = rank * columns.length + column;
      values[at] = sum > 0 ? (values[at] * ranks) / sum : Number.NaN;
    }
  }
  return [
    {
      kind: 'heat',
      id: `rank-heat-${by}`,
      title: by === 'step' ? 'Who the ranks wait for, by step' : 'Who the ranks wait for, by layer',
      caption: 'waiting of the others while this rank is last, divided by the mean of the ranks',
      rows: calls.places.map((rank, i) => `rank ${rank ?? i}`),
      columns: columns.length,
      from: nameOf(columns[0]),
      to: nameOf(columns[columns.length - 1]),
      values: Array.from(values),
    },
  ];
}
