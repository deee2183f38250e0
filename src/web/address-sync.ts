/**
 * Keeps the address true to the view, and the view true to the address. A view somebody rested on is an entry of the
 * browser's history, so Back and Backspace undo; a move that goes on is one entry, not one per frame.
 */
import { batch, effect } from '@preact/signals';
import type { ProfileState } from '../timeline/wire.js';
import { activeIndex } from './active-pane.js';
import { type Address, formatAddress, type ProfileAddress, parseAddress } from './address.js';
import { notify } from './announce.js';
import { forgetEvidence } from './evidence.js';
import { homeWindow } from './home-window.js';
import { isOffline, offline } from './offline/offline.js';
import { openProfiles, profiles, refreshState, screen } from './session.js';
import {
  countedKind,
  durations,
  litTones,
  moved,
  moveWindow,
  openFinding,
  panel,
  panes,
  pinned,
  query,
  rowHeight,
  selectSteps,
  splitBy,
  toggled,
  trackFilter,
} from './state.js';

const WRITE_MS = 200;
/** Changes of the same kind that follow each other this fast are one move. */
const SAME_MOVE_MS = 900;

/** The profile of that number, if it still has that name; after a restart numbers may have changed, names rarely. */
function find(wanted: ProfileAddress | undefined): ProfileState | undefined {
  if (!wanted) return undefined;
  const named = profiles.value.filter(profile => profile.name === wanted.name);
  return named.find(profile => profile.id === wanted.id) ?? named[0];
}

export async function start(): Promise<void> {
  const state = await refreshState();
  const isFresh = isOffline && location.hash.length < 2;
  const address = parseAddress(isFresh ? (await offline()).snapshot.at : location.hash);
  const asked = find(address.file);
  const beside = find(address.compare);
  const ids = asked
    ? [asked.id, ...(beside && beside.id !== asked.id ? [beside.id] : [])]
    : (state.compare ?? state.profiles.slice(0, 1).map(profile => profile.id));
  window.addEventListener('hashchange', () => {
    const next = parseAddress(location.hash);
    if (!next.file || find(next.file)?.id === panes.value[0]?.id) applyAddress(next);
    else location.reload();
  });
  if (ids.length === 0) {
    screen.value = { kind: 'empty' };
    writeAddress();
    return;
  }
  if (!(await openProfiles(ids))) {
    writeAddress();
    return;
  }
  // Steps and times of another file would point anywhere.
  if (asked || !address.file) applyAddress(address);
  else {
    if (ids.length > 1) panel.value = 'compare';
    notify(`The link refers to ${address.file.name}, which is not open.`, true);
  }
  writeAddress();
}

/** True while an address is applied: what follows from it is not a new view. */
let isApplying = false;
let applied = 0;

/** Makes the view what the address says, and what it does not say as it is at first. */
function applyAddress(address: Address): void {
  const [pane] = panes.value;
  if (!pane) return;
  isApplying = true;
  window.clearTimeout(applied);
  applied = window.setTimeout(() => {
    isApplying = false;
  }, 2 * WRITE_MS);
  const { steps, window: shown, event } = address;
  batch(() => {
    pinned.value = new Set(address.pinned);
    toggled.value = new Set(address.toggled);
    moved.value = new Map(address.moved);
    litTones.value = new Set(address.lit);
    trackFilter.value = address.trackFilter ?? '';
    rowHeight.value = address.rowHeight ?? 'normal';
    query.value = address.query ?? '';
    for (const one of panes.value) one.event.value = null;
    const finding = address.finding ?? null;
    if (finding === null || finding !== openFinding.value) forgetEvidence();
    openFinding.value = finding;
    countedKind.value = address.of ?? '';
    splitBy.value = address.by ?? '';
    durations.value = address.durations ?? null;
    pane.measure.value = address.measure ?? null;
    pane.area.value = address.area ?? null;
    const isThere = steps !== undefined && steps.last < pane.document.steps.length;
    selectSteps(pane, isThere ? steps : null, !shown);
    const { strip } = address;
    pane.stripSpan.value = strip && strip.last < pane.document.steps.length ? strip : null;
    if (shown) moveWindow(pane, shown);
    else if (!isThere) moveWindow(pane, homeWindow(pane.document));
    const owner = event && panes.value[event.pane];
    if (owner) {
      activeIndex.value = event.pane;
      owner.event.value = { lane: event.lane, index: event.index };
    }
  });
  // After the event, which opens its own panel.
  panel.value = address.panel ?? (panes.value.length > 1 ? 'compare' : event ? 'event' : 'findings');
}

