/**
 * The address of a view: everything needed to bring it back, in the fragment, where no server sees it. Reading never
 * throws: a part that cannot be read is as good as absent.
 *
 *   #file=1:profile.sqlite&steps=3-5&window=1200~3400&panel=top-kernels&q=dur>50us&event=0.4.17&with=2:b.sqlite&pin=a&pin=b
 *   &fold=gpu:0/idle&before=a|b&tracks=stream&lit=family:gemm&measure=1200~1300&area=1200~1300&on=gpu:0/stream:7
 *   &rows=compact&finding=launch-overhead/decode&strip=0-99&of=gpu&by=family&dur=1000~2000
 */
import type { StepSpan } from '../timeline/spans.js';
import { type RowHeight, rowHeights } from './row-heights.js';

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
  readonly toggled?: readonly string[];
  /** Track and the track it was put before. */
  readonly moved?: readonly (readonly [string, string])[];
  readonly trackFilter?: string;
  readonly lit?: readonly string[];
  readonly measure?: { readonly fromNs: number; readonly toNs: number };
  readonly area?: { readonly fromNs: number; readonly toNs: number; readonly tracks: readonly string[] };
  readonly rowHeight?: RowHeight;
  readonly finding?: string;
  /** The steps that the strip shows. */
  readonly strip?: StepSpan;
  /** The Selection panel: kind of events, how they are split, and durations. */
  readonly of?: string;
  readonly by?: string;
  readonly durations?: { readonly fromNs: number; readonly toNs: number };
}

const LONGEST_TEXT = 500;
const MOST_IDS = 100;
/** Ends of windows are whole: a nanosecond is less than a pixel. */
const windowText = ({ fromNs, toNs }: { readonly fromNs: number; readonly toNs: number }) =>
  `${Math.round(fromNs)}~${Math.round(toNs)}`;

export function formatAddress(address: Address): string {
  const { file, compare, steps, window, panel, query, event, pinned } = address;
  const parts = new URLSearchParams();
  if (file) parts.set('file', `${file.id}:${file.name}`);
  if (compare) parts.set('with', `${compare.id}:${compare.name}`);
  if (steps) parts.set('steps', `${steps.first}-${steps.last}`);
  if (window) parts.set('window', windowText(window));
  if (panel) parts.set('panel', panel);
  if (query) parts.set('q', query.slice(0, LONGEST_TEXT));
  if (event) parts.set('event', `${event.pane}.${event.lane}.${event.index}`);
  const list = (name: string, ids: readonly string[] = []) => {
    for (const id of ids.slice(0, MOST_IDS)) parts.append(name, id);
  };
  list('pin', pinned);
  list('fold', address.toggled);
  list(
    'before',
    address.moved?.map(([id, before]) => `${id}|${before}`),
  );
  if (address.trackFilter) parts.set('tracks', address.trackFilter.slice(0, LONGEST_TEXT));
  list('lit', address.lit);
  if (address.measure) parts.set('measure', windowText(address.measure));
  if (address.area) {
    parts.set('area', windowText(address.area));
    list('on', address.area.tracks);
  }
  if (address.rowHeight) parts.set('rows', address.rowHeight);
  if (address.finding) parts.set('finding', address.finding);
  if (address.strip) parts.set('strip', `${address.strip.first}-${address.strip.last}`);
  if (address.of) parts.set('of', address.of);
  if (address.by) parts.set('by', address.by);
  if (address.durations) parts.set('dur', windowText(address.durations));
  return parts.toString();
}

export function parseAddress(fragment: string): Address {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const text = (name: string) => parts.get(name) ?? '';
  const query = text('q').slice(0, LONGEST_TEXT);
  const panel = /^[a-z][a-z0-9-]{0,59}$/.exec(text('panel'))?.[0];
  const all = (name: string) =>
    parts
      .getAll(name)
      .filter(id => id !== '' && id.length <= LONGEST_TEXT)
      .slice(0, MOST_IDS);
  const list = (name: string) => (all(name).length > 0 ? all(name) : undefined);
  const moved = all('before').flatMap(text => {
    const at = text.indexOf('|');
    return at > 0 && at < text.length - 1 ? [[text.slice(0, at), text.slice(at + 1)] as const] : [];
  });
  const area = windowOf(text('area'));
  const tracks = text('tracks').slice(0, LONGEST_TEXT);
  return {
    ...known('file', profileOf(text('file'))),
    ...known('compare', profileOf(text('with'))),
    ...known('steps', spanOf(text('steps'))),
    ...known('window', windowOf(text('window'))),
    ...known('panel', panel),
    ...known('query', query === '' ? undefined : query),
    ...known('event', eventOf(text('event'))),
    ...known('pinned', list('pin')),
    ...known('toggled', list('fold')),
    ...known('moved', moved.length > 0 ? moved : undefined),
    ...known('trackFilter', tracks === '' ? undefined : tracks),
    ...known('lit', list('lit')),
    ...known('measure', windowOf(text('measure'))),
    ...known('area', area && { ...area, tracks: all('on') }),
    ...known(
      'rowHeight',
      rowHeights.find(height => height === text('rows')),
    ),
    ...known('strip', spanOf(text('strip'))),
    ...known('of', wordOf(text('of'))),
    ...known('by', wordOf(text('by'))),
    ...known('durations', windowOf(text('dur'))),
    ...known('finding', /^[a-z][a-z0-9-]{0,59}(?:\/[a-z-]{0,30})?$/.exec(text('finding'))?.[0]),
  };
}

const wordOf = (text: string) => /^[a-z][a-z-]{0,30}$/.exec(text)?.[0];

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
