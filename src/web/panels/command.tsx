/** A command to run elsewhere, with a button that copies it. */
import { useState } from 'preact/hooks';
import { say } from '../announce.js';
import { copyText } from '../copy-text.js';

const SAID_MS = 1500;

interface CommandProps {
  readonly text: string;
  /** A shorter form to read. */
  readonly shown?: string;
}

export function Command({ text, shown = text }: CommandProps) {
  return (
    <div class="command">
      <code title={shown === text ? undefined : text}>
        <ShellText text={shown} />
      </code>
      <CopyButton text={() => text} what="the command" />
    </div>
  );
}

/** Broken between words only: a browser would break after the dashes of an option. */
export function ShellText({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(' ').flatMap((word, i) => [
        i > 0 && ' ',
        <span class="shell-word" key={i}>
          {word}
        </span>,
      ])}
    </>
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
