/** Putting a second profile beside the first, and taking it away again. */

import { chooseFile } from '../drop/choose-file.js';
import { openProfiles, profiles } from '../session.js';
import { panel, panes } from '../state.js';
import { Menu } from './menu.js';

async function beside(ids: readonly number[]): Promise<void> {
  if ((await openProfiles(ids)) && ids.length > 1) panel.value = 'compare';
  else if (panel.value === 'compare') panel.value = 'findings';
}

export function CompareMenu() {
  const [first, second] = panes.value;
  if (!first) return null;
  const others = profiles.value.filter(({ id, status }) => id !== first.id && status !== 'failed');
  return (
    <Menu label="Compare">
      {close => {
        const run = (action: () => unknown) => () => {
          close();
          action();
        };
        return (
          <>
            <p class="menu-title">Compare {first.name} with</p>
            {others.map(({ id, name }) => (
              <button
                type="button"
                key={id}
                aria-pressed={second?.id === id}
                onClick={run(() => beside([first.id, id]))}
              >
                <b>{name}</b>
              </button>
            ))}
            <button type="button" onClick={run(() => chooseFile('beside'))}>
              <b>Another file…</b>
              <span class="muted">or drop it on the right half of the page</span>
            </button>
            {second && (
              <>
                <button type="button" onClick={run(() => beside([second.id, first.id]))}>
                  <b>Swap A and B</b>
                </button>
                <button type="button" onClick={run(() => beside([first.id]))}>
                  <b>Stop comparing</b>
                </button>
              </>
            )}
          </>
        );
      }}
    </Menu>
  );
}
