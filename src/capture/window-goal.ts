/**
 * Windows that open by what the engine reports instead of by number (--when, --phase, --steps), and the requests that
 * bring an engine to a window.
 */
import type { CaptureOptions, LoadShape, WindowGoal } from './capture-plan.js';
import { requestsNeeded } from './window-condition.js';

/** As many as the guides record, and enough for percentiles. */
export const DEFAULT_STEPS = 50;
const USERS = 16;
const TOKENS = 128;
/** Long enough that a step is prefill and little else. */
const PREFILL_TOKENS = 512;
/** Decoded while the window is being opened: asking the engine and starting the profiler take a moment. */
const DECODE_AHEAD = 512;

export interface WindowDemand {
  /** What must hold before the window opens. */
  readonly goal: WindowGoal;
  readonly steps: number;
  /** As the user wrote it. */
  readonly words: string;
}

export function demandOf({ when, phase, steps }: CaptureOptions): WindowDemand | undefined {
  if (when === undefined && phase === undefined && steps === undefined) return undefined;
  const words = [
    ...(when ? [`--when '${when.text}'`] : []),
    ...(phase ? [`--phase ${phase}`] : []),
    ...(!when && !phase ? ['--steps'] : []),
  ];
  return {
    goal: when ? { when: when.text } : phase ? { phase } : { full: true },
    steps: steps ?? DEFAULT_STEPS,
    words: words.join(' '),
  };
}

/** What to send; what the user said about it goes first. */
export function loadShape(options: CaptureOptions): LoadShape {
  const { when, phase, load } = options;
  const users = load?.users ?? Math.max(USERS, when ? requestsNeeded(when) : 0);
  const inputTokens = load?.inputTokens ?? (phase === 'prefill' ? PREFILL_TOKENS : TOKENS);
  const steps = demandOf(options)?.steps ?? 0;
  const outputTokens =
    phase === 'prefill'
      ? 1
      : (load?.outputTokens ?? (phase === 'decode' ? 2 * steps + DECODE_AHEAD : TOKENS));
  // A prompt that comes in later would be prefill among the steps of decode.
  return { users, inputTokens, outputTokens, ...(phase === 'decode' ? { once: true as const } : {}) };
}

export const goalWords = ({ when, full, phase }: WindowGoal): string =>
  when !== undefined
    ? `until ${when}`
    : phase === 'decode'
      ? 'until all of them are in decode, and no more then'
      : phase === 'prefill'
        ? 'of one output token, so that every step is prefill'
        : full
          ? 'until the batch is full, and keep sending them'
          : '';
