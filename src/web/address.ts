/**
 * The address of a view: everything needed to bring it back, in the fragment, where no server sees it. Reading never
 * throws: a part that cannot be read is as good as absent.
 *
 *   #file=1:profile.sqlite&steps=3-5&window=1200-3400&panel=top-kernels&q=dur>50us&event=0.4.17&with=2:b.sqlite&pin=a&pin=b
 */
import type { StepSpan } from '../timeline/viewed-profile.js';

export interface ProfileAddress {
  readonly id: number;
  readonly name: string;
}

export interface Address {
  readonly file?: ProfileAddress;
  /** The profile beside it. */
  readonly compare?: ProfileAddress;
  readonly steps?: StepSpan;
  readonly window?: { readonly fromNs: number; readonly toNs: number };
  readonly panel?: string;
  readonly query?: string;
  /** `pane`: 0, or 1 for the profile beside it. */
  readonly event?: { readonly pane: number; readonly lane: number; readonly index: number };
  readonly pinned?: readonly string[];
}

const LONGEST_TEXT = 500;
const MOST_PINS = 100;

export function formatAddress(address: Address): string {
  const { file, compare, steps, window, panel, query, event, pinned } = address;
  const parts = new URLSearchParams();
  if (file) parts.set('file', `${file.id}:${file.name}`);
  if (compare) parts.set('with', `${compare.id}:${compare.name}`);
  if (steps) parts.set('steps', `${steps.first}-${steps.last}`);
  if (window) parts.set('window', `${Math.round(window.fromNs)}~${Math.round(window.toNs)}`);
  if (panel) parts.set('panel', panel);
  if (query) parts.set('q', query.slice(0, LONGEST_TEXT));
  if (event) parts.set('event', `${event.pane}.${event.lane}.${event.index}`);
  for (const id of pinned?.slice(0, MOST_PINS) ?? []) parts.append('pin', id);
  return parts.toString();
}

export function parseAddress(fragment: string): Address {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const text = (name: string) => parts.get(name) ?? '';
  const query = text('q').slice(0, LONGEST_TEXT);
  const panel = /^[a-z][a-z0-9-]{0,59}$/.exec(text('panel'))?.[0];
  const pinned = parts
    .getAll('pin')
    .filter(id => id !== '' && id.length <= LONGEST_TEXT)
    .slice(0, MOST_PINS);
  return {
    ...known('file', profileOf(text('file'))),
    ...known('compare', profileOf(text('with'))),
    ...known('steps', spanOf(text('steps'))),
    ...known('window', windowOf(text('window'))),
    ...known('panel', panel),
    ...known('query', query === '' ? undefined : query),
    ...known('event', eventOf(text('event'))),
    ...known('pinned', pinned.length > 0 ? pinned : undefined),
  };
}

const known = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [N in Name]?: Value };

/** Whole, not negative, exact. */
const count = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN);

function profileOf(text: string): ProfileAddress | undefined {
  const at = text.indexOf(':');
  const id = count(text.slice(0, Math.max(0, at)));
  const name = text.slice(at + 1);
  return Number.isNaN(id) || name === '' || name.length > LONGEST_TEXT ? undefined : { id, name };
}

function spanOf(text: string): StepSpan | undefined {
  const [first, last, ...rest] = text.split('-').map(count);
  return rest.length === 0 && last >= first ? { first, last } : undefined;
}

/** Windows reach a little beyond the profile, so their ends may be negative. */
function windowOf(text: string): Address['window'] {
  const found = /^(-?\d{1,15})~(-?\d{1,15})$/.exec(text);
  if (!found) return undefined;
  const [fromNs, toNs] = [Number(found[1]), Number(found[2])];
  return toNs > fromNs ? { fromNs, toNs } : undefined;
}

function eventOf(text: string): Address['event'] {
  const [pane, lane = Number.NaN, index = Number.NaN, ...rest] = text.split('.').map(count);
  if (rest.length > 0 || Number.isNaN(lane) || Number.isNaN(index)) return undefined;
  return pane === 0 || pane === 1 ? { pane, lane, index } : undefined;
}
