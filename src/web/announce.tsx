/** What has just happened, said once: to those who listen, and where the page does not show it anyway, to all. */
import { signal } from '@preact/signals';

const spoken = signal('');
const shown = signal<{ readonly text: string; readonly isBad: boolean } | null>(null);
const SHOWN_MS = 3500;
let timer = 0;

/** For those who do not see the page change. */
export function say(text: string): void {
  spoken.value = text;
}

export function notify(text: string, isBad = false): void {
  say(text);
  shown.value = { text, isBad };
  window.clearTimeout(timer);
  timer = window.setTimeout(() => {
    shown.value = null;
  }, SHOWN_MS);
}

export function Announcements() {
  const note = shown.value;
  return (
    <>
      <div class="unseen" role="status" aria-live="polite">
        {spoken.value}
      </div>
      {note && (
        <div class={note.isBad ? 'toast bad' : 'toast'} aria-hidden="true">
          {note.text}
        </div>
      )}
    </>
  );
}
