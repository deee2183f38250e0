/** Keeps the address true to the view, and the view true to the address it was opened with. */
import { effect } from '@preact/signals';
import type { ProfileState } from '../timeline/wire.js';
import { activeIndex } from './active-pane.js';
import { type Address, formatAddress, type ProfileAddress, parseAddress } from './address.js';
import { notify } from './announce.js';
import { homeWindow } from './home-window.js';
import { openProfiles, profiles, refreshState, screen } from './session.js';
import { moveWindow, panel, panes, pinned, query, selectSteps } from './state.js';

const WRITE_MS = 200;

/** The profile of that number, if it still has that name; after a restart numbers may have changed, names rarely. */
function find(wanted: ProfileAddress | undefined): ProfileState | undefined {
  if (!wanted) return undefined;
  const named = profiles.value.filter(profile => profile.name === wanted.name);
  return named.find(profile => profile.id === wanted.id) ?? named[0];
}

export async function start(): Promise<void> {
  const state = await refreshState();
  const address = parseAddress(location.hash);
  const asked = find(address.file);
  const beside = find(address.compare);
  const ids = asked
    ? [asked.id, ...(beside && beside.id !== asked.id ? [beside.id] : [])]
    : (state.compare ?? state.profiles.slice(0, 1).map(profile => profile.id));
  if (ids.length === 0) {
    screen.value = { kind: 'empty' };
    return;
  }
  if (!(await openProfiles(ids))) return;
  if (ids.length > 1) panel.value = 'compare';
  // Steps and times of another file would point anywhere.
  if (asked || !address.file) applyAddress(address);
  else notify(`The link refers to ${address.file.name}, which is not open.`, true);
  writeAddress();
  window.addEventListener('hashchange', () => {
    const next = parseAddress(location.hash);
    const same = find(next.file)?.id === panes.value[0]?.id;
    if (same) applyAddress(next);
    else location.reload();
  });
}

function applyAddress(address: Address): void {
  const [pane] = panes.value;
  if (!pane) return;
  const { steps, window, event } = address;
  if (steps && steps.last < pane.document.steps.length) selectSteps(pane, steps, !window);
  if (window) moveWindow(pane, window);
  if (address.query) query.value = address.query;
  if (address.pinned) pinned.value = new Set(address.pinned);
  const owner = event && panes.value[event.pane];
  if (owner) {
    activeIndex.value = event.pane;
    owner.event.value = { lane: event.lane, index: event.index };
  }
  // After the event, which opens its own panel.
  if (address.panel) panel.value = address.panel;
}

/** The view as an address. */
function currentAddress(): Address {
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
  };
}

export function addressNow(): string {
  return `${location.href.split('#')[0]}#${formatAddress(currentAddress())}`;
}

/** Browsers refuse when the address changes with every frame. */
function writeAddress(): void {
  let timer = 0;
  effect(() => {
    const fragment = `#${formatAddress(currentAddress())}`;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (location.hash !== fragment) history.replaceState(null, '', fragment);
    }, WRITE_MS);
  });
}
