/** The side of the page: one panel at a time, about the profile touched last. */
import { activePane, letterOf, makeActive } from '../active-pane.js';
import { comparePath } from '../documents.js';
import { RanksPanel } from '../ranks/ranks-panel.js';
import { hasRanks } from '../ranks/waits.js';
import { type Pane, panel, panes, query } from '../state.js';
import { AnalysisPanel, BlocksOf } from './analysis-panel.js';
import { EventPanel } from './event-panel.js';
import { HostPanel } from './host-panel.js';
import { MorePanel } from './more-panel.js';
import { NotesPanel } from './notes-panel.js';
import { compareTab, eventTab, type PanelTab, ranksTab, selectionTab, tabOf, tabs } from './panel-list.js';
import { SelectionPanel } from './selection-panel.js';
import { StepPanel } from './step-panel.js';
import { TabBar, useTabs } from './tab-bar.js';

export function Panels() {
  const pane = activePane.value;
  const isComparing = panes.value.length > 1;
  const hasEvent = panes.value.some(one => one.event.value !== null);
  const hasSelection = pane !== undefined && (pane.area.value !== null || query.value !== '');
  const offered = [
    ...(isComparing ? [compareTab] : []),
    ...(hasEvent ? [eventTab] : []),
    ...(hasSelection ? [selectionTab] : []),
    ...tabs.flatMap(tab => [
      ...(tab.id === 'host' && pane && hasRanks(pane) ? [ranksTab] : []),
      ...(tab.id === 'layers' && !hasSelection ? [selectionTab] : []),
      tab,
    ]),
  ];
  const asked = tabOf(panel.value, pane?.document.panels ?? []);
  const current = asked === compareTab && !isComparing ? tabs[0] : asked;
  const { bar, shown, hidden } = useTabs(offered, current);
  if (!pane) return null;
  return (
    <section class="panels" aria-label="Panels">
      <TabBar bar={bar} shown={shown} current={current} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${current.id}`} tabIndex={0}>
        <h2 class="unseen">{current.label}</h2>
        {isComparing && current.id !== 'compare' && <WhichPane active={pane} />}
        <Content key={`${current.id}/${pane.id}`} tab={current} pane={pane} hidden={hidden} />
      </div>
    </section>
  );
}

function Content(props: {
  readonly tab: PanelTab;
  readonly pane: Pane;
  readonly hidden: readonly PanelTab[];
}) {
  const { tab, pane, hidden } = props;
  switch (tab.id) {
    case 'event':
      return <EventPanel pane={pane} />;
    case 'compare':
      return <BlocksOf path={comparePath(panes.value[0], panes.value[1])} pane={pane} />;
    case 'notes':
      return <NotesPanel pane={pane} />;
    case 'more':
      return <MorePanel pane={pane} hidden={hidden} />;
    case 'host':
      return <HostPanel pane={pane} />;
    case 'ranks':
      return <RanksPanel pane={pane} />;
    case 'selection':
      return <SelectionPanel pane={pane} />;
    case 'step':
      return <StepPanel pane={pane} />;
    default:
      return (
        <>
          {tab.shows.map(id => (
            <AnalysisPanel key={id} id={id} pane={pane} />
          ))}
        </>
      );
  }
}

function WhichPane({ active }: { readonly active: Pane }) {
  return (
    <fieldset class="which">
      <legend class="unseen">Which profile</legend>
      {panes.value.map(pane => (
        <button
          type="button"
          class="small"
          key={pane.id}
          aria-pressed={pane === active}
          onClick={() => makeActive(pane)}
        >
          <b>{letterOf(pane)}</b> {pane.name}
        </button>
      ))}
    </fieldset>
  );
}
