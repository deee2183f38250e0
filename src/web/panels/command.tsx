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

/** Commands and sentences about them: options stay whole, where a browser would break after their dashes. */
export function ShellText({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(\S*-\S+)/).map((part, i) =>
        i % 2 === 0 ? (
          part
        ) : (
          <span class="shell-word" key={i}>
            {part}
          </span>
        ),
      )}
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
