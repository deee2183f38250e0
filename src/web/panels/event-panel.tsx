/** Everything known about the selected event, and the events it is tied to. */

import { printable } from '../../base/printable.js';
import { plural } from '../../base/units.js';
import type { EventLink } from '../../timeline/wire.js';
import { type Pane, showWindow } from '../state.js';
import { CopyButton } from './command.js';

export function EventPanel({ pane }: { readonly pane: Pane }) {
  const details = pane.details.value;
  if (!pane.event.value)
    return (
      <p class="nothing muted">
        No event is selected. Click one in the timeline, or search and press <kbd>n</kbd>.
      </p>
    );
  if (!details) return <p class="muted nothing">…</p>;
  return (
    <section class="block event">
      <div class="block-head">
        <h3>{printable(details.title)}</h3>
        <button type="button" class="small" onClick={() => show(pane, details)}>
          Show <kbd>f</kbd>
        </button>
      </div>
      {details.name !== details.title && (
        <div class="command">
          <code>{printable(details.name)}</code>
          <CopyButton text={() => details.name} what="the full name" />
        </div>
      )}
      <dl class="facts">
        {details.facts.map(({ label, text }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{printable(text)}</dd>
          </div>
        ))}
      </dl>
      <Links pane={pane} links={details.links} more={details.moreLinks} />
    </section>
  );
}

const show = (pane: Pane, { startNs, endNs }: { readonly startNs: number; readonly endNs: number }) =>
  showWindow(pane, { fromNs: startNs, toNs: endNs });

const relations: readonly (readonly [EventLink['relation'], string])[] = [
  ['launched-by', 'Launched by'],
  ['launches', 'Launches'],
];

function Links(props: { readonly pane: Pane; readonly links: readonly EventLink[]; readonly more: number }) {
  const { pane, links, more } = props;
  return (
    <>
      {relations.map(([relation, title]) => {
        const own = links.filter(link => link.relation === relation);
        return (
          own.length > 0 && (
            <div key={relation}>
              <h4>{title}</h4>
              <ul class="links">
                {own.map(link => (
                  <li key={`${link.lane}.${link.index}`}>
                    <button
                      type="button"
                      onClick={() => {
                        pane.event.value = { lane: link.lane, index: link.index };
                        show(pane, link);
                      }}
                    >
                      {printable(link.title)}
                    </button>
                  </li>
                ))}
              </ul>
            </div>
          )
        );
      })}
      {more > 0 && <p class="muted">{plural(more, 'more')} not listed.</p>}
    </>
  );
}