/** The view as an address. */
export function currentAddress(): Address {
  const [pane, beside] = panes.value;
  if (!pane) return {};
  const window = pane.window.value;
  const home = homeWindow(pane.document);
  const isHome =
    Math.round(window.fromNs) === Math.round(home.fromNs) &&
    Math.round(window.toNs) === Math.round(home.toNs);
  const owner = panes.value.findIndex(candidate => candidate.event.value !== null);
  const event = panes.value[owner]?.event.value;
  return {
    file: { id: pane.id, name: pane.name },
    ...(beside ? { compare: { id: beside.id, name: beside.name } } : {}),
    ...(pane.steps.value ? { steps: pane.steps.value } : {}),
    ...(isHome ? {} : { window }),
    ...(panel.value === (beside ? 'compare' : 'findings') && !event ? {} : { panel: panel.value }),
    ...(query.value === '' ? {} : { query: query.value }),
    ...(event ? { event: { pane: owner, ...event } } : {}),
    ...(pinned.value.size > 0 ? { pinned: [...pinned.value] } : {}),
    ...(toggled.value.size > 0 ? { toggled: [...toggled.value] } : {}),
    ...(moved.value.size > 0 ? { moved: [...moved.value] } : {}),
    ...(trackFilter.value === '' ? {} : { trackFilter: trackFilter.value }),
    ...(litTones.value.size > 0 ? { lit: [...litTones.value] } : {}),
    ...(pane.measure.value ? { measure: ordered(pane.measure.value) } : {}),
    ...(pane.area.value ? { area: pane.area.value } : {}),
    ...(rowHeight.value === 'normal' ? {} : { rowHeight: rowHeight.value }),
    ...(openFinding.value ? { finding: openFinding.value } : {}),
    ...(pane.stripSpan.value ? { strip: pane.stripSpan.value } : {}),
    ...(countedKind.value === '' ? {} : { of: countedKind.value }),
    ...(splitBy.value === '' ? {} : { by: splitBy.value }),
    ...(durations.value ? { durations: durations.value } : {}),
  };
}

const ordered = ({ fromNs, toNs }: { readonly fromNs: number; readonly toNs: number }) =>
  fromNs <= toNs ? { fromNs, toNs } : { fromNs: toNs, toNs: fromNs };

export function addressNow(): string {
  return `${location.href.split('#')[0]}#${formatAddress(currentAddress())}`;
}

/** What of an address changes while somebody keeps moving: two of these in a row are one move. */
const kindOfChange = (before: string, after: string): string => {
  const [a, b] = [before, after].map(text => new URLSearchParams(text.slice(1)));
  const names = new Set([...a.keys(), ...b.keys()]);
  return [...names].filter(name => a.getAll(name).join('&') !== b.getAll(name).join('&')).join();
};

/** How many entries of the history are views of this page that can be gone back to. */
const depthOf = (): number => (history.state as { depth?: number } | null)?.depth ?? 0;

export function goBackInHistory(): boolean {
  if (depthOf() === 0) return false;
  history.back();
  return true;
}

/** Browsers refuse when the address changes with every frame. */
function writeAddress(): void {
  let timer = 0;
  let lastKind = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  effect(() => {
    const fragment = `#${formatAddress(currentAddress())}`;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      const kind = kindOfChange(location.hash, fragment);
      const now = performance.now();
      const goesOn = kind === lastKind && now - lastAt < SAME_MOVE_MS;
      const replaces = isFirst || isApplying || goesOn;
      if (panes.value.length > 0) isFirst = false;
      if (location.hash === fragment || fragment === '#') return;
      lastKind = kind;
      lastAt = now;
      if (replaces) history.replaceState({ depth: depthOf() }, '', fragment);
      else history.pushState({ depth: depthOf() + 1 }, '', fragment);
    }, WRITE_MS);
  });
}
