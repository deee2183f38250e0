/** What a page shows before anyone scrolls: a few figures, one bar for each thing compared, and what to do. */

export interface PageSummary {
  /** Three at most. */
  readonly figures: readonly SummaryFigure[];
  readonly bars: readonly SummaryBar[];
  /** Of the actions, for example "What to do first". */
  readonly title: string;
  /** Three at most. */
  readonly actions: readonly SummaryAction[];
}

interface SummaryFigure {
  /** `×4.1`, `23.7 ms` */
  readonly value: string;
  readonly label: string;
}

export interface SummaryBar {
  readonly name: string;
  readonly wallNs: number;
  /** What the full width stands for; absent: the bar itself. */
  readonly wholeNs?: number;
  /** They sum to the bar, but for rounding. */
  readonly parts: readonly { readonly label: string; readonly color: string; readonly ns: number }[];
}

interface SummaryAction {
  /** A sentence or two. */
  readonly text: string;
  /** What it brings, or what it is about. */
  readonly about: string;
  /** A section of the page. */
  readonly section?: string;
}

export const MOST_ACTIONS = 3;
