/** What is selected in numbers: the area dragged over, else the steps, else what is in view; of that, what is searched. */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import type { DurationBin, SelectionDocument } from '../../timeline/wire.js';
import { useDocument } from '../documents.js';
import { countedKind, durations, type Pane, query, splitBy } from '../state.js';
import { spokenSpan } from '../strip/step-words.js';
import { Skeleton } from './analysis-panel.js';
import { ProblemView } from './problem-view.js';
import { SelectionSql } from './selection-sql.js';
import { TableView } from './table-view.js';

interface Selected {
  readonly words: string;
  readonly fromNs?: number;
  readonly toNs?: number;
  readonly tracks: readonly string[];
}

function selectedIn(pane: Pane): Selected {
  const { area, steps, window, document } = pane;
  const own = area.value;
  if (own) {
    const on = own.tracks.length === 0 ? 'all tracks' : plural(own.tracks.length, 'track');
    return { ...own, words: `${formatDuration(own.toNs - own.fromNs)} on ${on}` };
  }
  const span = steps.value;
  if (span)
    return {
      fromNs: document.steps.startNs[span.first],
      toNs: document.steps.endNs[span.last],
      tracks: [],
      words: spokenSpan(document, span),
    };
  if (query.value.trim() !== '') return { tracks: [], words: 'the whole profile' };
  const { fromNs, toNs } = window.value;
  return { fromNs, toNs, tracks: [], words: `the visible range, ${formatDuration(toNs - fromNs)}` };
}

function selectionPath(pane: Pane, selected: Selected, of: string, by: string): string {
  const parts = new URLSearchParams();
  if (selected.fromNs !== undefined) parts.set('from', String(Math.floor(selected.fromNs)));
  if (selected.toNs !== undefined) parts.set('to', String(Math.ceil(selected.toNs)));
  for (const track of selected.tracks) parts.append('track', track);
  const own = durations.value;
  const dur = own ? `dur:${Math.floor(own.fromNs)}ns..${Math.ceil(own.toNs)}ns` : '';
  const text = `${query.value.trim()} ${dur}`.trim();
  if (text !== '') parts.set('q', text);
  if (of !== '') parts.set('of', of);
  if (by !== '') parts.set('by', by);
  return `/api/profiles/${pane.id}/selection?${parts}`;
}

export function SelectionPanel({ pane }: { readonly pane: Pane }) {
  const [of, by] = [countedKind.value, splitBy.value];
  const selected = selectedIn(pane);
  const { document, problem, isLoading } = useDocument<SelectionDocument>(
    selectionPath(pane, selected, of, by),
  );
  if (problem) return <ProblemView problem={problem} />;
  if (!document) return <Skeleton />;
  return (
    <div class={isLoading ? 'stale' : undefined} aria-busy={isLoading}>
      <section class="block selection">
        <h3>{selected.words}</h3>
        {query.value.trim() !== '' && (
          <p class="muted">
            matching <code>{query.value.trim()}</code>
          </p>
        )}
        {document.sections.length > 1 && (
          <Choice
            label="Events"
            value={document.of}
            options={document.sections.map(({ id, label, count }) => ({
              id,
              label: `${label} (${formatCount(count)})`,
            }))}
            onChange={kind => {
              countedKind.value = kind;
            }}
          />
        )}
        {document.count === 0 ? (
          <p class="muted">No events are selected. Shift-drag over the timeline, or search.</p>
        ) : (
          <Figures document={document} />
        )}
        {(document.count > 0 || durations.value) && <Lengths bins={document.bins} />}
        {document.dimensions.length > 1 && document.count > 0 && (
          <Choice
            label="Split by"
            value={document.by}
            options={document.dimensions}
            onChange={dimension => {
              splitBy.value = dimension;
            }}
          />
        )}
      </section>
      {document.count > 0 && <TableView key={document.by} block={document.table} pane={pane} />}
      {document.count > 0 && <p class="muted block">A row leads to its longest event.</p>}
      {document.count > 0 && (
        <SelectionSql path={selectionPath(pane, selected, '', '')} kind={document.of} pane={pane} />
      )}
    </div>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  readonly onChange: (id: string) => void;
}) {
  const { label, value, options, onChange } = props;
  return (
    <label class="choice">
      <span class="muted">{label}</span>
      <select value={value} onChange={event => onChange(event.currentTarget.value)}>
        {options.map(option => (
          <option key={option.id} value={option.id}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}

function Figures({ document }: { readonly document: SelectionDocument }) {
  const { count, totalNs, coveredNs, meanNs, percentiles, fromNs, toNs } = document;
  const at = (percent: number) => formatDuration(percentiles.find(one => one.percent === percent)?.ns ?? 0);
  const facts: readonly (readonly [string, string])[] = [
    ['events', formatCount(count)],
    ['total', formatDuration(totalNs)],
    [
      'covered',
      `${formatDuration(coveredNs)}${toNs > fromNs ? `, ${formatShare(coveredNs / (toNs - fromNs))} of the time` : ''}`,
    ],
    ['mean', formatDuration(meanNs)],
    ['shortest, median', `${at(0)}, ${at(50)}`],
    ['p90, p99, longest', `${at(90)}, ${at(99)}, ${at(100)}`],
  ];
  return (
    <dl class="facts">
      {facts.map(([label, text]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class="figure">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Bars of durations; one that is clicked leaves only its events, another click brings all back. */
function Lengths({ bins }: { readonly bins: readonly DurationBin[] }) {
  const most = bins.reduce((highest, { count }) => Math.max(highest, count), 1);
  return (
    <>
      {bins.length > 1 && (
        <fieldset class="lengths" aria-label="Durations">
          {bins.map(bin => (
            <button
              type="button"
              key={bin.fromNs}
              disabled={bin.count === 0}
              title={binText(bin)}
              aria-label={binText(bin)}
              onClick={() => {
                durations.value = bin;
              }}
            >
              <i style={{ height: `${bin.count === 0 ? 0 : 4 + (44 * bin.count) / most}px` }} />
            </button>
          ))}
        </fieldset>
      )}
      {bins.length > 1 && (
        <p class="muted figure lengths-ends">
          {/* Each bar is as many times longer than the one before it; the first has all that is shorter. */}
          <span>to {formatDuration(bins[0].toNs)}</span>
          <span>durations, log scale</span>
          <span>{formatDuration(bins[bins.length - 1].toNs)}</span>
        </p>
      )}
      {durations.value && (
        <button
          type="button"
          class="small"
          onClick={() => {
            durations.value = null;
          }}
        >
          Only {formatDuration(durations.value.fromNs)} to {formatDuration(durations.value.toNs)}: show all
        </button>
      )}
    </>
  );
}

const binText = ({ fromNs, toNs, count }: DurationBin) =>
  `${formatDuration(fromNs)} to ${formatDuration(toNs)}: ${plural(count, 'event')}`;
