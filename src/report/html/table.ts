/** Tables as HTML: captioned, headed, scrolling inside their own box where they are wider than the page. */
import type { TableBlock } from '../../analyze/block.js';
import { readableCell, shortHeader } from '../../analyze/readable-cell.js';
import { escapeHtml } from './escape.js';

/** Tables with more rows scroll in a box, so that the sections after them stay in reach. */
const LONG = 30;

export interface HtmlColumn {
  readonly header: string;
  readonly numeric: boolean;
  /** Markup of a cell: already escaped. */
  cell(row: number): string;
}

export function tableToHtml(block: TableBlock, under = ''): string {
  const advice = block.advice ? `<p class="muted">${escapeHtml(block.advice)}</p>` : '';
  if (block.rows === 0)
    return `${block.title === under ? '' : `<h3>${escapeHtml(block.title)}</h3>`}${advice || '<p class="muted">Nothing to report.</p>'}`;
  const columns = block.columns.map((column): HtmlColumn => {
    const cell = readableCell(column);
    return {
      header: shortHeader(column.header),
      numeric: column.kind !== 'text' || column.align === 'right',
      cell: row => escapeHtml(cell(row)),
    };
  });
  return `${tableMarkup(block.title, columns, block.rows, block.title === under)}${advice}`;
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
  // The first text column says what a row is about.
  const subject = columns.findIndex(column => !column.numeric);
  const lines = Array.from({ length: rows }, (_, row) => {
    const cells = columns.map(({ numeric, cell }, i) =>
      i === subject
        ? `<th scope="row">${cell(row)}</th>`
        : `<td${numeric ? ' class="n"' : ''}>${cell(row)}</td>`,
    );
    return `<tr>${cells.join('')}</tr>`;
  });
  const label = escapeHtml(title);
  const look = rows > LONG ? 'scroll long' : 'scroll';
  return `<div class="${look}" role="region" tabindex="0" aria-label="${label}"><table><caption${isSaid ? ' class="unseen"' : ''}>${label}</caption><thead><tr>${head.join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`;
}
