/**
 * Blocks: what results look like to everything that shows them (terminal, CSV, JSON, Markdown, HTML, web).
 * Numbers stay in base units until a renderer formats them; a column says what its numbers are.
 */

/** How a column's numbers are to be read. Renderers own the formatting, analyses only pick the kind. */
export type ColumnKind =
  | 'text'
  /** A whole number of things: grouped by thousands for people. */
  | 'count'
  /** An identifier: never grouped. */
  | 'id'
  /** Percent, one decimal. */
  | 'percent'
  /** A point in time: nanoseconds on the profile's clock. */
  | 'timestamp'
  /** A length of time: nanoseconds, whole. */
  | 'ns'
  /** Nanoseconds with one decimal: means, medians, deviations. */
  | 'ns-mean'
  /** A mean of counts, one decimal. */
  | 'mean'
  /** Bytes, shown as megabytes (10^6) with three decimals. */
  | 'bytes'
  /** Bytes per second, shown as MB/s with three decimals. */
  | 'bytes-per-second';

export interface TableColumn {
  readonly header: string;
  readonly kind: ColumnKind;
  /** NaN or null: nothing to show. */
  readonly values: ArrayLike<number> | readonly (string | null)[];
}

export interface TableBlock {
  readonly kind: 'table';
  readonly id: string;
  readonly title: string;
  readonly rows: number;
  readonly columns: readonly TableColumn[];
  /** How to read it, or what to do about it; a sentence or two. */
  readonly advice?: string;
}

/** The question cannot be answered from this capture; says what to capture. */
export interface NotRecordedBlock {
  readonly kind: 'not-recorded';
  readonly id: string;
  readonly title: string;
  readonly what: string;
  readonly hint: string;
}

/** Labelled statements: what a person would read out about a capture. */
export interface FactsBlock {
  readonly kind: 'facts';
  readonly id: string;
  readonly title: string;
  readonly facts: readonly Fact[];
}

export interface Fact {
  readonly label: string;
  readonly text: string;
  /** `good` and `bad` stand out, `quiet` steps back. */
  readonly tone?: 'good' | 'bad' | 'quiet';
  /** What to do about it. */
  readonly hint?: string;
}

export type Block = TableBlock | NotRecordedBlock | FactsBlock;
