/** Every other panel, by title and by the question it answers. */
import { type Pane, panel } from '../state.js';
import { otherPanels, type PanelTab } from './panel-list.js';

export function MorePanel({ pane, hidden }: { readonly pane: Pane; readonly hidden: readonly PanelTab[] }) {
  const { panels } = pane.document;
  const question = (tab: PanelTab) => panels.find(one => one.id === tab.shows[0])?.question ?? '';
  const entries = [
    ...hidden.map(tab => ({ id: tab.id, title: tab.label, question: question(tab) })),
    ...otherPanels(panels),
  ];
  return (
    <section class="block">
      <h3 class="unseen">All other panels</h3>
      <ul class="more-list">
        {entries.map(entry => (
          <li key={entry.id}>
            <button
              type="button"
              onClick={() => {
                panel.value = entry.id;
              }}
            >
              <b>{entry.title}</b>
              <span class="muted">{entry.question}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
