/** Everything known about the selected event, and the events it is tied to. */

import { nameQuery } from '../../analyze/row-places.js';
import { printable } from '../../base/printable.js';
import { formatChange, formatCount, formatDuration, plural } from '../../base/units.js';
import type { EventDocument, EventLink, LikeDocument } from '../../timeline/wire.js';
import { letterOf } from '../active-pane.js';
import { useDocument } from '../documents.js';
import { type Pane, panes, query, showWindow } from '../state.js';
import { CopyButton } from './command.js';
import { SpreadBars } from './spread-bars.js';

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
      <Facts facts={details.facts.filter(isLaunch)} />
      <Company pane={pane} details={details} />
      {details.name !== details.title && (
        <div class="command full-name">
          <code title={printable(details.name)}>{printable(details.name)}</code>
          <CopyButton text={() => details.name} what="the full name" />
        </div>
      )}
      <Facts facts={details.facts.filter(fact => !isLaunch(fact))} />
      <Links pane={pane} links={details.links} more={details.moreLinks} />
    </section>
  );
}

type Fact = EventDocument['facts'][number];

/** Where it comes from is said first. */
const isLaunch = ({ label }: Fact) => label === 'launched by' || label === 'queued';

function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(({ label, text }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{printable(text)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** `3rd slowest of 144` */
function placeText({ longer, count }: { readonly longer: number; readonly count: number }): string {
  const place = longer + 1;
  const ending =
    place % 100 >= 11 && place % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  if (longer === 0) return `slowest of ${formatCount(count)}`;
  return `${formatCount(place)}${ending} slowest of ${formatCount(count)}`;
}

/** Where it stands among events of its name, here and in the profile it is compared with. */
function Company({ pane, details }: { readonly pane: Pane; readonly details: EventDocument }) {
  const other = panes.value.find(one => one !== pane);
  const like = useDocument<LikeDocument>(
    other ? `/api/profiles/${other.id}/like?name=${encodeURIComponent(details.name.slice(0, 3000))}` : null,
  );
  const { company } = details;
  const found = like.document;
  if (!company && !found) return null;
  return (
    <div class="company">
      {company && (
        <>
          <SpreadBars
            heights={company.bars}
            mark={company.bar}
            label={`Durations of ${plural(company.count, 'event')} of this name`}
          />
          <span>
            <b>{placeText(company)}</b>, median {formatDuration(company.medianNs)}, from{' '}
            {formatDuration(company.leastNs)} to {formatDuration(company.mostNs)}{' '}
            <button
              type="button"
              class="small"
              onClick={() => {
                query.value = nameQuery(details.name);
              }}
            >
              show all
            </button>
          </span>
        </>
      )}
      {other && found && (
        <span>
          in {letterOf(other)}:{' '}
          {found.count === 0
            ? 'no event of this name'
            : `${plural(found.count, 'event')}, median ${formatDuration(found.medianNs)}${company ? ` (${formatChange(found.medianNs - company.medianNs)})` : ''}`}
        </span>
      )}
    </div>
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
