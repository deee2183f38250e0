/**
 * How many tokens a router gave to each expert, read one iteration at a time: 58 layers of 256 experts over 10,000
 * iterations are 150 million numbers, so nobody holds them all. Counts are of token-expert pairs: a token that goes to
 * eight experts counts eight times.
 */
import type { NoteCounter } from '../base/notes.js';

export type LoadPhase = 'prefill' | 'decode' | 'mixed';

export interface LoadSource {
  readonly file: string;
  /** Id of the format, as in the registry. */
  readonly format: string;
}

export interface LoadShape {
  /** Layers with experts, by the numbers the engine gives them. */
  readonly layers: readonly number[];
  readonly experts: number;
  /** Absent: not known before everything was read. */
  readonly iterations?: number;
  /** Experts each token goes to. Absent: not recorded. */
  readonly topK?: number;
  /** Ranks whose counts were added up. */
  readonly ranks?: number;
}

export interface LoadStep {
  readonly iteration: number;
  readonly phase?: LoadPhase;
  /** Layer after layer, `experts` numbers each. Good until the next step is asked for. */
  readonly counts: Float64Array;
}

/** Counts, from any format. */
export interface ExpertLoads {
  readonly kind: 'counts';
  readonly source: LoadSource;
  readonly shape: LoadShape;
  /** The rank these counts were taken on, where a file holds those of one rank alone. */
  readonly rank?: number;
  readonly notes: NoteCounter;
  steps(): AsyncIterable<LoadStep> | Iterable<LoadStep>;
  close(): void;
}

/** What engines print when they only log how even their GPUs were: no experts, no layers. */
export interface BalanceLog {
  readonly kind: 'balance-log';
  readonly source: LoadSource;
  readonly engine: string;
  readonly points: readonly BalancePoint[];
  readonly notes: NoteCounter;
  close(): void;
}

export interface BalancePoint {
  readonly iteration: number;
  /** Busiest GPU by the mean of all, summed over layers: 1 is perfect. */
  readonly maxOverMean: number;
  /** Tokens on the mean GPU, all layers together. Absent: not printed. */
  readonly meanTokens?: number;
}

export type LoadFile = ExpertLoads | BalanceLog;

/** Larger than any model; a header that asks for more is damaged or hostile. */
export const MOST_LAYERS = 4096;
export const MOST_EXPERTS = 65_536;
export const MOST_CELLS = 4_194_304;
