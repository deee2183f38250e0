/** Ways to hand on what is on screen: a link, a command that opens the same, a page that needs nothing. */
import { useState } from 'preact/hooks';
import { activePane } from '../active-pane.js';
import { formatAddress } from '../address.js';
import { addressNow, currentAddress } from '../address-sync.js';
import { notify } from '../announce.js';
import { copyText } from '../copy-text.js';
import { profiles } from '../session.js';
import { shellWord } from '../shell-word.js';
import { type Pane, panes } from '../state.js';
import { Menu } from './menu.js';

async function copy(text: string, what: string): Promise<void> {
  const isDone = await copyText(text);
  notify(isDone ? `${what} copied.` : 'The browser does not allow copying.', !isDone);
}

/** The command that opens the same files at the same view; null where a file was dropped and has no path. */
function viewCommand(): string | null {
  const [first, second] = panes.value;
  const filesOf = (pane: Pane | undefined) => profiles.value.find(({ id }) => id === pane?.id)?.files;
  const files = filesOf(first);
  if (!files || (second && !filesOf(second))) return null;
  const { file: _, compare: __, ...view } = currentAddress();
  const at = formatAddress(view);
  return [
    'stepscope view',
    ...files.map(shellWord),
    ...(filesOf(second) ?? []).map(file => `--compare ${shellWord(file)}`),
    ...(at === '' ? [] : [`--at ${shellWord(decoded(at))}`]),
  ].join(' ');
}

/** Readable where that changes nothing. */
const decoded = (at: string) => at.replace(/%3A/g, ':').replace(/%2F/g, '/').replace(/%7E/g, '~');

function pagePath(pane: Pane, isRedacted: boolean): string {
  const { fromNs, toNs } = pane.window.value;
  const [steps, event] = [pane.steps.value, pane.event.value];
  const parts = new URLSearchParams({ from: String(Math.floor(fromNs)), to: String(Math.ceil(toNs)) });
  if (steps) parts.set('steps', `${steps.first}-${steps.last}`);
  if (event) parts.set('event', `${event.lane}.${event.index}`);
  parts.set('at', formatAddress(currentAddress()));
  if (isRedacted) parts.set('redact', '1');
  return `/api/profiles/${pane.id}/page.html?${parts}`;
}

export function ShareMenu() {
  const pane = activePane.value;
  const [isRedacted, setRedacted] = useState(false);
  if (!pane) return null;
  const state = profiles.value.find(({ id }) => id === pane.id);
  const command = viewCommand();
  return (
    <Menu label="Share">
      {close => (
        <>
          <p class="menu-title">Share this view</p>
          <button
            type="button"
            onClick={() => {
              close();
              void copy(addressNow(), 'Link to this view');
            }}
          >
            <b>Copy link</b>
            <span class="muted">while this server runs</span>
          </button>
          {command && (
            <button
              type="button"
              onClick={() => {
                close();
                void copy(command, 'Command');
              }}
            >
              <b>Copy command</b>
              <span class="muted">opens the same view wherever the files are</span>
            </button>
          )}
          <a
            href={pagePath(pane, isRedacted)}
            download
            onClick={() => {
              close();
              if (isRedacted) notify('The profile is read again without private data. This takes a moment.');
            }}
          >
            <b>Page</b>
            <span class="muted">one HTML file: the visible steps with timeline and panels, no server</span>
          </a>
          {state?.canRedact && (
            <label class="menu-check">
              <input
                type="checkbox"
                checked={isRedacted}
                onChange={event => setRedacted(event.currentTarget.checked)}
              />
              redact the page: no names of users, hosts, paths and ranges
            </label>
          )}
        </>
      )}
    </Menu>
  );
}
