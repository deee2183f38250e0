/**
 * Blocks: what results look like to everything that shows them (terminal, CSV, JSON, Markdown, HTML, web).
 * Numbers stay in base units until a renderer formats them; a column says what its numbers are.
 */

import type { Finding, Unmeasured } from './findings/finding.js';

/** How a column's numbers are to be read. Renderers own the formatting, analyses only pick the kind. */
export type ColumnKind =
  | 'text'
  /** A whole number of things: grouped by thousands for people. */
  | 'count'
  /** An identifier: never grouped. */
  | 'id'
  /** Percent, one decimal. */
  | 'percent'
  /** A part of a whole, 0 to 1; shown as percent. */
  | 'share'
  /** A point in time: nanoseconds on the profile's clock. */
  | 'timestamp'
  /** A length of time: nanoseconds, whole. */
  | 'ns'
  /** Nanoseconds with one decimal: means, medians, deviations. */
  | 'ns-mean'
  /** A difference of lengths of time: nanoseconds, whole, shown with its sign. */
  | 'ns-change'
  /** A mean of counts, one decimal. */
  | 'mean'
  /** Things per second: all digits for machines, four that count for people. */
  | 'rate'
  /** Bytes, shown as megabytes (10^6) with three decimals. */
  | 'bytes'
  /** Bytes per second, shown as MB/s with three decimals. */
  | 'bytes-per-second';

/** A column of this priority stays however narrow a table gets. */
export const KEEP = 1;

export interface TableColumn {
  readonly header: string;
  readonly kind: ColumnKind;
  /** Text that is a figure stands to the right, under its like. */
  readonly align?: 'right';
  /**
   * Where a table is too wide, columns of the lowest priority go first, of equal ones the rightmost. Absent: KEEP for
   * the first column and for changes, else 0.
   */
  readonly priority?: number;
  /** NaN or null: nothing to show. */
  readonly values: ArrayLike<number> | readonly (string | null)[];
}

/** Where a row is to be found on a timeline: a stretch of it, or a search. */
export type Place = { readonly startNs: number; readonly endNs: number } | { readonly query: string };

/** Per row the heights of small bars: how durations are spread, how a counter moves. */
export interface Spread {
  readonly header: string;
  readonly bars: readonly (readonly number[])[];
}

export interface TableBlock {
  readonly kind: 'table';
  readonly id: string;
  readonly title: string;
  readonly rows: number;
  readonly columns: readonly TableColumn[];
  /** Per row; for those who can go there. Text has no use for it. */
  readonly places?: readonly (Place | null)[];
  /** Drawn after the columns by those who can draw. */
  readonly spreads?: readonly Spread[];
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
  /** It was recorded, and the file is damaged there. */
  readonly damaged?: boolean;
}

/** What such a block says first. */
export const absence = ({ damaged }: NotRecordedBlock): string => (damaged ? 'damaged' : 'not recorded');

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
  /** The text is a command to copy: it is not cut to the width. */
  readonly isCommand?: true;
}

/** Sentences: the answer, before any table. */
export interface StatementBlock {
  readonly kind: 'statement';
  readonly id: string;
  readonly title: string;
  /** The first is the answer; the others say why. */
  readonly lines: readonly string[];
  /** Context rather than answer. */
  readonly quiet?: true;
}

/** Parts of a whole in nanoseconds, drawn as bars. Deeper rows split the row above them. */
export interface BarsBlock {
  readonly kind: 'bars';
  readonly id: string;
  readonly title: string;
  /** What the parts are parts of, for example "decode, mean of 5 steps". */
  readonly caption: string;
  readonly rows: readonly BarRow[];
  /** What the reader must know to read the figures right. */
  readonly remark?: string;
}

export interface BarRow {
  readonly label: string;
  readonly depth: 0 | 1;
  readonly ns: number;
  /** Of the whole, 0 to 1. */
  readonly share: number;
  readonly color?: string;
}

/** What is wrong and what to do, in order of gain. */
export interface FindingsBlock {
  readonly kind: 'findings';
  readonly id: string;
  readonly title: string;
  /** What costs are per: a step, or the whole trace where there are no steps. */
  readonly per: 'per step' | 'in total';
  readonly findings: readonly Finding[];
  /** Findings beyond those shown. */
  readonly more: number;
  /** The command that shows all of them, where the name of the file is known. */
  readonly all?: string;
  readonly unmeasured: readonly Unmeasured[];
}

/** One amount of time becoming another, term by term: from + all changes = to. */
export interface WaterfallBlock {
  readonly kind: 'waterfall';
  readonly id: string;
  readonly title: string;
  readonly from: { readonly label: string; readonly ns: number };
  readonly to: { readonly label: string; readonly ns: number };
  readonly terms: readonly WaterfallTerm[];
}

export interface WaterfallTerm {
  readonly label: string;
  readonly color: string;
  readonly fromNs: number;
  readonly toNs: number;
  readonly changeNs: number;
  /** Kernels per step on both sides; null where there is nothing to count. */
  readonly fromCount: number | null;
  readonly toCount: number | null;
}

/** A matrix as shades: rows by columns, each number against 1. */
export interface HeatBlock {
  readonly kind: 'heat';
  readonly id: string;
  readonly title: string;
  /** What a shade is, for example "tokens by the mean of the layer". */
  readonly caption: string;
  readonly rows: readonly string[];
  readonly columns: number;
  /** What the first and the last column are. */
  readonly from: string;
  readonly to: string;
  /** Row after row; NaN: nothing there. */
  readonly values: ArrayLike<number>;
}

/** Two figures of a few named things, one across and one up. Where it cannot be drawn it is a table. */
export interface ScatterBlock {
  readonly kind: 'scatter';
  readonly id: string;
  readonly title: string;
  readonly x: ScatterAxis;
  readonly y: ScatterAxis;
  readonly points: readonly { readonly label: string; readonly x: number; readonly y: number }[];
  readonly remark?: string;
}

export interface ScatterAxis {
  readonly label: string;
  readonly kind: ColumnKind;
}

export type Block =
  | TableBlock
  | NotRecordedBlock
  | FactsBlock
  | StatementBlock
  | BarsBlock
  | FindingsBlock
  | WaterfallBlock
  | HeatBlock
  | ScatterBlock;
