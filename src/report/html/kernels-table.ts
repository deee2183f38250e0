/** The top kernels with the spread of their durations drawn small. */
import type { HistogramBin, TopKernelRow } from '../../analyze/gpu/top-kernels.js';
import { familyLook } from '../../analyze/names-and-colors.js';
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import { escapeHtml } from './escape.js';
import type { Cutter } from './limits.js';
import { swatch } from './summary.js';
import { type HtmlColumn, tableMarkup } from './table.js';

const TOP_KERNELS = 25;
const WIDTH = 84;
const HEIGHT = 20;

export function kernelsToHtml(all: readonly TopKernelRow[], distinct: number, cutter: Cutter): string {
  const rows = all.slice(0, Math.min(TOP_KERNELS, cutter.limits.rows));
  const text = (header: string, cell: (row: TopKernelRow) => string): HtmlColumn => ({
    header,
    numeric: false,
    cell: i => cell(rows[i]),
  });
  const number = (header: string, cell: (row: TopKernelRow) => string): HtmlColumn => ({
    header,
    numeric: true,
    cell: i => cell(rows[i]),
  });
  const time = (header: string, of: (row: TopKernelRow) => number) =>
    number(header, row => formatDuration(of(row)));
  const columns = [
    text('Kernel', row => kernelCell(row, cutter)),
    text('Family', ({ family }) => familyCell(family)),
    number('Count', row => formatCount(row.count)),
    time('Total', row => row.totalNs),
    number('Share', row => formatShare(row.share)),
    time('Mean', row => row.meanNs),
    time('Median', row => row.medianNs),
    time('p95', row => row.p95Ns),
    time('Min', row => row.minNs),
    time('Max', row => row.maxNs),
    text('Distribution', row => histogramSvg(row.histogram, familyLook(row.family).color)),
  ];
  const left = distinct - rows.length;
  const more = left > 0 ? ` ${plural(left, 'more kernel name')} omitted.` : '';
  const note = `<p class="muted">Distribution: histogram of durations, from shortest to longest.${more}</p>`;
  return tableMarkup('Top kernels', columns, rows.length) + note;
}

/** The short name opens to the name as recorded: reachable without a mouse. */
function kernelCell({ kernel, name }: TopKernelRow, cutter: Cutter): string {
  const short = escapeHtml(cutter.text(kernel));
  if (kernel === name) return short;
  return `<details class="name"><summary>${short}</summary><code>${escapeHtml(cutter.text(name))}</code></details>`;
}

function familyCell(family: string): string {
  const { label, color } = familyLook(family);
  return `<span class="family">${swatch(color)}${escapeHtml(label)}</span>`;
}

function histogramSvg(bins: readonly HistogramBin[], color: string): string {
  const most = bins.reduce((largest, bin) => Math.max(largest, bin.count), 1);
  const width = WIDTH / bins.length;
  const bars = bins.map(({ count }, i) => {
    const height = count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT);
    return `<rect x="${(i * width).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${Math.max(1, width - 1).toFixed(1)}" height="${height.toFixed(1)}"/>`;
  });
  const peak = bins.reduce((best, bin) => (bin.count > best.count ? bin : best), bins[0]);
  const label = `most often ${formatDuration(peak.fromNs)} to ${formatDuration(peak.toNs)}`;
  return `<svg class="spread" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}"><g fill="${escapeHtml(color)}">${bars.join('')}</g><path d="M0 ${HEIGHT}H${WIDTH}"/></svg>`;
}
