/** The panels of the page: which analyses stand together, and under which name. All others are reached from "More". */
import type { PanelSummary } from '../../timeline/wire.js';

export interface PanelTab {
  readonly id: string;
  readonly label: string;
  /** Analyses, in order; empty: the page draws it itself. */
  readonly shows: readonly string[];
}

export const selectionTab: PanelTab = { id: 'selection', label: 'Selection', shows: [] };
export const ranksTab: PanelTab = { id: 'ranks', label: 'Ranks', shows: [] };
export const eventTab: PanelTab = { id: 'event', label: 'Event', shows: [] };
export const compareTab: PanelTab = { id: 'compare', label: 'Compare', shows: [] };
export const moreTab: PanelTab = { id: 'more', label: 'More', shows: [] };
const notesTab: PanelTab = { id: 'notes', label: 'Notes', shows: [] };

export const tabs: readonly PanelTab[] = [
  { id: 'findings', label: 'Findings', shows: ['findings'] },
  { id: 'step', label: 'Step', shows: ['step-budget'] },
  { id: 'host', label: 'Host', shows: ['host-code'] },
  { id: 'families', label: 'Families', shows: ['kernel-families'] },
  { id: 'kernels', label: 'Kernels', shows: ['top-kernels'] },
  { id: 'layers', label: 'Layers', shows: ['layers'] },
  { id: 'memory', label: 'Memory', shows: ['memory-in-use', 'memory-operations', 'allocations'] },
  { id: 'metrics', label: 'Metrics', shows: ['gpu-metrics', 'metric-series'] },
  { id: 'checklist', label: 'Checklist', shows: ['checklist'] },
  notesTab,
];

const shownInTabs = new Set(tabs.flatMap(tab => tab.shows));

/** Analyses that have no tab of their own. */
export const otherPanels = (panels: readonly PanelSummary[]): readonly PanelSummary[] =>
  panels.filter(panel => !shownInTabs.has(panel.id));

/** The tab of an id; an analysis without one gets a tab while it is open. Unknown ids are answered with findings. */
export function tabOf(id: string, panels: readonly PanelSummary[]): PanelTab {
  const own = [...tabs, ranksTab, selectionTab, eventTab, compareTab, moreTab].find(
    tab => tab.id === id || tab.shows[0] === id,
  );
  if (own) return own;
  const other = panels.find(panel => panel.id === id);
  return other ? { id, label: other.title, shows: [id] } : tabs[0];
}
