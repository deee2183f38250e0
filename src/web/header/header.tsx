/** The bar at the top: what is open, search, and what can be done with it. */
import { useEffect, useState } from 'preact/hooks';
import { openHelp } from '../help.js';
import { isOffline, offline } from '../offline/offline.js';
import { SearchBox } from '../search/search-box.js';
import { screen } from '../session.js';
import { panes } from '../state.js';
import { theme, toggleTheme } from '../theme.js';
import { CompareMenu } from './compare-menu.js';
import { FileMenu } from './file-menu.js';
import { SaveMenu } from './save-menu.js';
import { ShareMenu } from './share-menu.js';

export function Header() {
  const isReady = screen.value.kind === 'ready';
  return (
    <header class="top">
      <button
        type="button"
        class="skip"
        onClick={() => document.querySelector<HTMLElement>('.timeline-canvas canvas, main')?.focus()}
      >
        Skip to the timeline
      </button>
      <span class="brand">stepscope</span>
      {isReady && <Facts />}
      <div class="tools">
        {isReady && (
          <>
            <SearchBox />
            {!isOffline && <CompareMenu />}
            <SaveMenu />
            {!isOffline && <ShareMenu />}
          </>
        )}
        <button
          type="button"
          class="icon"
          aria-label={theme.value === 'dark' ? 'Light theme' : 'Dark theme'}
          onClick={toggleTheme}
        >
          <ThemeIcon />
        </button>
        <button type="button" class="icon" aria-label="Keyboard shortcuts" onClick={openHelp}>
          ?
        </button>
      </div>
    </header>
  );
}

/** The first fact is the file, which is a menu. Notes list them all, for screens too narrow for them. */
function Facts() {
  const [pane] = panes.value;
  if (!pane) return null;
  const facts = pane.document.facts.filter(fact => fact !== pane.name && !pane.name.endsWith(`/${fact}`));
  return (
    <div class="chips">
      {isOffline ? <SavedView /> : <FileMenu />}
      <ul aria-label="About the capture">
        {facts.map(fact => (
          <li class="chip" key={fact}>
            {fact}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A page that was saved: of which file, and which part of it. */
function SavedView() {
  const [about, setAbout] = useState('');
  useEffect(() => {
    void offline().then(({ snapshot }) => setAbout(snapshot.about));
  }, []);
  return (
    <span class="chip file">
      {panes.value[0]?.name} · {about}
    </span>
  );
}

function ThemeIcon() {
  return theme.value === 'dark' ? (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="3" />
      <path d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6 13 13M13 3l-1.4 1.4M4.4 11.6 3 13" />
    </svg>
  ) : (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d="M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z" />
    </svg>
  );
}
