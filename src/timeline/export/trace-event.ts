/** One event of a trace for other tools: where it happened, when, and what is known about it. Writers give it its form. */

export type TraceArgument = number | string | readonly TraceArgument[];
export type TraceArguments = Readonly<Record<string, TraceArgument>>;

/** `own`: a track of ours, of one GPU or of the whole profile (NONE). */
export type TracePlace =
  | { readonly kind: 'thread'; readonly thread: number }
  | { readonly kind: 'stream'; readonly stream: number }
  | { readonly kind: 'own'; readonly gpu: number; readonly track: string };

interface Placed {
  readonly place: TracePlace;
  readonly category: string;
  readonly name: string;
  readonly startNs: number;
  readonly args?: TraceArguments;
}

/** `endNs` is Infinity where the end was not recorded. */
export interface TraceSlice extends Placed {
  readonly kind: 'slice';
  readonly endNs: number;
  /** The arrow that begins here or ends here: the launch, and the first work it caused. */
  readonly arrow?: { readonly id: number; readonly begins: boolean };
}

interface TraceInstant extends Placed {
  readonly kind: 'instant';
}

interface TraceCounter {
  readonly kind: 'counter';
  readonly gpu: number;
  readonly name: string;
  readonly unit: string;
  readonly startNs: number;
  readonly value: number;
}

export type TraceEvent = TraceSlice | TraceInstant | TraceCounter;

/** Categories of what we derived: readers of recorded events pass over them. */
export const OWN_CATEGORY = 'stepscope_';
