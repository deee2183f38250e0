/** Tables as HTML: captioned, headed, scrolling inside their own box where they are wider than the page. */
import type { TableBlock } from '../../analyze/block.js';
import { readableCell, shortHeader } from '../../analyze/readable-cell.js';
import { escapeHtml } from './escape.js';

/** Tables with more rows scroll in a box, so that the sections after them stay in reach. */
const LONG = 30;
/** On a phone, rows of wider tables become small lists of labelled figures; of long tables that would be endless. */
const STACKS_FROM = 3;
/** Text up to this length stays on one line; words beyond the other one may break anywhere. */
const SHORT = 20;
const LONG_WORD = 24;

export interface HtmlColumn {
  readonly header: string;
  readonly numeric: boolean;
  /** How its text breaks: not at all, between words, or anywhere. */
  readonly breaks?: 'short' | 'prose' | 'names';
  /** Markup of a cell: already escaped. */
  cell(row: number): string;
}

export function tableToHtml(block: TableBlock, under = ''): string {
  const advice = block.advice ? `<p class="muted">${escapeHtml(block.advice)}</p>` : '';
  if (block.rows === 0)
    return `${block.title === under ? '' : `<h3>${escapeHtml(block.title)}</h3>`}${advice || '<p class="muted">Nothing to report.</p>'}`;
  const columns = block.columns.flatMap((column, place): HtmlColumn[] => {
    const cell = readableCell(column);
    const texts = Array.from({ length: block.rows }, (_, row) => cell(row));
    // A column without a single value says nothing.
    if (place > 0 && texts.every(text => text === '')) return [];
    const numeric = column.kind !== 'text' || column.align === 'right';
    return [
      {
        header: shortHeader(column.header),
        numeric,
        ...(numeric ? {} : { breaks: breaksOf(texts) }),
        cell: row => escapeHtml(texts[row]),
      },
    ];
  });
  return `${tableMarkup(block.title, columns, block.rows, block.title === under)}${advice}`;
}

function breaksOf(texts: readonly string[]): 'short' | 'prose' | 'names' {
  const most = (lengths: readonly number[]) => lengths.reduce((a, b) => Math.max(a, b), 0);
  if (most(texts.map(text => text.length)) <= SHORT) return 'short';
  return most(texts.flatMap(text => text.split(/[\s/-]/).map(word => word.length))) > LONG_WORD
    ? 'names'
    : 'prose';
}

/** `isSaid`: the heading above says the title already; the caption is there for those who listen. */
export function tableMarkup(
  title: string,
  columns: readonly HtmlColumn[],
  rows: number,
  isSaid = false,
): string {
  const head = columns.map(
    ({ header, numeric }) => `<th scope="col"${numeric ? ' class="n"' : ''}>${escapeHtml(header)}</th>`,
  );
  const stacks = columns.length >= STACKS_FROM && rows <= LONG;
  // The first text column says what a row is about.
  const subject = columns.findIndex(column => !column.numeric);
  const lines = Array.from({ length: rows }, (_, row) => {
    const cells = columns.map(({ header, numeric, breaks, cell }, i) => {
      const look = numeric ? ' class="n"' : breaks ? ` class="${breaks}"` : '';
      const label = stacks && i !== subject ? ` data-label="${escapeHtml(header)}"` : '';
      return i === subject
        ? `<th scope="row"${look}>${cell(row)}</th>`
        : `<td${look}${label}>${cell(row)}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const label = escapeHtml(title);
  const look = rows > LONG ? 'scroll long' : 'scroll';
  return `<div class="${look}" role="group" tabindex="0" aria-label="${label}"><table${stacks ? ' class="stacks"' : ''}><caption${isSaid ? ' class="unseen"' : ''}>${label}</caption><thead><tr>${head.join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`;
}
