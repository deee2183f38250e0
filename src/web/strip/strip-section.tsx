/** The band of steps under the verdict: legend, what is selected, shortcuts as buttons, and a strip per profile. */
import { useMemo } from 'preact/hooks';
import { formatCount, formatDuration, plural } from '../../base/units.js';
import { activePane, letterOf } from '../active-pane.js';
import { commandFor } from '../command-files.js';
import type { Action } from '../keys.js';
import { ShellText } from '../panels/command.js';
import { type Pane, panes, selectSteps } from '../state.js';
import { firstDecode } from './choose-step.js';
import { stepAction } from './step-actions.js';
import { spokenSpan } from './step-words.js';
import { Strip, stepsPerBar } from './strip.js';
import { outliers, stripScale } from './strip-layout.js';

/** A shortcut to a step that no profile on screen has is not offered. */
const shortcuts: readonly { readonly action: Action; readonly label: string; readonly key: string }[] = [
  { action: 'slowest-step', label: 'slowest', key: 'x' },
  { action: 'median-step', label: 'median', key: 'm' },
  { action: 'first-decode', label: 'first decode', key: 'g' },
];

export function StripSection() {
  const all = panes.value;
  const active = activePane.value;
  const scales = useMemo(() => stripScale(all.map(pane => pane.document.steps)), [all]);
  if (!active) return null;
  const perBar = stepsPerBar.value.get(active.id) ?? 1;
  const isComparing = all.length > 1;
  return (
    <section class="strip" aria-label="Steps">
      <div class="strip-head">
        <h2>Steps</h2>
        <Legend panes={all} scales={scales} />
        {active.stripSpan.value && (
          <button
            type="button"
            class="small"
            onClick={() => {
              active.stripSpan.value = null;
            }}
          >
            {plural(active.stripSpan.value.last - active.stripSpan.value.first + 1, 'step')} of{' '}
            {formatCount(active.document.steps.length)}: show all
          </button>
        )}
        {perBar > 1 && <span class="muted figure">each bar: the slowest of {formatCount(perBar)} steps</span>}
        {active.document.steps.length > 0 && <Selected pane={active} />}
        {active.document.steps.length > 0 && (
          <div class="strip-buttons">
            {offered(active).map(({ action, label, key }) => (
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

const offered = ({ document }: Pane) =>
  firstDecode(document.steps, document.palettes.phase) < 0
    ? shortcuts.filter(({ action }) => action !== 'first-decode')
    : shortcuts;

function Legend(props: { readonly panes: readonly Pane[]; readonly scales: ReturnType<typeof stripScale> }) {
  const { panes: all, scales } = props;
  const looks = useMemo(() => {
    const seen = new Map<string, { label: string; color: string; phase: number }>();
    for (const { document } of all)
      for (const phase of new Set(document.steps.phase)) {
        const look = document.palettes.phase[phase];
        if (look) seen.set(look.id, { ...look, phase });
      }
    return [...seen];
  }, [all]);
  const isLeftOut = useMemo(
    () => all.some(({ document }) => document.steps.state.some(state => state !== 'steady')),
    [all],
  );
  const hasWork = useMemo(() => all.some(({ document }) => document.steps.busyNs.some(ns => ns > 0)), [all]);
  const hasOutliers = useMemo(() => all.some(({ document }) => outliers(document.steps).size > 0), [all]);
  const scaleText = (phase: number) => {
    const { topNs, cut } = scales.get(phase) ?? { topNs: 0, cut: 0 };
    return `0 – ${formatDuration(topNs)}${cut > 0 ? `, ${plural(cut, 'step')} longer` : ''}`;
  };
  if (looks.length === 0) return null;
  return (
    <ul class="strip-legend">
      {looks.map(([id, { label, color, phase }]) => (
        <li key={id}>
          <span class="swatch" style={{ background: color }} />
          {looks.length === 1 && id === 'unknown' ? 'step time' : label}{' '}
          <span class="figure">{scaleText(phase)}</span>
        </li>
      ))}
      {hasWork && (
        <li>
          <span class="swatch busy" />
          darker: GPU busy
        </li>
      )}
      {hasOutliers && <li>● unusually long</li>}
      {isLeftOut && (
        <li>
          <span class="swatch left-out" />
          pale: left out
        </li>
      )}
    </ul>
  );
}

function Selected({ pane }: { readonly pane: Pane }) {
  const span = pane.steps.value;
  if (!span) return <span class="muted strip-selected">nothing selected</span>;
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
  const hasGpuWork = pane.document.groups.some(({ id }) => id.startsWith('gpu:'));
  return (
    <p class="no-steps">
      <b>No engine steps were found in {pane.name}.</b> It contains no known step marker
      {hasGpuWork
        ? ', and its GPU work does not repeat in a pattern that could be split into steps. Values are for the whole capture. Mark steps with NVTX, or specify your own marker: '
        : ' and no GPU work. '}
      {hasGpuWork && (
        <code>
          <ShellText
            text={commandFor(pane, "stepscope view FILE --marker 'step (?<iteration>\\d+)'").shown}
          />
        </code>
      )}
    </p>
  );
}
