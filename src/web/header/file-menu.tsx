/** The name of the open profile, and a way to another. */
import { chooseFile } from '../drop/choose-file.js';
import { openProfiles, profiles, refreshState } from '../session.js';
import { panes } from '../state.js';
import { Menu } from './menu.js';

export function FileMenu() {
  const [pane] = panes.value;
  if (!pane) return null;
  const words: Readonly<Record<string, string>> = { opening: 'opening', failed: 'failed to open' };
  return (
    <Menu label={pane.name} name={`Profile ${pane.name}: open another`} look="chip file">
      {close => (
        <>
          {profiles.value.map(({ id, name, status }) => (
            <button
              type="button"
              key={id}
              aria-pressed={id === pane.id}
              onClick={() => {
                close();
                refreshState().then(() => openProfiles([id]));
              }}
            >
              <b>{name}</b>
              {words[status] && <span class="muted">{words[status]}</span>}
            </button>
          ))}
          <button
            type="button"
            onClick={() => {
              close();
              chooseFile('instead');
            }}
          >
            <b>Open a file…</b>
            <span class="muted">or drop it on the page</span>
          </button>
        </>
      )}
    </Menu>
  );
}
