/** A chart as data: what Chart.js needs, in JSON, and what a reader without a picture needs, in words. */
import type { Json } from '../../analyze/analysis.js';
import type { Block } from '../../analyze/block.js';
import { blockToHtml } from './blocks.js';
import { escapeHtml } from './escape.js';
import { swatch } from './summary.js';

/** How the script of the page writes a number on an axis or in a tooltip. */
export type NumberFormat = 'duration' | 'percent' | 'bytes' | 'hertz' | 'rate' | 'plain';

export interface ChartSpec {
  readonly id: string;
  readonly title: string;
  /** How to read it. */
  readonly about: string;
  /** The chart in one sentence, for those who do not see it. */
  readonly label: string;
  readonly type: 'bar' | 'line' | 'scatter';
  readonly data: { readonly labels?: readonly string[]; readonly datasets: readonly Dataset[] };
  /** Options of Chart.js, without functions. */
  readonly options: { readonly [name: string]: Json };
  readonly x: NumberFormat;
  readonly y: NumberFormat;
  /** Per bar: a title and lines. Without them the values are shown. */
  readonly tips?: readonly (readonly string[])[];
  readonly tall?: true;
  /** Names its colours even where there is one. */
  readonly legend?: true;
}

export interface Dataset {
  readonly label: string;
  readonly data: readonly (number | null | { readonly x: number; readonly y: number })[];
  readonly backgroundColor: string | readonly string[];
  readonly hidden?: boolean;
  /** A thin line around bars, where a colour may be close to the paper's. */
  readonly outline?: boolean;
  /** Idle time. */
  readonly hatched?: boolean;
  /** Where the bars of one series differ in shade. */
  readonly legendColor?: string;
  readonly [option: string]: unknown;
}

/** What the page's script is given: words stay in the markup. */
export function chartData({ id, type, data, options, x, y, tips }: ChartSpec): unknown {
  return { id, type, data, options, x, y, ...(tips ? { tips } : {}) };
}

export function chartToHtml(spec: ChartSpec, figures: readonly Block[]): string {
  const { datasets } = spec.data;
  const legend =
    datasets.length > 1 || spec.legend ? `<ul class="legend">${datasets.map(entry).join('')}</ul>` : '';
  const table =
    figures.length > 0
      ? `<details><summary>The figures as a table</summary>${figures.map(block => blockToHtml(block)).join('')}</details>`
      : '';
  return `<figure><figcaption><h3>${escapeHtml(spec.title)}</h3><p class="muted">${escapeHtml(spec.about)}</p></figcaption>${legend}
<div class="plot${spec.tall ? ' tall' : ''}"><canvas data-chart="${escapeHtml(spec.id)}" role="img" aria-label="${escapeHtml(spec.label)}"></canvas></div>${table}</figure>`;
}

/** A button, so that a series can be put aside with the keyboard too. */
function entry({ label, backgroundColor, legendColor, hidden }: Dataset, index: number): string {
  const color = legendColor ?? (typeof backgroundColor === 'string' ? backgroundColor : backgroundColor[0]);
  return `<li><button type="button" data-series="${index}" aria-pressed="${!hidden}">${swatch(color)}${escapeHtml(label)}</button></li>`;
}
