/** What keys do on the page. The timeline listens for its own: zooming and moving. */
import { activePane } from './active-pane.js';
import { goBackInHistory } from './address-sync.js';
import { hideEvidence } from './evidence.js';
import { openHelp } from './help.js';
import { wholeWindow } from './home-window.js';
import { type Action, actionOf } from './keys.js';
import { tabs } from './panels/panel-list.js';
import { walkMatches } from './search/search.js';
import { SEARCH_ID } from './search/search-box.js';
import { screen } from './session.js';
import {
  moveWindow,
  openFinding,
  type Pane,
  panel,
  query,
  selectSteps,
  showSteps,
  showWindow,
} from './state.js';
import { stepAction } from './strip/step-actions.js';
import { toggleTheme } from './theme.js';
import { changeLane, goToLaunch, stepEvent } from './timeline/event-travel.js';

export function listenForKeys(): void {
  window.addEventListener('keydown', event => {
    // What is nearer to the key has answered already, or needs the key itself.
    if (event.defaultPrevented || isTyping(event.target) || document.querySelector('dialog[open]')) return;
    const action = actionOf(event);
    if (action === null || (isOwnKey(event) && action !== 'clear')) return;
    if (act(action)) event.preventDefault();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}

/** Boxes that scroll use arrows, Home and End themselves. */
const isOwnKey = ({ key, target }: KeyboardEvent): boolean =>
  key.length > 1 && target instanceof HTMLElement && target.matches('[data-own-keys]');

function act(action: Action): boolean {
  if (action === 'help') openHelp();
  else if (action === 'theme') toggleTheme();
  else {
    const pane = activePane.value;
    return screen.value.kind === 'ready' && pane !== undefined && actOnPane(pane, action);
  }
  return true;
}

function actOnPane(pane: Pane, action: Action): boolean {
  switch (action) {
    case 'search':
      document.getElementById(SEARCH_ID)?.focus();
      return true;
    case 'next-match':
      walkMatches(1);
      return true;
    case 'previous-match':
      walkMatches(-1);
      return true;
    case 'next-panel':
      panel.value = tabs[(tabs.findIndex(tab => tab.id === panel.value) + 1) % tabs.length].id;
      return true;
    case 'whole':
      moveWindow(pane, wholeWindow(pane.document));
      return true;
    case 'fit':
      fit(pane);
      return true;
    case 'undo':
      return goBackInHistory();
    case 'previous-event':
      return stepEvent(pane, -1);
    case 'next-event':
      return stepEvent(pane, 1);
    case 'event-above':
      return changeLane(pane, -1);
    case 'event-below':
      return changeLane(pane, 1);
    case 'launch':
      return goToLaunch(pane);
    case 'clear':
      clear(pane);
      return true;
    default:
      return stepAction(pane, action);
  }
}

/** The narrowest thing that is selected. */
function fit(pane: Pane): void {
  const details = pane.event.value && pane.details.value;
  const marked = pane.area.value ?? pane.measure.value ?? pane.highlights.value[0];
  if (details) showWindow(pane, { fromNs: details.startNs, toNs: details.endNs });
  else if (marked)
    showWindow(pane, {
      fromNs: Math.min(marked.fromNs, marked.toNs),
      toNs: Math.max(marked.fromNs, marked.toNs),
    });
  else showSteps(pane);
}

/** One thing at a time, the latest first. */
function clear(pane: Pane): void {
  if (pane.event.value) pane.event.value = null;
  else if (pane.measure.value) pane.measure.value = null;
  else if (pane.area.value) pane.area.value = null;
  else if (openFinding.value) hideEvidence(pane);
  else if (pane.highlights.value.length > 0) pane.highlights.value = [];
  else if (query.value !== '') query.value = '';
  else selectSteps(pane, null);
}
