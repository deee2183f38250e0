/** The page while there is nothing to show: at the start, without a profile, while one is opened, when that failed. */
import { formatShare } from '../../base/units.js';
import { Command } from '../panels/command.js';
import { goBack, type Screen, screen, trouble } from '../session.js';
import { chooseFile } from './choose-file.js';

export function OtherScreen() {
  const now = screen.value;
  switch (now.kind) {
    case 'starting':
      return <main class="screen" aria-busy="true" />;
    case 'empty':
      return <Empty />;
    case 'opening':
      return <Opening now={now} />;
    case 'failed':
      return <Failed now={now} />;
    case 'ready':
      return null;
  }
}

function Empty() {
  return (
    <main class="screen">
      <div class="drop-area">
        <svg viewBox="0 0 64 40" aria-hidden="true">
          <path d="M2 38h60" />
          <rect x="5" y="28" width="8" height="10" />
          <rect x="16" y="26" width="8" height="12" />
          <rect class="tall" x="27" y="6" width="8" height="32" />
          <rect x="38" y="27" width="8" height="11" />
          <rect x="49" y="28" width="8" height="10" />
        </svg>
        <h1>Drop a profile here</h1>
        <p>
          An Nsight Systems export (.sqlite), a report (.nsys-rep) or a PyTorch profiler trace (.json,
          .pftrace), compressed or not. Drop two to compare them. Files stay on this machine.
        </p>
        <button type="button" class="strong" onClick={() => chooseFile('instead')}>
          Choose a file…
        </button>
        <p class="muted">or open one from the command line:</p>
        <Command text="stepscope view profile.sqlite" />
      </div>
    </main>
  );
}

type Of<Kind extends Screen['kind']> = Extract<Screen, { kind: Kind }>;

function Opening({ now: { name, doing, done } }: { readonly now: Of<'opening'> }) {
  return (
    <main class="screen">
      <div class="screen-box">
        <h1>{name}</h1>
        <progress max={1} value={done > 0 ? done : undefined} aria-label={doing} />
        <p class="muted figure" role="status">
          {doing}
          {done > 0 && ` … ${formatShare(done)}`}
        </p>
      </div>
    </main>
  );
}

/** Over the page that stays: what could not be opened, and why. */
export function Trouble() {
  const now = trouble.value;
  if (!now) return null;
  return (
    <div class="trouble" role="alert">
      <div>
        <b>
          {now.name || 'The profile'} could not be opened: {now.error.message}
        </b>
        <p>{now.error.hint}</p>
      </div>
      <button
        type="button"
        class="small"
        onClick={() => {
          trouble.value = null;
        }}
      >
        Close
      </button>
    </div>
  );
}

function Failed({ now: { name, error } }: { readonly now: Of<'failed'> }) {
  return (
    <main class="screen">
      <div class="screen-box failed" role="alert">
        <p class="muted">{name || 'The profile'} could not be opened</p>
        <h1>{error.message}</h1>
        <p>{error.hint}</p>
        <div class="screen-buttons">
          <button type="button" class="strong" onClick={() => chooseFile('instead')}>
            Choose another file…
          </button>
          <button type="button" onClick={goBack}>
            Back
          </button>
        </div>
      </div>
    </main>
  );
}
