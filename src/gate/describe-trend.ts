/** A trend in words and tables. */

import { type Block, KEEP, type StatementBlock, type TableBlock } from '../analyze/block.js';
import { tableOf } from '../analyze/table-of.js';
import { csvCell } from '../base/csv-cell.js';
import { plural } from '../base/units.js';
import { type ChangePoint, LEAST_RUNS } from './change-points.js';
import { formatDifference, formatRelative, formatValue } from './quantity.js';
import type { Series, Trend } from './trend.js';

export const seriesName = ({ metric, scope }: Series): string =>
  scope === 'run' ? metric.id : `${scope} ${metric.id}`;

/** What happened to a metric, one sentence per change. */
export function seriesSentences(series: Series): string[] {
  const { points, changes, measured, tooFew } = series;
  const name = seriesName(series);
  if (measured === 0) return [`${name}: not recorded in any of these runs.`];
  if (tooFew) return [`${name}: too few runs to detect a change: ${measured} of at least ${LEAST_RUNS}.`];
  const missing = points.length - measured;
  const gaps = missing > 0 ? ` (${plural(missing, 'run')} without it)` : '';
  if (changes.length === 0) return [`${name}: no change over ${plural(measured, 'run')}${gaps}.`];
  return changes.map(change => `${name}: ${changeSentence(series, change)}${gaps}.`);
}

/** `between run 12 (a1b2) and 13 (c3d4): +4.2% (p = 0.003)` */
function changeSentence(series: Series, change: ChangePoint): string {
  const { points, metric } = series;
  const { after, from, to, changeShare, p } = change;
  const next = levelStart(series, change);
  const word = to > from === (metric.better === 'lower') ? 'worse' : 'better';
  const levels = `${formatValue(from, metric.unit)} → ${formatValue(to, metric.unit)}`;
  return `between run ${after + 1} (${points[after].label}) and ${next + 1} (${points[next].label}): ${formatRelative(changeShare)}, ${word} (${levels}, p = ${formatP(p)})`;
}

const formatP = (p: number): string => p.toFixed(p < 0.01 ? 4 : 3);

/** The first run of a new level: the next after the change that has a value. */
const levelStart = ({ points }: Series, { after }: ChangePoint): number =>
  points.findIndex(({ value }, i) => i > after && value !== undefined);

export function describeTrend(trend: Trend): Block[] {
  const answer: StatementBlock = {
    kind: 'statement',
    id: 'answer',
    title: 'Answer',
    lines: [...trend.series.flatMap(seriesSentences), ...differenceLines(trend)],
  };
  return [answer, ...trend.series.filter(({ measured }) => measured > 0).map(seriesTable)];
}

const differenceLines = ({ differences }: Trend): string[] =>
  differences.map(
    ({ label, reasons }) => `${label} is not comparable with the first run: ${reasons.join('; ')}.`,
  );

function seriesTable(series: Series): TableBlock {
  const { metric, points, changes } = series;
  const orDash = (value: number | undefined, format: (known: number) => string) =>
    value === undefined ? '–' : format(value);
  return tableOf(points, { id: metric.id, title: seriesName(series) }, [
    ['Run', 'text', ({ label }, i) => `${i + 1} ${label}`],
    ['Value', 'text', ({ value }) => orDash(value, known => formatValue(known, metric.unit))],
    ['Change', 'text', ({ changeShare }) => orDash(changeShare, formatRelative), { priority: KEEP }],
    [
      'Over steps',
      'text',
      ({ error }) => orDash(error, known => `±${formatDifference(known, metric.unit).replace('+', '')}`),
    ],
    [
      'New level',
      'text',
      (_, i) => {
        const change = changes.find(one => levelStart(series, one) === i);
        return change ? `${formatRelative(change.changeShare)} (p = ${formatP(change.p)})` : '';
      },
    ],
  ]);
}

/** One row per run and metric, base units. */
export function trendCsv({ series }: Trend): string {
  const header = 'run,label,metric,phase,unit,value,error,changeShare,newLevel';
  const lines = series.flatMap(own => {
    const { metric, scope, points, changes } = own;
    return points.map(({ label, value, error, changeShare }, i) => {
      const isNew = changes.some(change => levelStart(own, change) === i);
      const cells = [
        i + 1,
        label,
        metric.id,
        scope === 'run' ? '' : scope,
        metric.unit,
        value,
        error,
        changeShare,
        isNew,
      ];
      return cells.map(cell => csvCell(String(cell ?? ''))).join(',');
    });
  });
  return `${[header, ...lines].join('\n')}\n`;
}
