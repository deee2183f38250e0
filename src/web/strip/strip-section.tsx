/** The band of steps under the verdict: legend, what is selected, shortcuts as buttons, and a strip per profile. */
import { useMemo } from 'preact/hooks';
import { formatCount, formatDuration, plural } from '../../base/units.js';
import { activePane, letterOf } from '../active-pane.js';
import type { Action } from '../keys.js';
import { type Pane, panes, selectSteps } from '../state.js';
import { stepAction } from './step-actions.js';
import { spokenSpan } from './step-words.js';
import { Strip, stepsPerBar } from './strip.js';
import { stripScale } from './strip-layout.js';

const shortcuts: readonly { readonly action: Action; readonly label: string; readonly key: string }[] = [
  { action: 'slowest-step', label: 'slowest', key: 'x' },
  { action: 'median-step', label: 'median', key: 'm' },
  { action: 'first-decode', label: 'first decode', key: 'g' },
];

export function StripSection() {
  const all = panes.value;
  const active = activePane.value;
  const scale = useMemo(() => stripScale(all.map(pane => pane.document.steps)), [all]);
  if (!active) return null;
  const perBar = stepsPerBar.value.get(active.id) ?? 1;
  const isComparing = all.length > 1;
  return (
    <section class="strip" aria-label="Steps">
      <div class="strip-head">
        <h2>Steps</h2>
        <Legend panes={all} />
        {scale.topNs > 0 && (
          <span class="muted figure">
            0 – {formatDuration(scale.topNs)}
            {scale.cut > 0 && `, ${plural(scale.cut, 'step')} longer`}
          </span>
        )}
        {perBar > 1 && <span class="muted figure">each bar: the slowest of {formatCount(perBar)} steps</span>}
        {active.document.steps.length > 0 && <Selected pane={active} />}
        {active.document.steps.length > 0 && (
          <div class="strip-buttons">
            {shortcuts.map(({ action, label, key }) => (
              <button type="button" class="small" key={action} onClick={() => stepAction(active, action)}>
                {label} <kbd>{key}</kbd>
              </button>
            ))}
          </div>
        )}
      </div>
      {all.map(pane => (
        <div class={isComparing ? 'strip-row two' : 'strip-row'} key={pane.id}>
          {isComparing && <b class="letter">{letterOf(pane)}</b>}
          {pane.document.steps.length > 0 ? <Strip pane={pane} /> : <NoSteps pane={pane} />}
        </div>
      ))}
    </section>
  );
}

function Legend({ panes: all }: { readonly panes: readonly Pane[] }) {
  const looks = useMemo(() => {
    const seen = new Map<string, { label: string; color: string }>();
    for (const { document } of all)
      for (const phase of new Set(document.steps.phase)) {
        const look = document.palettes.phase[phase];
        if (look) seen.set(look.id, look);
      }
    return [...seen];
  }, [all]);
  if (looks.length === 0) return null;
  return (
    <ul class="strip-legend">
      {looks.map(([id, { label, color }]) => (
        <li key={id}>
          <span class="swatch" style={{ background: color }} />
          {label}
        </li>
      ))}
      <li>
        <span class="swatch busy" />
        darker: GPU busy
      </li>
    </ul>
  );
}

function Selected({ pane }: { readonly pane: Pane }) {
  const span = pane.steps.value;
  if (!span)
    return <span class="muted strip-selected">nothing selected: values are for the steady state</span>;
  return (
    <span class="strip-selected">
      <b class="figure">{spokenSpan(pane.document, span)}</b>
      <button type="button" class="small" onClick={() => selectSteps(pane, null)}>
        clear <kbd>Esc</kbd>
      </button>
    </span>
  );
}

/** A profile without steps can still be looked at, but the page's best part needs them. */
function NoSteps({ pane }: { readonly pane: Pane }) {
  return (
    <p class="no-steps">
      <b>No engine steps were found in {pane.name}.</b> It contains no known step marker, and its GPU work
      does not repeat in a pattern that could be split into steps. Values are for the whole capture. Mark
      steps with NVTX, or specify your own marker:{' '}
      <code>stepscope view FILE --marker 'step (?&lt;iteration&gt;\d+)'</code>
    </p>
  );
}
