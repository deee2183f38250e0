/** A question in SQL about the selected events and the whole profile, answered by the server's embedded engine. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { PanelDocument } from '../../timeline/wire.js';
import { askJson } from '../api.js';
import { asProblem } from '../documents.js';
import type { Problem } from '../problem.js';
import { sqlTables } from '../session.js';
import type { Pane } from '../state.js';
import { BlockView } from './block-view.js';
import { ProblemView } from './problem-view.js';

const sample = (kind: string) =>
  `SELECT name, count(*) AS events, sum(insideNs) AS totalNs\nFROM selection WHERE kind = '${kind}'\nGROUP BY ALL ORDER BY totalNs DESC LIMIT 20`;

/** What was written last; kept while other panels are open. */
const written = signal<string | null>(null);

interface Answered {
  readonly document?: PanelDocument;
  readonly problem?: Problem;
}

/** `path`: of the selection, with its parameters. `kind`: of the events that the panel shows. */
export function SelectionSql(props: { readonly path: string; readonly kind: string; readonly pane: Pane }) {
  const { path, kind, pane } = props;
  const [answered, setAnswered] = useState<Answered & { readonly of?: string }>({});
  const [isAsking, setAsking] = useState(false);
  const columns = sqlTables.value?.sql;
  if (!columns) return null;
  const tables = sqlTables.value?.sqlTables ?? [];
  const text = written.value ?? sample(kind);
  const ask = async () => {
    setAsking(true);
    const [address, parameters] = path.split('?');
    const asked = new URLSearchParams(parameters);
    asked.set('sql', text);
    const answer = await askJson<PanelDocument>(`${address}/sql?${asked}`).then(
      document => ({ document }),
      error => ({ problem: asProblem(error) }),
    );
    setAnswered({ ...answer, of: path });
    setAsking(false);
  };
  return (
    <details class="block sql">
      <summary>Ask in SQL</summary>
      <form
        onSubmit={event => {
          event.preventDefault();
          void ask();
        }}
      >
        <textarea
          rows={4}
          spellcheck={false}
          aria-label="SQL over the selection and the whole profile"
          value={text}
          onInput={event => {
            written.value = event.currentTarget.value;
          }}
          onKeyDown={event => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void ask();
          }}
        />
        <div class="sql-actions">
          <button type="submit" class="small" disabled={isAsking}>
            {isAsking ? 'Asking…' : 'Ask'}
          </button>
          <span class="muted">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </span>
        </div>
      </form>
      <p class="muted">
        One SELECT over the table <code>selection</code>: one row per selected event, with{' '}
        {columns.map(({ name, about }, i) => (
          <span key={name}>
            {i > 0 && ', '}
            <code title={about}>{name}</code>
          </span>
        ))}
        . At most 10 s and 1,000 rows.
      </p>
      <details class="sql-tables">
        <summary>Tables of the whole profile</summary>
        <ul class="plain">
          {tables.map(({ name, about }) => (
            <li key={name}>
              <button
                type="button"
                class="text"
                title={about}
                onClick={() => {
                  written.value = `SELECT * FROM ${name} LIMIT 20`;
                }}
              >
                <code>{name}</code>
              </button>
            </li>
          ))}
        </ul>
      </details>
      {answered.problem && <ProblemView problem={answered.problem} />}
      {answered.document && (
        <div class={answered.of === path ? undefined : 'stale'}>
          {answered.of !== path && <p class="muted">This answer is about an earlier selection.</p>}
          {answered.document.blocks.map((block, i) => (
            <BlockView key={i} block={block} pane={pane} />
          ))}
        </div>
      )}
    </details>
  );
}
