/**
 * A finding: what is wrong, what it costs, what mending it would bring, how sure that is, and what to do next. Without
 * evidence there is no finding.
 */
import type { Phase } from '../../catalog/phases.js';

export type Severity = 'high' | 'medium' | 'low' | 'note';
type Confidence = 'certain' | 'likely' | 'possible';

/** What the claim rests on: a figure with what it is a part of, and where to look. */
export interface Evidence {
  /** For example "cudaLaunchKernel takes 6.5 µs, kernels run 2.4 µs". */
  readonly text: string;
  /** The part and the whole it was taken from, in the unit named. */
  readonly numerator?: number;
  readonly denominator?: number;
  readonly unit?: 'ns' | 'bytes' | 'kernels' | 'calls' | 'steps' | '%';
  /** Rows of an analysis by key. */
  readonly analysis?: string;
  readonly rows?: readonly string[];
  /** A stretch of the timeline, nanoseconds on the profile's clock. */
  readonly window?: { readonly startNs: number; readonly endNs: number };
}

export interface Gain {
  /** Nanoseconds a step would lose. */
  readonly nsPerStep: number;
  /** Steps (and so tokens) per second would grow by this part: 0.25 is a quarter more. */
  readonly throughput: number;
  /** How it was estimated. */
  readonly how: string;
}

interface Advice {
  /** `any`, or the engine the setting belongs to. */
  readonly engine: string;
  readonly text: string;
}

export interface Finding {
  /** The rule that found it. */
  readonly id: string;
  /** One sentence. */
  readonly claim: string;
  /** null: the whole capture. */
  readonly phase: Phase | null;
  readonly severity: Severity;
  /** Per step; null where it costs no time of its own (a capture problem). */
  readonly costNs: number | null;
  /** Of step time. */
  readonly costShare: number | null;
  readonly gain: Gain | null;
  readonly confidence: Confidence;
  readonly evidence: readonly Evidence[];
  readonly advice: readonly Advice[];
  /** A command that would confirm it. */
  readonly confirm: string;
}

/** A rule that could not look, and what would let it. */
export interface Unmeasured {
  readonly rule: string;
  readonly what: string;
  readonly hint: string;
}
