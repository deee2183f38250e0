/** The names beside the lanes: fold, pin, move; and how tall rows are. */
import { plural } from '../../base/units.js';
import { rowHeights } from '../row-heights.js';
import { moved, pinned, rowHeight, toggle, toggled } from '../state.js';
import { groupKey, LAST, type Layout, type Row, rowAt } from './layout.js';

/** Pixels the mouse may move in a click. */
const STILL = 5;

export function TrackNames({ layout }: { readonly layout: Layout }) {
  return (
    <ul class="track-names" aria-label="Tracks">
      {layout.rows.map(row => (
        <TrackName key={row.kind === 'group' ? `group ${row.id}` : row.track.id} row={row} layout={layout} />
      ))}
    </ul>
  );
}

export function RowHeightButton() {
  const next = rowHeights[(rowHeights.indexOf(rowHeight.value) + 1) % rowHeights.length];
  return (
    <button
      type="button"
      class="row-height"
      title={`Rows are ${rowHeight.value}; make them ${next}`}
      aria-label={`Row height: ${rowHeight.value}`}
      onClick={() => {
        rowHeight.value = next;
      }}
    >
      ↕
    </button>
  );
}

/** Puts a track before another of its group; null: behind all. */
function moveBefore(id: string, before: string | null): void {
  const next = new Map(moved.value);
  next.delete(id);
  next.set(id, before ?? LAST);
  moved.value = next;
}

const siblings = ({ rows }: Layout, row: Row & { kind: 'track' }): string[] =>
  rows.flatMap(other =>
    other.kind === 'track' &&
    !other.track.isSummary &&
    other.pinned === row.pinned &&
    (row.pinned || other.track.group === row.track.group)
      ? [other.track.id]
      : [],
  );

function moveBy(layout: Layout, row: Row & { kind: 'track' }, by: 1 | -1): void {
  const all = siblings(layout, row);
  const to = all.indexOf(row.track.id) + by;
  if (to < 0 || to >= all.length) return;
  moveBefore(row.track.id, by < 0 ? all[to] : (all[to + 1] ?? null));
}

/** A name that is dragged over another takes its place. */
function dragName(event: PointerEvent, layout: Layout, row: Row & { kind: 'track' }): void {
  const element = event.currentTarget as HTMLElement;
  const list = element.closest('.track-names')!;
  const from = event.clientY;
  let isMoved = false;
  const move = (next: PointerEvent) => {
    isMoved ||= Math.abs(next.clientY - from) > STILL;
    if (isMoved) element.setPointerCapture(next.pointerId);
  };
  const up = (next: PointerEvent) => {
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', up);
    if (!isMoved) return;
    // The click that follows would fold it.
    element.addEventListener('click', stopClick, { capture: true, once: true });
    setTimeout(() => element.removeEventListener('click', stopClick, { capture: true }), 50);
    const target = rowAt(layout, next.clientY - list.getBoundingClientRect().top);
    const all = siblings(layout, row);
    const to = target?.kind === 'track' ? all.indexOf(target.track.id) : -1;
    const at = all.indexOf(row.track.id);
    if (to < 0 || to === at) return;
    moveBefore(row.track.id, to < at ? all[to] : (all[to + 1] ?? null));
  };
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', up);
}

const stopClick = (event: Event) => event.stopImmediatePropagation();

/** Letters of a kind of track that are never cut, for example `framework ops`. */
const WHOLE_KIND = 20;

/** Of a name that is too long, how many letters at its end stay: its kind, and the number that tells threads apart. */
function tailOf(text: string): number {
  if (text.length <= 18) return 0;
  const kind = / · [^·]*$/.exec(text)?.[0].length ?? 0;
  if (kind === 0 || kind > WHOLE_KIND) return 8;
  return kind + (/\d{3} · [^·]*$/.test(text) ? 3 : 0);
}

/** Shortened in the middle: streams and threads differ at their end. */
function MiddleCut({ text }: { readonly text: string }) {
  const tail = tailOf(text);
  if (tail === 0) return <span class="whole">{text}</span>;
  return (
    <span class="cut">
      <span>{text.slice(0, -tail)}</span>
      <span>{text.slice(-tail)}</span>
    </span>
  );
}

function TrackName({ row, layout }: { readonly row: Row; readonly layout: Layout }) {
  const place = { top: `${row.y}px`, height: `${row.height}px` };
  if (row.kind === 'group')
    return (
      <li class={row.isInner ? 'group-name inner' : 'group-name'} style={place} title={row.label}>
        {row.id === 'pinned' ? (
          row.label
        ) : (
          <button
            type="button"
            class="fold"
            aria-label={row.label}
            aria-expanded={!row.folded}
            onClick={() => toggle(toggled, groupKey(row.id))}
          >
            <span aria-hidden="true">{row.folded ? '▸' : '▾'}</span> <MiddleCut text={row.label} />
          </button>
        )}
      </li>
    );
  const { track, folded } = row;
  const look = track.isSummary ? 'track-name summary' : folded ? 'track-name folded' : 'track-name';
  return (
    <li class={look} style={place}>
      <button
        type="button"
        class="fold"
        aria-label={track.label}
        aria-expanded={!folded}
        title={`${track.label}: ${plural(track.events, 'event')}; ${folded ? 'expand' : 'collapse'}${track.isSummary ? '' : '; drag to move'}`}
        onPointerDown={event => {
          if (!track.isSummary && event.button === 0) dragName(event, layout, row);
        }}
        onKeyDown={event => {
          const by = event.altKey ? { ArrowUp: -1 as const, ArrowDown: 1 as const }[event.key] : undefined;
          if (by === undefined) return;
          event.preventDefault();
          moveBy(layout, row, by);
        }}
        onClick={() => toggle(toggled, track.isSummary ? groupKey(track.group) : track.id)}
      >
        <span aria-hidden="true">{folded ? '▸' : '▾'}</span> <MiddleCut text={track.label} />
      </button>
      <button
        type="button"
        class="pin"
        aria-pressed={row.pinned}
        aria-label={`${row.pinned ? 'Unpin' : 'Pin'} ${track.label}`}
        title={row.pinned ? 'unpin' : 'pin to the top'}
        onClick={() => toggle(pinned, track.id)}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M10 1 15 6 11.5 7 9 9.5 8.5 13 6 10.500 2 14.500 1.500 14 5.500 10 3 7.500 6.500 7 9 4.500Z" />
        </svg>
      </button>
    </li>
  );
}
