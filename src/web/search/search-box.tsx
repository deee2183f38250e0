/** The search box: what is looked for, how much of it there is, and the way from one match to the next. */
import { useRef } from 'preact/hooks';
import { formatCount, formatDuration } from '../../base/units.js';
import { letterOf } from '../active-pane.js';
import { Menu } from '../header/menu.js';
import { panes, query } from '../state.js';
import { isSearching, matchNumber, searchProblem, walkMatches } from './search.js';

export const SEARCH_ID = 'search';

const syntax: readonly (readonly [string, string])[] = [
  ['gemm', 'names that contain gemm, and the family of that name'],
  ['/nvjet_.*_TNT$/', 'names that match a regular expression'],
  ['name:"layer 3"', 'the same, with spaces'],
  ['dur>50us', 'longer than 50 µs; also < and ns, us, ms, s'],
  ['family:attention', 'kernels in a family'],
  ['family:gemm,attention', 'in one of several'],
  ['track:stream', 'on tracks with that name'],
  ['step:12', 'in iteration 12; step:12-15 for a range'],
  ['phase:decode', 'in steps of that phase'],
  ['cause:launch-bound', 'idle time with that cause'],
  ['-family:gemm', 'a minus excludes matches'],
];

export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const problem = searchProblem.value;
  return (
    <search class="search">
      <div class={problem ? 'search-field bad' : 'search-field'}>
        <input
          id={SEARCH_ID}
          ref={input}
          type="search"
          aria-label="Search events"
          aria-invalid={problem !== null}
          aria-describedby={query.value === '' ? undefined : 'search-answer'}
          placeholder="dur>50us family:attention"
          spellcheck={false}
          autocomplete="off"
          value={query.value}
          onInput={event => {
            query.value = event.currentTarget.value;
          }}
          onKeyDown={event => {
            if (event.key === 'Enter') {
              event.preventDefault();
              walkMatches(event.shiftKey ? -1 : 1);
            } else if (event.key === 'Escape') {
              event.preventDefault();
              if (query.value === '') input.current?.blur();
              query.value = '';
            }
          }}
        />
        {query.value === '' ? <kbd>/</kbd> : <Answer />}
        {(query.value === '' || problem) && <Syntax input={input} />}
      </div>
      {problem && (
        <div class="search-problem" role="alert">
          <b>{problem.message}</b> {problem.hint}
        </div>
      )}
    </search>
  );
}

function Syntax({ input }: { readonly input: { current: HTMLInputElement | null } }) {
  return (
    <Menu label="syntax" name="search syntax" look="text">
      {close => (
        <>
          <p class="menu-title">All terms must match</p>
          <dl class="syntax">
            {syntax.map(([example, meaning]) => (
              <div key={example}>
                <dt>
                  <button
                    type="button"
                    class="text"
                    onClick={() => {
                      query.value = `${query.value} ${example}`.trim();
                      close();
                      input.current?.focus();
                    }}
                  >
                    <code>{example}</code>
                  </button>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </Menu>
  );
}

/** Short, because it stands inside the box; in full for those who point or listen. */
function Answer() {
  const all = panes.value;
  const found = all.flatMap(pane => (pane.search.value ? [{ pane, ...pane.search.value }] : []));
  if (searchProblem.value || found.length === 0) return null;
  const total = found.reduce((sum, { count }) => sum + count, 0);
  const at = matchNumber.value;
  const full = found
    .map(one => `${all.length > 1 ? `${letterOf(one.pane)}: ` : ''}${foundText(one)}`)
    .join('; ');
  return (
    <span class={isSearching.value ? 'search-answer stale' : 'search-answer'}>
      <span class="figure" title={full} aria-hidden="true">
        {at >= 0 && `${formatCount(at + 1)} of `}
        {found.map(({ pane, count, totalNs }) => (
          <span key={pane.id}>
            {all.length > 1 && <b>{letterOf(pane)} </b>}
            {count === 0 ? 'none' : formatCount(count)}
            {all.length === 1 && count > 0 && ` · ${formatDuration(totalNs)}`}{' '}
          </span>
        ))}
      </span>
      <span class="unseen" id="search-answer" role="status">
        {full}
      </span>
      {total > 0 && (
        <>
          <button
            type="button"
            class="icon small"
            aria-label="Previous match"
            onClick={() => walkMatches(-1)}
          >
            ↑
          </button>
          <button type="button" class="icon small" aria-label="Next match" onClick={() => walkMatches(1)}>
            ↓
          </button>
        </>
      )}
    </span>
  );
}

function foundText({ count, totalNs }: { readonly count: number; readonly totalNs: number }): string {
  if (count === 0) return 'no matches';
  return `${formatCount(count)} ${count === 1 ? 'match' : 'matches'}, ${formatDuration(totalNs)} total`;
}
