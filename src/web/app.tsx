/** The page: verdict first, then the steps, then the timeline with the panels beside it. */
import { letterOf, makeActive } from './active-pane.js';
import { Announcements, notify } from './announce.js';
import { asProblem } from './documents.js';
import { DropTarget } from './drop/drop-target.js';
import { OtherScreen, Trouble } from './drop/screens.js';
import { Header } from './header/header.js';
import { Help } from './help.js';
import { Panels } from './panels/panels.js';
import { screen } from './session.js';
import { SideSeparator, sideWidth } from './side-width.js';
import { type Pane, panes } from './state.js';
import { StripSection } from './strip/strip-section.js';
import { TimelineView } from './timeline/timeline-view.js';
import { Verdict } from './verdict.js';

export function App() {
  return (
    <div class="app">
      <Header />
      {screen.value.kind === 'ready' ? <Ready /> : <OtherScreen />}
      <Trouble />
      <DropTarget />
      <Help />
      <Announcements />
    </div>
  );
}

function Ready() {
  const all = panes.value;
  return (
    <main class="page">
      <Verdict />
      <StripSection />
      <div class="work" style={{ '--side': `${sideWidth.value}px` }}>
        <div class="panes">
          {all.map(pane => (
            <PaneArea key={pane.id} pane={pane} isNamed={all.length > 1} />
          ))}
        </div>
        <SideSeparator />
        <Panels />
      </div>
    </main>
  );
}

function tell(error: unknown): void {
  const { message, hint } = asProblem(error);
  notify(`${message} ${hint}`, true);
}

function PaneArea({ pane, isNamed }: { readonly pane: Pane; readonly isNamed: boolean }) {
  const touch = () => makeActive(pane);
  return (
    <div class="pane" data-pane={pane.id} onPointerDownCapture={touch} onFocusCapture={touch}>
      {isNamed && (
        <h2 class="pane-name">
          <b class="letter">{letterOf(pane)}</b> {pane.name}
        </h2>
      )}
      <TimelineView pane={pane} onTrouble={tell} />
    </div>
  );
}
