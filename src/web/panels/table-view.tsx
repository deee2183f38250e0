/** A table: sorted by its headers, filtered where it is long, copied as CSV; rows that have a place lead there. */
import { useMemo, useState } from 'preact/hooks';
import type { Place, TableBlock } from '../../analyze/block.js';
import type { Look } from '../../analyze/names-and-colors.js';
import { shortHeader } from '../../analyze/readable-cell.js';
import { formatCount } from '../../base/units.js';
import { fillOf } from '../idle-fill.js';
import { type Pane, query, showWindow } from '../state.js';
import { CopyButton } from './command.js';
import { SpreadBars } from './spread-bars.js';
import { type Cells, cellsOf, type Order, rowsShown, tableCsv } from './table-order.js';

/** From here on a box helps to find a row. */
const FILTERED = 20;
/** Rows put on screen at a time. */
const PAGE = 200;
/** Longer texts are cut until somebody asks for all of them. */
const LONG = 34;

export function TableView({ block, pane }: { readonly block: TableBlock; readonly pane: Pane }) {
  const [order, setOrder] = useState<Order | null>(null);
  const [filter, setFilter] = useState('');
  const [limit, setLimit] = useState(PAGE);
  const [isWrapped, setWrapped] = useState(false);
  const columns = useMemo(() => withoutUnknown(block.columns.map(cellsOf), block.rows), [block]);
  const rows = useMemo(() => rowsShown(block, columns, filter, order), [block, columns, filter, order]);
  const hasLong = useMemo(
    () => rows.some(row => columns.some(column => column.isText && column.text(row).length > LONG)),
    [rows, columns],
  );
  if (block.rows === 0)
    return (
      <section class="block">
        <h3>{block.title}</h3>
        <p class="muted">{block.advice ?? 'Nothing to report.'}</p>
      </section>
    );
  const sortBy = (column: number) =>
    setOrder(before =>
      before?.column !== column
        ? { column, direction: columns[column].isText ? 'ascending' : 'descending' }
        : before.direction === (columns[column].isText ? 'ascending' : 'descending')
          ? { column, direction: columns[column].isText ? 'descending' : 'ascending' }
          : null,
    );
  return (
    <section class="block">
      <div class="block-head">
        <h3>{block.title}</h3>
        {hasLong && (
          <button type="button" class="small" aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
            Full names
          </button>
        )}
        <CopyButton text={() => tableCsv(columns, rows)} what={`of ${block.title}`} label="Copy CSV" />
      </div>
      {block.rows > FILTERED && (
        <div class="filter">
          <input
            type="search"
            aria-label={`Filter ${block.title}`}
            placeholder={`Filter ${formatCount(block.rows)} rows`}
            value={filter}
            onInput={event => setFilter(event.currentTarget.value)}
          />
          {filter !== '' && <span class="muted">{formatCount(rows.length)} shown</span>}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={block.title} data-own-keys>
        <table class={isWrapped ? 'wrapped' : undefined}>
          <thead>
            <tr>
              {columns.map((column, i) => (
                <th
                  key={column.header}
                  scope="col"
                  class={column.isText ? undefined : 'n'}
                  aria-sort={order?.column === i ? order.direction : undefined}
                >
                  <button type="button" onClick={() => sortBy(i)}>
                    {shortHeader(column.header)}
                  </button>
                </th>
              ))}
              {block.spreads?.map(({ header }) => (
                <th key={header} scope="col">
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, limit).map(row => (
              <Row key={row} block={block} columns={columns} row={row} pane={pane} />
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > limit && (
        <button type="button" class="small" onClick={() => setLimit(limit + PAGE)}>
          Show {formatCount(Math.min(PAGE, rows.length - limit))} more of {formatCount(rows.length)}
        </button>
      )}
      {block.advice && <p class="muted">{block.advice}</p>}
    </section>
  );
}

/** A column that says of every row that its phase is unknown takes room and says nothing. */
function withoutUnknown(columns: readonly Cells[], rows: number): readonly Cells[] {
  const isUnknown = ({ header, text }: Cells) =>
    header === 'Phase' && Array.from({ length: rows }, (_, row) => text(row)).every(one => one === 'unknown');
  const known = columns.filter(column => !isUnknown(column));
  return known.length > 0 ? known : columns;
}

function goTo(pane: Pane, place: Place, label: string): void {
  if ('query' in place) {
    query.value = place.query;
    return;
  }
  const window = { fromNs: place.startNs, toNs: place.endNs };
  pane.highlights.value = [{ ...window, label }];
  showWindow(pane, window);
}

function Row(props: {
  readonly block: TableBlock;
  readonly columns: readonly Cells[];
  readonly row: number;
  readonly pane: Pane;
}) {
  const { block, columns, row, pane } = props;
  const place = block.places?.[row] ?? null;
  // The first text says what a row is about; rows of figures alone begin with one.
  const subject = Math.max(
    0,
    columns.findIndex(column => column.isText),
  );
  const go = place ? () => goTo(pane, place, columns[subject].text(row)) : undefined;
  return (
    // A larger aim for the mouse; keyboards have the button in the row.
    <tr class={go && 'leads'} onClick={go}>
      {columns.map((column, i) => {
        const text = column.text(row);
        const look = column.isText ? lookOf(pane, column.header, text) : undefined;
        const shown = (
          <>
            {look && <span class="swatch" style={{ background: fillOf(look.color) }} />}
            {look?.label ?? text}
          </>
        );
        if (i === subject)
          return (
            <th key={column.header} scope="row" class={column.isText ? undefined : 'n'} title={text}>
              {go ? (
                <button
                  type="button"
                  class="text"
                  onClick={event => {
                    event.stopPropagation();
                    go();
                  }}
                >
                  {shown}
                </button>
              ) : (
                shown
              )}
            </th>
          );
        return (
          <td
            key={column.header}
            class={column.isText ? undefined : 'n'}
            title={column.isText ? text : undefined}
          >
            {shown}
          </td>
        );
      })}
      {block.spreads?.map(({ header, bars }) => (
        <td key={header}>
          <SpreadBars heights={bars[row] ?? []} label={header} />
        </td>
      ))}
    </tr>
  );
}

const paletteOf: Readonly<Record<string, 'family' | 'phase' | 'cause'>> = {
  Family: 'family',
  Phase: 'phase',
  Cause: 'cause',
  'Main cause': 'cause',
};

/** Families, phases and causes wear their colour wherever they are named. */
function lookOf({ document }: Pane, header: string, text: string): Look | undefined {
  const palette = paletteOf[header];
  return palette && document.palettes[palette].find(look => look.id === text || look.label === text);
}
