/** A command to run elsewhere, with a button that copies it. */
import { useState } from 'preact/hooks';
import { say } from '../announce.js';
import { copyText } from '../copy-text.js';

const SAID_MS = 1500;

export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={() => text} what="the command" />
    </div>
  );
}

export function CopyButton(props: {
  readonly text: () => string;
  readonly what: string;
  readonly label?: string;
}) {
  const { text, what, label = 'Copy' } = props;
  const [said, setSaid] = useState('');
  return (
    <button
      type="button"
      class="small"
      aria-label={said === '' ? `${label} ${what}` : said}
      onClick={async () => {
        const answer = (await copyText(text())) ? 'Copied' : 'Copying not allowed';
        setSaid(answer);
        say(answer);
        window.setTimeout(() => setSaid(''), SAID_MS);
      }}
    >
      {said || label}
    </button>
  );
}
